#!/usr/bin/env bash
# The paper's appendix with a tiny budget, EGAM and Sym-NCO on VRPTW: networks of several depths on the same 9,600 instances of
# N=20, and weights of N = 20, 50 and 100 tested on all three. Those of N=50 go on from N=20's with 3,200 instances, those of
# N=100 from N=50's with 800: for a figure of what the harness does, not for weights to use. About an hour and a half of one core.
# Runs are kept in run-appendix/, what was measured in benchmarks/appendix/. Started again, it goes on where it was.
# A quick look: APPENDIX_STEPS=2 APPENDIX_COUNT=4 APPENDIX_VALIDATION=4 \
# APPENDIX_OUT=run-tiny APPENDIX_RESULTS=run-tiny/results APPENDIX_PICTURES=run-tiny runs/appendix.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
out="${APPENDIX_OUT:-run-appendix}"
results="${APPENDIX_RESULTS:-benchmarks/appendix}"
pictures="${APPENDIX_PICTURES:-docs/benchmarks}"
count="${APPENDIX_COUNT:-1000}"
validation="${APPENDIX_VALIDATION:-200}" # instances

train() { # NAME STEPS METHOD --size ..: a new run, or the rest of one; 20 samples of each instance
    local folder="$out/$1" steps="${APPENDIX_STEPS:-$2}" samples=(--set n=20)
    [ "$3" = symnco ] && samples=(--set m=2 --set n=10)
    "$python" -m egam train vrptw --method "$3" --steps "$steps" --config cpu "${samples[@]}" --set batch=16 \
        --set validate_every=20 --set validation_count="$validation" "${@:4}" --out "$folder" --or-resume
    mkdir -p "$results/training/$1"
    cp "$folder/metrics.csv" "$folder/config.toml" "$results/training/$1/"
}

measure() { # NAME SIZE..: greedily, under the run's name
    for size in "${@:2}"; do # of N=100 a tenth: it takes twenty times as long as N=20
        "$python" -m egam bench run --set "vrptw$size" --weights "$1=$out/$1" --count "$((size == 100 ? (count + 9) / 10 : count))" --out "$results" >/dev/null
    done
}

depths=(egam-3 egam-4 symnco-3 symnco-6 symnco-9 symnco-12)
for each in "${depths[@]}"; do
    train "$each" 600 "${each%-*}" --size 20 --set "encoder_layers=${each#*-}"
    measure "$each" 20
done
for each in egam-4 symnco-6; do # the methods' own depths
    train "$each-n50" 200 "${each%-*}" --size 50 --set "encoder_layers=${each#*-}" --init "$out/$each"
    train "$each-n100" 50 "${each%-*}" --size 100 --set "encoder_layers=${each#*-}" --init "$out/$each-n50"
    for run in "$each" "$each-n50" "$each-n100"; do measure "$run" 20 50 100; done
done

curves=()
for each in "${depths[@]}"; do
    title=EGAM
    [ "${each%-*}" = symnco ] && title=Sym-NCO
    curves+=("$title, ${each#*-} layers=$results/training/$each")
done
"$python" -m egam bench table parameters --size 20 --results "$results"
"$python" -m egam bench table generalisation --problem vrptw --results "$results"
# 30 validations a run: the 0.9 of the paper, with many more, would lag behind them
"$python" -m egam bench figure layers "${curves[@]}" --smooth 0.5 --out "$pictures/layers-vrptw20.png"
"$python" -m egam bench figure heatmap --results "$results" --problem vrptw --out "$pictures/generalisation-vrptw.png"
