#!/usr/bin/env bash
# Makes the files of this folder anew; with --check into a temporary folder,
# to see whether they are, byte for byte, those that are here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
files=(parses.svm.zst parses.names.txt.zst parses-test.svm.zst)

case "$#:${1:-}" in
0:) target=$here ;;
1:--check)
    target=$(mktemp -d)
    trap 'rm -rf "$target"' EXIT
    ;;
*)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac

cargo run --release --quiet --locked --manifest-path "$here/../Cargo.toml" -- \
    corpus generate --rows 1000 --vocabulary 100 --max-length 12 --max-parses 12 --attraction 100 \
    -o "$target/${files[0]}" --names "$target/${files[1]}" \
    --test-rows 1000 --test-output "$target/${files[2]}"

if [ "$target" != "$here" ]; then
    for file in "${files[@]}"; do
        cmp "$target/$file" "$here/$file"
    done
    echo "corpora: all ${#files[@]} files are what the command makes"
fi
