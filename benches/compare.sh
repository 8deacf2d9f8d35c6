#!/usr/bin/env bash
# Times whole runs of `rankrls select` side by side: one strategy after the other
# on the same data with the same k and lambda, from start to exit. Prints a
# table in Markdown.
#
#   benches/compare.sh [-k K] [-l LAMBDA] [-r RUNS] [-t TEST] [-m SIZE] DATA [STRATEGY...]
#
#   -k K        features to select              (20)
#   -l LAMBDA   ridge parameter                 (16)
#   -r RUNS     timed runs of each strategy     (3)
#   -t TEST     data to measure the concordance index on, read in one run that is not timed
#   -m SIZE     --max-memory of every run, such as 16GiB
#   STRATEGY    of dense lowmem bounded sampled backfit, or a strategy with the
#               candidates it may draw: sampled:500, bounded:1000    (all five)
#
# It needs cargo to build the binary, and
#   GNU time    apt install time        peak memory; the binary's own figure without it
#   hyperfine   apt install hyperfine, or cargo install hyperfine;
#               a plain loop takes the times without it
#
# `selection` is what the program says its steps and finding the column classes
# took, `whole run` has the reading of the data in it and is what hyperfine (or
# the loop) saw. Both are medians. A strategy that does not fit into memory has
# what it says instead of figures.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
k=20 lambda=16 runs=3 test= limit=()
usage() { sed -n '6,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
while getopts 'k:l:r:t:m:h' option; do
    case $option in
        k) k=$OPTARG ;;
        l) lambda=$OPTARG ;;
        r) runs=$OPTARG ;;
        t) test=$OPTARG ;;
        m) limit=(--max-memory "$OPTARG") ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
data=$1
shift
strategies=("$@")
[ $# -ge 1 ] || strategies=(dense lowmem bounded sampled backfit)

cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" --bin rankrls
target=${CARGO_TARGET_DIR:-$root/target}
binary=$target/release/rankrls
gnu_time=$(type -P time || true)
"${gnu_time:-false}" --version >/dev/null 2>&1 || gnu_time=
hyperfine=$(type -P hyperfine || true)
watched=()
[ -z "$gnu_time" ] || watched=("$gnu_time" -v)
[ -n "$gnu_time" ] || echo 'GNU time is not installed: peak memory is what the binary says' >&2
[ -n "$hyperfine" ] || echo 'hyperfine is not installed: times are taken by a plain loop' >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# field NAME: the last value of a JSON field of that name in the report.
field() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),\{0,1\}$/\1/p" "$work/report.json" | tail -n 1; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# command_of STRATEGY: the array `command`.
command_of() {
    command=("$binary" --quiet select "$data" -k "$k" --lambda "$lambda"
        --strategy "${1%%:*}" --json "${limit[@]}")
    if [[ $1 == *:* ]]; then
        command+=(--candidates "${1#*:}")
    fi
}

# run: runs the command once, keeps its report, and prints seconds of selection, seconds in
# all and peak megabytes. Fails as the command does.
run() {
    local start=$EPOCHREALTIME end
    "${watched[@]}" "${command[@]}" >"$work/report.json" 2>"$work/messages" || return
    end=$EPOCHREALTIME
    printf '%s %s %s\n' "$(field select_seconds)" \
        "$(awk -v a="$start" -v b="$end" 'BEGIN { print b - a }')" \
        "$(peak_memory)"
}

peak_memory() {
    if [ -n "$gnu_time" ]; then
        awk '/Maximum resident set size/ { print $NF * 1024 / 1e6 }' "$work/messages"
    else
        field peak_rss_bytes | awk '{ print $1 / 1e6 }'
    fi
}

# hyper: median seconds of the command by hyperfine.
hyper() {
    "$hyperfine" --style none --warmup 1 --runs "$((runs > 1 ? runs : 2))" \
        --export-csv "$work/times.csv" "$(printf '%q ' "${command[@]}")" >/dev/null 2>&1
    # command,mean,stddev,median,user,system,min,max: counted from the end, for commas.
    awk -F, 'NR == 2 { print $(NF - 4) }' "$work/times.csv"
}

# cindex: concordance index on the test data after the last step.
cindex() {
    [ -n "$test" ] || { echo '-'; return; }
    "${command[@]}" --test "$test" --metrics cindex >"$work/report.json"
    printf '%.4f' "$(field cindex)"
}

row() {
    command_of "$1"
    : >"$work/runs"
    for ((number = 0; number < runs; number++)); do
        if ! run >>"$work/runs"; then
            printf '| %s | %s | | | | | |\n' "$1" "$(grep -m 1 '^error' "$work/messages")"
            return
        fi
    done
    local error selection whole
    error=$(field lqo_error)
    selection=$(cut -d ' ' -f 1 "$work/runs" | median)
    whole=$(cut -d ' ' -f 2 "$work/runs" | median)
    [ -z "$hyperfine" ] || whole=$(hyper)
    printf '| %s | %.3f | %.1f | %.2f | %.0f | %.4f | %s |\n' "$1" "$selection" \
        "$(awk -v s="$selection" -v k="$k" 'BEGIN { print 1000 * s / k }')" \
        "$whole" "$(cut -d ' ' -f 3 "$work/runs" | median)" "$error" "$(cindex)"
}

printf '%s, k %s, lambda %s, %s runs, %s cores, load %s\n\n' "$(basename "$data")" "$k" "$lambda" \
    "$runs" "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)"
echo '| strategy | selection, s | ms a feature | whole run, s | peak memory, MB | LQO error | test concordance |'
echo '|---|---:|---:|---:|---:|---:|---:|'
for strategy in "${strategies[@]}"; do
    row "$strategy"
done
