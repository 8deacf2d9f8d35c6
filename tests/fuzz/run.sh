#!/usr/bin/env bash
# Fuzzes the readers: bash tests/fuzz/run.sh [-n EXECUTIONS] [READER...]
#
# Goes on from the corpora kept in tests/fuzz/kept, and puts what it finds there, made small. Takes
# cargo-fuzz (`cargo install cargo-fuzz`), a C++ compiler and zstd; no nightly Rust, as there is no
# `unsafe` for a sanitizer to watch. Ends with a table: executions, inputs kept, seconds.
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
    mapfile -t readers < <(cargo fuzz list --fuzz-dir .)
fi

# Inputs worth keeping are short; arrays and JSON take more bytes than lines.
longest() {
    case $1 in
    model) echo 2048 ;;
    *) echo 512 ;;
    esac
}

table=""
for reader in "${readers[@]}"; do
    mkdir -p "corpus/$reader" kept
    if [ -f "kept/$reader.tar.zst" ]; then
        zstd -dcq "kept/$reader.tar.zst" | tar -xf - -C "corpus/$reader"
    fi
    begin=$SECONDS
    log=$(mktemp)
    cargo fuzz run --fuzz-dir . -s none "$reader" "corpus/$reader" -- -runs="$executions" \
        -max_len="$(longest "$reader")" -rss_limit_mb=512 -timeout=10 -print_final_stats=1 2>"$log" ||
        { tail -40 "$log"; exit 1; }
    done=$(sed -n 's/stat::number_of_executed_units: //p' "$log")
    seconds=$((SECONDS - begin))
    cargo fuzz cmin --fuzz-dir . -s none "$reader" "corpus/$reader" >"$log" 2>&1 ||
        { tail -40 "$log"; exit 1; }
    # The same corpus is the same bytes.
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - -C "corpus/$reader" . |
        zstd -19 -qf -o "kept/$reader.tar.zst"
    rm -f "$log"
    table+="| \`$reader\` | $done | $(find "corpus/$reader" -type f | wc -l) | $seconds |"$'\n'
done
printf '| reader | executions | inputs kept | seconds |\n|---|---:|---:|---:|\n%s' "$table"
