#!/usr/bin/env bash
# EGAM, GAM, GATv2, POMO and Sym-NCO at N=20 on TSP, TSPTW (medium) and VRPTW with an equal budget per problem: the same 144,000
# instances (TSPTW 120,000; one seed, steps of 16) and 20 sampled solutions of each, the same learning-rate schedule. On one core
# each run of the other rows takes 20 to 40 minutes and EGAM nearly two hours: about ten hours of one core in all, half on two.
# Runs are kept in run-rivals/, what was measured in benchmarks/n20/. Started again, it skips what is finished and resumes
# what is not. RIVALS='tsp-gam vrptw-egam' does only these (two scripts side by side: one core each, OMP_NUM_THREADS=1).
# RIVALS_MEASURE=no only trains. Times are part of the result: measure on a quiet machine.
# A quick look with a tiny budget: RIVALS_STEPS=4 RIVALS_COUNT=8 RIVALS_OUT=run-tiny RIVALS_RESULTS=run-tiny/results runs/rivals.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
out="${RIVALS_OUT:-run-rivals}"
results="${RIVALS_RESULTS:-benchmarks/n20}"
count="${RIVALS_COUNT:-1000}" # instances of the test sets; reference costs exist for all 1000
only="${RIVALS:-$(echo {tsp,vrptw,tsptw}-{gam,pomo,gatv2,symnco,egam})}"
shared=(--config cpu --size 20 --set batch=16 --set validation_count=1000)
kool=(--set n=20 --set epoch=450 --set held_out=2000) # 20 challenges of the rollout baseline

train() { # PROBLEM METHOD [--set ..]: the rest of a run, or all of it
    local folder="$out/${1}20-$2" steps="${RIVALS_STEPS:-9000}"
    [ "$1" = tsptw ] && steps="${RIVALS_STEPS:-7500}"
    "$python" -m egam train "$1" --method "$2" --steps "$steps" "${shared[@]}" "${@:3}" --out "$folder" --or-resume
}

measure() { # PROBLEM METHOD DECODING..
    local folder="$out/${1}20-$2" forms=() name=${1}20
    [ "$1" = tsptw ] && name=tsptw20-medium
    for form in "${@:3}"; do forms+=(--decode "$form"); done
    OMP_NUM_THREADS=1 "$python" -m egam bench run --set "$name" --weights "$folder" "${forms[@]}" --count "$count" --out "$results" >/dev/null
    mkdir -p "$results/training/${1}20-$2"
    cp "$folder/metrics.csv" "$folder/config.toml" "$results/training/${1}20-$2/"
}

for each in $only; do
    problem=${each%-*} method=${each#*-} more=(greedy 8x20)
    case $method in
    egam) train "$problem" egam --set m=1 --set n=20 ;;
    gam | gatv2)
        train "$problem" "$method" "${kool[@]}"
        more+=(sample:1280)
        ;;
    pomo)
        train "$problem" pomo --set n=20
        if [ "$problem" = tsp ]; then more+=(8xstarts); else more+=(8xgreedy); fi
        ;;
    symnco) train "$problem" symnco --set m=2 --set n=10 ;;
    *)
        echo "RIVALS: '$each' is no problem-method such as tsp-gam" >&2
        exit 2
        ;;
    esac
    [ "${RIVALS_MEASURE:-yes}" = no ] || measure "$problem" "$method" "${more[@]}"
done
