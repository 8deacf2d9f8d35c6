#!/usr/bin/env bash
# Makes the files of this folder anew; with --check into a temporary folder,
# to see whether they are, byte for byte, those that are here. The parses of
# Link Grammar need its parser: they are checked by the version that made them.
# REMAKE_PROFILE names the profile of cargo to build with, release if not set.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
generated=(parses.svm.zst parses.names.txt.zst parses-test.svm.zst sentences.conllu.zst)
parsed=(link-parses{.svm.zst,-test.svm.zst,-names.txt.zst,-manifest.json})

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

rankrls() {
    cargo run --profile "${REMAKE_PROFILE:-release}" --quiet --locked --manifest-path "$here/../Cargo.toml" -- "$@"
}

rankrls corpus generate --rows 1000 --vocabulary 100 --max-length 12 --max-parses 12 --attraction 100 \
    -o "$target/${generated[0]}" --names "$target/${generated[1]}" \
    --test-rows 1000 --test-output "$target/${generated[2]}"
rankrls corpus treebank --sentences 256 --min-length 19 --max-length 28 -o "$target/${generated[3]}"
files=("${generated[@]}")

made_by=$(sed -n 's/^      "version": "\(.*\)",/\1/p' "$here/link-parses-manifest.json" 2>/dev/null || true)
installed=$(link-parser --version 2>/dev/null | sed -n 's/^Version: //p' || true)
if [ -z "$installed" ]; then
    echo "corpora: link-parser is not installed, so its parses are left as they are" >&2
elif [ "$target" != "$here" ] && [ "$installed" != "$made_by" ]; then
    echo "corpora: the parses are by $made_by and not checked with $installed" >&2
else
    rankrls corpus build "$target/sentences.conllu.zst" --link-grammar --linkages 18 --time-limit 60 \
        -o "$target/link-parses"
    files+=("${parsed[@]}")
fi

if [ "$target" != "$here" ]; then
    for file in "${files[@]}"; do
        cmp "$target/$file" "$here/$file"
    done
    echo "corpora: all ${#files[@]} files are what the commands make"
fi
