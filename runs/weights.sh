#!/usr/bin/env bash
# The weights that come with the package: training, shipping, cards. One problem after the other, each in stages; stopped at
# any point and started again, it goes on where it was. Runs are kept in run-weights/.
# WEIGHTS='vrptw pctsp' does only these. On one core: OMP_NUM_THREADS=1. A look at all steps:
# WEIGHTS_STEPS=2 WEIGHTS_LESSONS=8 WEIGHTS_SHIP=no
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
at="${WEIGHTS_OUT:-run-weights}"
only="${WEIGHTS:-tsp tsp-small atsp cvrp pctsp tsptw tspdl vrptw}" # atsp goes on from tsp-small's run
small=(--set width=64 --set hidden=256) # half the paper's width: better for the same minutes, see docs/log.md

lessons() { # PROBLEM SIZES COUNT SOLVER SECONDS: solved instances to imitate; what is there already stays
    "$python" -m egam lessons "$1" --size "$2" --count "${WEIGHTS_LESSONS:-$3}" --solver "$4" --seconds "$5" \
        --processes "${WEIGHTS_PROCESSES:-2}" --out "$at/lessons-$1" >/dev/null
}

stage() { # NAME STEPS PROBLEM --size ..: a new run, or the rest of one
    "$python" -m egam train "${@:3}" --steps "${WEIGHTS_STEPS:-$2}" --out "$at/$1" --or-resume
}

ship() { # PROBLEM RUN [--mask ..]
    [ "${WEIGHTS_SHIP:-yes}" = yes ] || return 0
    local sha
    sha=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["sha256"])' "$at/$2/config.json")
    [ "$(cat "$at/$1.shipped" 2>/dev/null)" = "$sha" ] && return 0
    "$python" scripts/ship.py "$at/$2" "$1" "${@:3}"
    "$python" -m egam.bench.temperature "$1"
    "$python" -m egam.bench.card "$1" --all
    echo "$sha" >"$at/$1.shipped"
}

taught() { # PROBLEM STEPS --set ..: imitation of the lessons of N = 10 to 60
    stage "$1-taught" "$2" "$1" --size 10-60 "${small[@]}" --set lr=7e-4 --set lessons="$at/lessons-$1" "${@:3}"
}

further() { # PROBLEM STEPS LR --set ..: REINFORCE from there; without entropy, samples soon are all the same
    stage "$1-further" "$2" "$1" --size 15-50 "${small[@]}" --set n=20 --set lr="$3" --set standardize=true \
        --set entropy=0.1 --init "$at/$1-taught" "${@:4}"
}

muon() { # RUN STEPS PROBLEM LR ENTROPY FROM --set ..: REINFORCE by Muon, which needs about half of Adam's instances
    stage "$1" "$2" "$3" --size 15-50 --config small --set lr="$4" --set entropy="$5" --init "$at/$6" "${@:7}"
}

blend() { # RUN FROM TO SHARE: weights between two runs; half-way between the ends of two short ones is better than both (docs/log.md)
    [ -e "$at/$1" ] || "$python" scripts/blend.py "$at/$2" "$at/$3" "$4" "$at/$1"
}

for problem in $only; do
    case $problem in
    tsp)
        stage tsp20 9000 tsp --size 20
        ship tsp tsp20
        ;;
    tsp-small)
        lessons tsp 10-15 500 fast-tsp 0.02
        lessons tsp 21-60 500 fast-tsp 0.02 # 16 to 20: its dynamic programming takes ten times as long
        taught tsp 2400 --set n=8
        stage tsp-plain 600 tsp --size 15-50 "${small[@]}" --set lr=2e-4 --init "$at/tsp-taught"
        stage tsp-further 350 tsp --size 15-50 "${small[@]}" --set lr=1.5e-4 --set standardize=true --set entropy=0.1 \
            --init "$at/tsp-plain"
        muon tsp-muon 2772 tsp 5e-4 0.1 tsp-further
        muon tsp-muon2 1693 tsp 3e-4 0.05 tsp-muon
        muon tsp-muon3 2316 tsp 3e-4 0.05 tsp-muon2
        muon tsp-muon4 597 tsp 2e-4 0.02 tsp-muon3
        blend tsp-muon5 tsp-muon3 tsp-muon4 0.5
        muon tsp-muon6 2572 tsp 3e-4 0.03 tsp-muon5 --set even=time --set ema=0.998 --set seed=5
        blend tsp-muon7 tsp-muon5 tsp-muon6 0.5
        muon tsp-muon8 1094 tsp 3e-4 0.05 tsp-muon7 --set ema=0.998 --set seed=8
        blend tsp-muon9 tsp-muon7 tsp-muon8 0.5
        ship tsp-small tsp-muon9
        ;;
    atsp)
        # a directed network that begins as tsp-small's
        muon atsp-muon 1550 atsp 5e-4 0.05 tsp-muon5
        ship atsp atsp-muon
        ;;
    cvrp)
        lessons cvrp 10-30 150 pyvrp 0.05
        lessons cvrp 31-60 120 pyvrp 0.12
        taught cvrp 1500 --set n=8
        further cvrp 300 1.5e-4
        stage cvrp-more 600 cvrp --size 15-50 "${small[@]}" --set lr=3e-4 --set standardize=true --set entropy=0.1 \
            --init "$at/cvrp-further"
        stage cvrp-again 1200 cvrp --size 15-50 "${small[@]}" --set lr=4e-4 --set standardize=true --set entropy=0.1 \
            --init "$at/cvrp-more"
        muon cvrp-muon 2099 cvrp 5e-4 0.1 cvrp-again
        muon cvrp-muon2 2210 cvrp 4e-4 0.05 cvrp-muon
        muon cvrp-muon3 12844 cvrp 4e-4 0.05 cvrp-muon2 --set even=time --set ema=0.998 --set seed=42
        ship cvrp cvrp-muon3
        ;;
    pctsp)
        lessons pctsp 10-30 150 pyvrp 0.05
        lessons pctsp 31-60 120 pyvrp 0.12
        taught pctsp 2000 --set n=2
        further pctsp 2900 4e-4 # better greedily, worse with samples: a quarter of the way is a fair bargain (docs/log.md)
        blend pctsp-blend pctsp-taught pctsp-further 0.25
        muon pctsp-muon 2797 pctsp 5e-4 0.1 pctsp-blend
        muon pctsp-muon2 2714 pctsp 3e-4 0.1 pctsp-muon
        muon pctsp-muon3 782 pctsp 2e-4 0.05 pctsp-muon2
        blend pctsp-muon4 pctsp-muon2 pctsp-muon3 0.5
        muon pctsp-muon5 11633 pctsp 5e-4 0.1 pctsp-muon4 --set even=time --set ema=0.998 --set seed=11 --set hint=levels
        muon pctsp-muon6 6001 pctsp 3e-4 0.05 pctsp-muon5 --set even=time --set ema=0.998 --set seed=22 --set hint=levels
        blend pctsp-muon7 pctsp-muon5 pctsp-muon6 0.5
        stage pctsp-muon8 18750 pctsp --size 15-36 --config small --set lr=4e-4 --set entropy=0.1 --init "$at/pctsp-muon7" \
            --set even=time --set ema=0.998 --set seed=41 --set hint=levels
        blend pctsp-muon9 pctsp-muon7 pctsp-muon8 0.8
        ship pctsp pctsp-muon9
        ;;
    tsptw)
        lessons tsptw 10-30 150 pyvrp 0.05
        lessons tsptw 31-60 120 pyvrp 0.12
        taught tsptw 2000 --set mask=lookahead --set hint=stop
        further tsptw 500 1e-4 --set mask=lookahead --set hint=stop --set beta=2
        muon tsptw-muon 1414 tsptw 5e-4 0.1 tsptw-further --set mask=lookahead --set hint=stop --set beta=2
        muon tsptw-muon2 1613 tsptw 3e-4 0.1 tsptw-muon --set mask=lookahead --set hint=stop --set beta=2
        muon tsptw-muon3 4551 tsptw 4e-4 0.1 tsptw-muon2 --set even=time --set mask=lookahead --set hint=stop --set beta=2
        blend tsptw-muon4 tsptw-muon2 tsptw-muon3 0.75
        muon tsptw-muon5 4491 tsptw 3e-4 0.1 tsptw-muon4 --set even=time --set ema=0.998 --set seed=5 --set mask=lookahead \
            --set hint=stop --set beta=2
        ship tsptw tsptw-muon5
        ;;
    tspdl)
        stage tspdl20 2500 tspdl --size 20 "${small[@]}" --set lr=5e-4 --set mask=lookahead
        stage tspdl50 2000 tspdl --size 15-50 "${small[@]}" --set lr=5e-4 --set mask=lookahead --set standardize=true \
            --set entropy=0.1 --init "$at/tspdl20"
        stage tspdl-again 3200 tspdl --size 15-50 "${small[@]}" --set lr=5e-4 --set mask=lookahead --set standardize=true \
            --set entropy=0.1 --init "$at/tspdl50"
        muon tspdl-muon 2366 tspdl 5e-4 0.1 tspdl-again --set mask=lookahead
        muon tspdl-muon2 1509 tspdl 3e-4 0.1 tspdl-muon --set mask=lookahead
        muon tspdl-muon3 2446 tspdl 4e-4 0.1 tspdl-muon2 --set mask=lookahead
        muon tspdl-muon4 8357 tspdl 4e-4 0.1 tspdl-muon3 --set even=time --set mask=lookahead
        muon tspdl-muon5 12500 tspdl 4e-4 0.1 tspdl-muon4 --set even=time --set ema=0.998 --set mask=lookahead
        muon tspdl-muon6 9265 tspdl 4e-4 0.1 tspdl-muon5 --set even=time --set ema=0.998 --set seed=11 --set mask=lookahead \
            --set hint=levels
        blend tspdl-muon7 tspdl-muon5 tspdl-muon6 0.75
        muon tspdl-muon8 4329 tspdl 3e-4 0.05 tspdl-muon7 --set even=time --set ema=0.998 --set seed=21 --set mask=lookahead \
            --set hint=levels
        blend tspdl-muon9 tspdl-muon7 tspdl-muon8 0.5
        ship tspdl tspdl-muon9
        ;;
    vrptw)
        stage vrptw20 3600 vrptw --size 20 "${small[@]}" --set lr=5e-4
        stage vrptw50 1300 vrptw --size 15-50 "${small[@]}" --set lr=3e-4 --set mask=lookahead --init "$at/vrptw20"
        muon vrptw-muon 2050 vrptw 5e-4 0.1 vrptw50 --set mask=lookahead
        ship vrptw vrptw-muon
        ;;
    *)
        echo "WEIGHTS: '$problem' is none of tsp tsp-small atsp cvrp pctsp tsptw tspdl vrptw" >&2
        exit 2
        ;;
    esac
done
