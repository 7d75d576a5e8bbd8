#!/usr/bin/env bash
# A virtual environment in .venv with a CPU build of torch and this package in editable form.
# PYTHON=python3.12 chooses the interpreter, TORCH='torch==2.12.0' another torch, EXTRAS other extras.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
torch=${TORCH:-torch==2.13.0}
extras=${EXTRAS:-dev,solvers,serve}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "setup: $("$python" --version) is too old; Python 3.11 or newer is needed (PYTHON=... chooses one)" >&2
    exit 3
fi
[ -x .venv/bin/python ] || "$python" -m venv .venv
pip() { .venv/bin/python -m pip --disable-pip-version-check "$@"; }

if ! .venv/bin/python -c 'import torch' 2>/dev/null; then
    # Where pip is told of local wheels (find-links), one of those. Else PyTorch's own index of CPU builds, as the
    # build on PyPI for Linux brings gigabytes of CUDA along; if that cannot be reached, PyPI after all.
    if pip install --quiet --no-index --no-deps "$torch" 2>/dev/null; then
        echo "setup: torch from a local wheel"
    elif [ "$(uname -s)" = Linux ] && pip install --quiet --timeout 20 --retries 1 "$torch" \
        --index-url https://download.pytorch.org/whl/cpu; then
        echo "setup: torch from download.pytorch.org"
    else
        echo "setup: torch from PyPI"
        pip install "$torch"
    fi
fi
pip install --quiet --editable ".[$extras]"
.venv/bin/python -m egam --version
