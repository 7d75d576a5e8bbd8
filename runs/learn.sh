#!/usr/bin/env bash
# Seven short trainings at N=20 and what they learned: docs/learning/ (about 80 minutes on two cores).
set -euo pipefail
cd "$(dirname "$0")/.."
egam=".venv/bin/python -m egam"
for problem in cvrp pctsp tsptw tspdl vrptw atsp; do
    [ -e "run-${problem}20/model.safetensors" ] || $egam train "$problem" --size 20 --minutes 10 --out "run-${problem}20"
done
[ -e run-tsp20/model.safetensors ] || $egam train tsp --size 20 --minutes 20 --out run-tsp20
.venv/bin/python -m egam.bench.learning run-{tsp,atsp,cvrp,pctsp,tsptw,tspdl,vrptw}20 \
    --references benchmarks/references --count 300 --out docs/learning
$egam eval run-tsp20 --public --size 20 --count 1000 --decode greedy --decode starts --decode 8x20 \
    --references benchmarks/references/tsp20.npz
