#!/usr/bin/env bash
# The classical rows at N=20: every installed solver on every set at equal seconds per instance, one thread each, on as many
# instances at a time as there are cores to spare. Needs a quiet machine: times are part of the result. Results, tables
# and figures are in run-classical/; started again after a kill it does the rest. About three hours on two cores.
# A quick look: CLASSICAL_COUNT=2 CLASSICAL_SECONDS=0.1 CLASSICAL_OUT=run-tiny-classical runs/classical.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
out="${CLASSICAL_OUT:-run-classical}"
count="${CLASSICAL_COUNT:-1000}"
processes="${CLASSICAL_PROCESSES:-2}"
sets=(tsp20 atsp20-road cvrp20 pctsp20 tsptw20-medium tspdl20-medium vrptw20)
methods=(nearest-neighbour earliest-deadline cheapest-insertion farthest-insertion fast-tsp hygese highs gurobi pyvrp cp-sat or-tools lkh)
seconds=()
for value in ${CLASSICAL_SECONDS:-0.1 0.5}; do seconds+=(--seconds "$value"); done

export OMP_NUM_THREADS=1
for method in "${methods[@]}"; do
    status=0
    "$python" -m egam bench run "${sets[@]/#/--set=}" --method "$method" "${seconds[@]}" --count "$count" \
        --processes "$processes" --out "$out" >/dev/null || status=$?
    [ "$status" = 3 ] && continue # not installed: its line says how to
    [ "$status" = 0 ] || exit "$status"
done
for name in 1 2 3 atsp; do
    "$python" -m egam bench table "$name" --size 20 --results "$out" --out "$out/table-$name.md"
    "$python" -m egam bench table "$name" --size 20 --results "$out" --out "$out/table-$name.tex" --latex
done
for name in "${sets[@]}"; do
    "$python" -m egam bench figure tradeoff --results "$out" --set "$name" --out "$out/gap-$name.png" || [ "$?" = 2 ]
done
