#!/usr/bin/env bash
# The weights that come with the package: training, shipping, cards. One problem after the other, each in stages; stopped at
# any point and started again, it goes on where it was. Runs are kept in run-weights/.
# WEIGHTS='vrptw pctsp' does only these. On one core: OMP_NUM_THREADS=1. A look at all steps: WEIGHTS_STEPS=2 WEIGHTS_SHIP=no
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
at="${WEIGHTS_OUT:-run-weights}"
only="${WEIGHTS:-tsp atsp cvrp pctsp tsptw tspdl vrptw}"
small=(--set width=64 --set hidden=256) # half the paper's width: better for the same minutes, see docs/log.md

stage() { # NAME STEPS PROBLEM --size ..: a new run, or the rest of one
    local run="$at/$1" steps="${WEIGHTS_STEPS:-$2}"
    if grep -qs "\"steps\": $steps," "$run/config.json"; then
        echo "$run: finished"
    elif [ -e "$run/config.toml" ]; then
        "$python" -m egam train --resume "$run"
    else
        "$python" -m egam train "${@:3}" --steps "$steps" --out "$run"
    fi
}

ship() { # PROBLEM RUN [--mask ..]
    [ "${WEIGHTS_SHIP:-yes}" = yes ] || return 0
    local sha
    sha=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["sha256"])' "$at/$2/config.json")
    [ "$(cat "$at/$1.shipped" 2>/dev/null)" = "$sha" ] && return 0
    "$python" scripts/ship.py "$at/$2" "$1" "${@:3}"
    "$python" -m egam.bench.card "$1"
    echo "$sha" >"$at/$1.shipped"
}

for problem in $only; do
    case $problem in
    tsp)
        stage tsp20 9000 tsp --size 20
        ship tsp tsp20
        ;;
    atsp)
        stage atsp20 709 atsp --size 20
        ship atsp atsp20
        ;;
    cvrp)
        stage cvrp20 4000 cvrp --size 20 "${small[@]}" --set lr=5e-4
        ship cvrp cvrp20
        ;;
    pctsp)
        stage pctsp20 4000 pctsp --size 20 "${small[@]}" --set lr=5e-4 --set standardize=true --set entropy=0.05
        ship pctsp pctsp20
        ;;
    tsptw)
        stage tsptw20 1237 tsptw --size 20
        ship tsptw tsptw20 --mask lookahead
        ;;
    tspdl)
        stage tspdl20 2500 tspdl --size 20 "${small[@]}" --set lr=5e-4 --set mask=lookahead
        ship tspdl tspdl20
        ;;
    vrptw)
        stage vrptw20 3600 vrptw --size 20 "${small[@]}" --set lr=5e-4
        stage vrptw50 1300 vrptw --size 15-50 "${small[@]}" --set lr=3e-4 --set mask=lookahead --init "$at/vrptw20"
        ship vrptw vrptw50
        ;;
    *)
        echo "WEIGHTS: '$problem' is none of tsp atsp cvrp pctsp tsptw tspdl vrptw" >&2
        exit 2
        ;;
    esac
done
