#!/usr/bin/env bash
# Tables (on stdout) and figures (in docs/benchmarks/) of docs/benchmarks.md from what rivals.sh and classical.sh measured.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
results="${TABLES_RESULTS:-benchmarks/n20}"
pictures="${TABLES_OUT:-docs/benchmarks}"
mkdir -p "$pictures"
for problem in tsp atsp cvrp pctsp tsptw tspdl vrptw; do
    grep -q ",$problem," "$results/results.csv" || continue
    "$python" -m egam bench table "$problem" --size 20 --results "$results"
    runs=()
    for run in "$results/training/${problem}20-"*; do [ -e "$run" ] && runs+=("${run##*-}=$run"); done
    [ ${#runs[@]} = 0 ] || "$python" -m egam bench figure dynamics "${runs[@]}" --out "$pictures/dynamics-$problem.png"
done
"$python" -m egam bench table training --results "$results"
for folder in "$results"/*/; do
    name=$(basename "$folder")
    [ "$name" = training ] || "$python" -m egam bench figure tradeoff --results "$results" --set "$name" --out "$pictures/gap-$name.png" || [ "$?" = 2 ]
done
four=(--method EGAM_greedy --method Sym-NCO_greedy --method POMO_greedy --method lkh_0.1s)
if [ -e "$results/tsptw20-medium/lkh_0.1s.npz" ]; then # the first instance that has a feasible tour
    "$python" -m egam bench figure solutions --results "$results" --set tsptw20-medium --instance 1 "${four[@]}" --out "$pictures/solutions-tsptw20.png"
fi
