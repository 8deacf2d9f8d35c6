#!/usr/bin/env bash
# Measures the tables of docs/strategies.md again, by benches/compare.sh. Some minutes.
# RANKRLS_CORPORA names the folder of corpora.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${RANKRLS_CORPORA:?names the folder of corpora}"
ewt=$RANKRLS_CORPORA/ewt-parse letor=$RANKRLS_CORPORA/letor-mq2008-fold3
page=docs/strategies.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure NAME ARGUMENT...: puts what compare.sh prints between the markers of that name.
measure() {
    local name=$1
    shift
    benches/compare.sh "$@" >"$work/table"
    awk -v name="$name" -v table="$work/table" '
        $0 == "<!-- end " name " -->" { skip = 0 }
        !skip
        $0 == "<!-- begin " name " -->" {
            while ((getline line < table) > 0) print line
            skip = 1
        }' "$page" >"$work/page"
    cp "$work/page" "$page"
}

measure small -k 20 -l 16 -t "$ewt/test_2000.svm.zst" "$ewt/train_2000.svm.zst" \
    dense lowmem bounded sampled sampled:1000 backfit
measure small-lambda -k 20 -l 1e-6 "$ewt/train_2000.svm.zst"
measure large -k 50 -l 16 "$ewt/train_20000.svm.zst" dense bounded sampled backfit
measure large-lambda -k 50 -l 1 "$ewt/train_20000.svm.zst" bounded sampled backfit
measure large-k -r 1 -k 200 -l 16 "$ewt/train_20000.svm.zst" bounded sampled backfit
measure letor -k 20 -l 16 -t "$letor/test.txt.zst" "$letor/train.txt.zst" dense lowmem bounded backfit
measure generated -k 20 -l 16 -t corpora/parses-test.svm.zst corpora/parses.svm.zst
