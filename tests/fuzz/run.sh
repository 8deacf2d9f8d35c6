#!/usr/bin/env bash
# Fuzzes the readers: bash tests/fuzz/run.sh [-n EXECUTIONS] [READER...]
#
# Goes on from the corpora kept in tests/fuzz/kept, and puts what it finds there, made small. Takes
# a C++ compiler and zstd, but no nightly Rust, as there is no `unsafe` for a sanitizer to watch.
# Ends with a table: executions, inputs kept, seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

executions=10000000
while getopts n: option; do
    case $option in
    n) executions=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
readers=("$@")
if [ $# -eq 0 ]; then
    readers=(svmlight table names scores lists features model lines conllu linkages)
fi

# What cargo-fuzz would say: libFuzzer is told which code ran, and what was compared.
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=4"
for what in level=4 inline-8bit-counters pc-table trace-compares; do
    RUSTFLAGS+=" -Cllvm-args=-sanitizer-coverage-$what"
done
export RUSTFLAGS CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
# All but what is kept stays there, and files of readers are in memory, where there is such a place.
work=$CARGO_TARGET_DIR/fuzz
TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# With a target named, build scripts and macros are compiled without the flags.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --locked --release --target "$host"
program=$CARGO_TARGET_DIR/$host/release/rankrls-fuzz

# Inputs worth keeping are short; JSON and the output of a parser take more bytes than lines.
longest() {
    case $1 in
    model | linkages) echo 2048 ;;
    *) echo 512 ;;
    esac
}

table=""
for reader in "${readers[@]}"; do
    corpus=$work/corpus/$reader
    mkdir -p "$corpus" "$work/artifacts" kept
    if [ -f "kept/$reader.tar.zst" ]; then
        zstd -dcq "kept/$reader.tar.zst" | tar -xf - -C "$corpus"
    fi
    begin=$SECONDS
    log=$(mktemp)
    export READER=$reader
    "$program" "$corpus" -runs="$executions" -max_len="$(longest "$reader")" \
        -rss_limit_mb=512 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$work/artifacts/$reader-" 2>"$log" || { tail -40 "$log"; exit 1; }
    done=$(sed -n 's/stat::number_of_executed_units: //p' "$log")
    seconds=$((SECONDS - begin))
    small=$(mktemp -d)
    "$program" -merge=1 "$small" "$corpus" 2>"$log" || { tail -40 "$log"; exit 1; }
    # The same corpus is the same bytes.
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - -C "$small" . |
        zstd -19 -qf -o "kept/$reader.tar.zst"
    table+="| \`$reader\` | $done | $(find "$small" -type f | wc -l) | $seconds |"$'\n'
    rm -rf "$log" "$small"
done
printf '| reader | executions | inputs kept | seconds |\n|---|---:|---:|---:|\n%s' "$table"
