#!/usr/bin/env bash
# Speed ratios of docs/log.md and the README (about 5 minutes on two quiet cores).
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python -m egam.bench.speed
