#!/usr/bin/env bash
# Measures everything on docs/scaling.md again. Some minutes; 4 GB of memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo build --release --locked --example scaling
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"${CARGO_TARGET_DIR:-target}/release/examples/scaling" >"$new"
cat "$new" >docs/scaling/scaling.csv
python3 docs/scaling/plot.py
