#!/usr/bin/env bash
# EGAM, GAM, GATv2, POMO and Sym-NCO at N=20 on TSP, TSPTW (medium) and VRPTW with an equal budget: the same instances
# (one seed, one batch size) and 20 sampled solutions of each, the same learning-rate schedule. 4000 steps of 64 instances are
# meant to be 10 minutes or more of two cores for the fastest row and more than an hour for EGAM: seven hours in all.
# Runs are kept in run-rivals/. Started again, it skips what is finished and resumes what is not.
# A quick look with a tiny budget: RIVALS_STEPS=4 RIVALS_COUNT=8 RIVALS_OUT=run-tiny runs/rivals.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
steps="${RIVALS_STEPS:-4000}"
out="${RIVALS_OUT:-run-rivals}"
count="${RIVALS_COUNT:-1000}" # instances of the test sets; reference costs exist for all 1000
shared=(--config cpu --size 20 --steps "$steps" --set batch=64 --set validation_count=1000)

train() { # PROBLEM METHOD [--set ..]: the rest of a run, or all of it
    local folder="$out/${1}20-$2"
    if grep -qs "\"steps\": $steps," "$folder/config.json"; then
        echo "$folder: finished"
    elif [ -e "$folder/config.toml" ]; then
        "$python" -m egam train --resume "$folder" --steps "$steps"
    else
        "$python" -m egam train "$1" --method "$2" "${shared[@]}" "${@:3}" --out "$folder"
    fi
}

measure() { # PROBLEM METHOD DECODING..
    local folder="$out/${1}20-$2" set=() forms=()
    [ -e "$folder/eval.json" ] && return
    [ "$1" = vrptw ] || set=(--public)
    case $1 in tsptw) references=tsptw20-medium ;; *) references=${1}20 ;; esac
    [ "$count" = 1000 ] && set+=(--references "benchmarks/references/$references.npz")
    for form in "${@:3}"; do forms+=(--decode "$form"); done
    "$python" -m egam eval "$folder" --size 20 --count "$count" "${set[@]}" "${forms[@]}" --json >"$folder/eval.tmp"
    mv "$folder/eval.tmp" "$folder/eval.json"
}

kool=(--set n=20 --set epoch=100 --set held_out=2000) # 40 challenges of the rollout baseline
for problem in tsp tsptw vrptw; do
    train "$problem" egam --set m=1 --set n=20
    train "$problem" gam "${kool[@]}"
    train "$problem" gatv2 "${kool[@]}"
    train "$problem" pomo --set n=20
    train "$problem" symnco --set m=2 --set n=10
    best=8xgreedy
    [ "$problem" = tsp ] && best=8xstarts
    measure "$problem" egam greedy 8x20
    measure "$problem" gam greedy 8x20 sample:1280
    measure "$problem" gatv2 greedy 8x20 sample:1280
    measure "$problem" pomo greedy 8x20 "$best"
    measure "$problem" symnco greedy 8x20
done
