#!/usr/bin/env bash
# The paper's main tables at N=50 with the weights that ship: greedily, 8x20, and OR-Tools for a second beside them. References are in
# benchmarks/references/. One core each: OMP_NUM_THREADS=1. About a quarter of an hour; started again, it goes on where it was.
# A quick look: N50_COUNT=4 N50_FEW=2 N50_RESULTS=run-tiny runs/n50.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
results="${N50_RESULTS:-benchmarks/n50}"
count="${N50_COUNT:-1000}"
few="${N50_FEW:-100}" # instances of what takes a second

run() { "$python" -m egam bench run --set "$1" "${@:2}" --out "$results" >/dev/null; }

for set in tsp50 cvrp50 pctsp50 tsptw50-medium tspdl50-medium vrptw50; do
    weights=${set%%50*}
    [ "$weights" = tsp ] && weights=tsp-small # `tsp` saw N=20 only
    run "$set" --weights "EGAM=$weights" --decode greedy --count "$count"
    run "$set" --weights "EGAM=$weights" --decode 8x20 --count "$few"
    run "$set" --method or-tools --seconds 1 --count "$few"
done
for table in 1 2 3; do "$python" -m egam bench table "$table" --size 50 --results "$results"; done
