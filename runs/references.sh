#!/usr/bin/env bash
# Reference costs of the test sets: benchmarks/references/. Started again after a kill, each goes on where it was.
# N=20 took about half an hour on two cores; N=50 some hours on a shared one. LKH is the user's own program, else LKHpy.
# A quick look: REFERENCES_COUNT=3 REFERENCES_OUT=run-tiny-references runs/references.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
at="${REFERENCES_OUT:-benchmarks/references}"
count="${REFERENCES_COUNT:-1000}"
workers="${REFERENCES_WORKERS:-2}"

reference() { # NAME --problem .. : unless it is there
    [ -e "$at/$1.npz" ] || "$python" -m egam.bench.references --count "$count" --workers "$workers" "${@:2}" --out "$at/$1.npz"
}

hundred() { # the same for the first 100 instances, as many as a card has of N = 100
    local count=$((count < 100 ? count : 100))
    reference "$@"
}

reference tsp20 --size 20 --problem tsp --solver highs --seconds 60
reference atsp20-road --size 20 --problem atsp --variant road --solver cp-sat --seconds 60
reference cvrp20 --size 20 --problem cvrp --solver hygese --seconds 0.5
reference pctsp20 --size 20 --problem pctsp --solver highs --seconds 60
reference tsptw20-medium --size 20 --problem tsptw --variant medium --solver cp-sat --seconds 60
reference tspdl20-medium --size 20 --problem tspdl --variant medium --solver held-karp --seconds 60
reference vrptw20 --size 20 --problem vrptw --solver cp-sat --seconds 60

reference tsp50 --size 50 --problem tsp --solver highs --seconds 60
reference atsp50-road --size 50 --problem atsp --variant road --solver lkh --seconds 0.3
reference cvrp50 --size 50 --problem cvrp --solver hygese --seconds 1
reference pctsp50 --size 50 --problem pctsp --solver highs --seconds 60 # about 4 s each, 999 of 1,000 proven
reference tsptw50-medium --size 50 --problem tsptw --variant medium --solver lkh --seconds 1
reference tspdl50-medium --size 50 --problem tspdl --variant medium --solver lkh --seconds 4
reference vrptw50 --size 50 --problem vrptw --solver cp-sat --seconds 60

hundred tsp100 --size 100 --problem tsp --solver fast-tsp --seconds 1
hundred atsp100-road --size 100 --problem atsp --variant road --solver lkh --seconds 2
hundred cvrp100 --size 100 --problem cvrp --solver hygese --seconds 3
hundred pctsp100 --size 100 --problem pctsp --solver pyvrp --seconds 4
hundred tsptw100-medium --size 100 --problem tsptw --variant medium --solver lkh --seconds 3
hundred tspdl100-medium --size 100 --problem tspdl --variant medium --solver lkh --seconds 6
hundred vrptw100 --size 100 --problem vrptw --solver cp-sat --seconds 30
