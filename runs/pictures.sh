#!/usr/bin/env bash
# The pictures of docs/quickstart.md and docs/data/matrix.md, by the commands that stand there.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
"$python" -m egam solve examples/data/orders.csv --plot docs/pictures/orders.svg
"$python" -m egam solve examples/data/van.csv --problem tsptw --matrix examples/data/osrm_table.json --plot docs/pictures/van.svg
