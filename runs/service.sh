#!/usr/bin/env bash
# The bars of the service in docs/service.md (about 6 minutes on two quiet cores).
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python -m egam.bench.service
