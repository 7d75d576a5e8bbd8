#!/usr/bin/env bash
# Short trainings at N=20 that look for a recipe; what they showed is in docs/log.md under "Recipe". Each needs 6 to 9
# minutes of one core. Started again, it skips what is finished.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
export OMP_NUM_THREADS=1
try() { # NAME PROBLEM STEPS key=value ..
    local folder="run-recipe/$1" settings=()
    [ -e "$folder/model.safetensors" ] && return
    for setting in "${@:4}"; do settings+=(--set "$setting"); done
    "$python" -m egam train "$2" --config cpu --size 20 --steps "$3" --set validate_every=100 \
        --set validation_count=512 "${settings[@]}" --out "$folder"
}
small=(width=64 hidden=256 lr=5e-4)
try cvrp-1e-4 cvrp 600 lr=1e-4
try cvrp-1e-4-standardized cvrp 600 lr=1e-4 standardize=true
try cvrp-standardized-entropy cvrp 600 standardize=true entropy=0.05
try cvrp-imitate cvrp 600 standardize=true imitate=1
try cvrp-small cvrp 1500 "${small[@]}"
try pctsp-standardized-entropy pctsp 600 standardize=true entropy=0.05
# longer, on one core: what ships for now
try cvrp-small-long cvrp 4000 "${small[@]}" warmup=0.03
try vrptw-small-long vrptw 3600 "${small[@]}" warmup=0.03
