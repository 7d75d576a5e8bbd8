#!/usr/bin/env bash
# Reference costs of the N=20 test sets: benchmarks/references/ (about 15 minutes on two cores).
set -euo pipefail
cd "$(dirname "$0")/.."
make_reference() { .venv/bin/python -m egam.bench.references --size 20 "$@"; }
at=benchmarks/references
make_reference --count 1000 --problem tsp --solver highs --seconds 60 --out $at/tsp20.npz
make_reference --count 1000 --problem atsp --variant road --solver cp-sat --seconds 60 --out $at/atsp20-road.npz
make_reference --count 1000 --problem cvrp --solver hygese --seconds 0.5 --out $at/cvrp20.npz
make_reference --count 400 --problem pctsp --solver highs --seconds 60 --out $at/pctsp20.npz
make_reference --count 1000 --problem tsptw --variant medium --solver cp-sat --seconds 60 --out $at/tsptw20-medium.npz
make_reference --count 1000 --problem tspdl --variant medium --solver held-karp --seconds 60 --out $at/tspdl20-medium.npz
make_reference --count 1000 --problem vrptw --solver cp-sat --seconds 60 --out $at/vrptw20.npz
