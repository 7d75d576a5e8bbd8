#!/usr/bin/env bash
# The classical rows at N=20: every installed solver on every set at equal seconds per instance, one thread each, on as many
# instances at a time as there are cores to spare. Needs a quiet machine: times are part of the result. Results go to
# benchmarks/n20/, beside those of the networks (rivals.sh); started again after a kill it does the rest.
# CLASSICAL_SETS='tsp20 vrptw20' does only these. A quick look:
# CLASSICAL_COUNT=2 CLASSICAL_OUT=run-tiny-classical runs/classical.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
out="${CLASSICAL_OUT:-benchmarks/n20}"
count="${CLASSICAL_COUNT:-1000}"
processes="${CLASSICAL_PROCESSES:-2}"
read -ra sets <<<"${CLASSICAL_SETS:-tsp20 atsp20-road cvrp20 pctsp20 tsptw20-medium tspdl20-medium vrptw20}"
methods=$("$python" - "${sets[@]}" <<'PYTHON'
import re, sys
from egam.solvers import SOLVERS
problems = {re.match("[a-z]+", name).group() for name in sys.argv[1:]}
print(*(name for name, solver in SOLVERS.items() if problems & set(solver.problems) and name != "held-karp"))
PYTHON
)
seconds=()
for value in ${CLASSICAL_SECONDS:-0.1}; do seconds+=(--seconds "$value"); done

export OMP_NUM_THREADS=1
for method in $methods; do
    status=0
    "$python" -m egam bench run "${sets[@]/#/--set=}" --method "$method" "${seconds[@]}" --count "$count" \
        --processes "$processes" --out "$out" >/dev/null || status=$?
    [ "$status" = 3 ] && continue # not installed: its line says how to
    [ "$status" = 0 ] || exit "$status"
done
