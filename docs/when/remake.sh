#!/usr/bin/env bash
# Measures everything on docs/when.md again: about ten minutes, 1 GB of memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo bench --locked --bench when
python3 docs/when/plot.py "${CARGO_TARGET_DIR:-target}/criterion"
