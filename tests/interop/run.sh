#!/usr/bin/env bash
# Holds the files of rankrls against those of scikit-learn, SciPy and LightGBM from PyPI.
# Usage: tests/interop/run.sh [RANKRLS]; the program is target/debug/rankrls unless named.
# RANKRLS_INTEROP_VENV names the folder of the Python environment, made if it is not there
# (default: target/interop).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${1:-$root/target/debug/rankrls}")
venv=${RANKRLS_INTEROP_VENV:-$root/target/interop}
requirements=$root/tests/interop/requirements.txt

if ! cmp --silent "$requirements" "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/"
fi
exec "$venv/bin/python" "$root/tests/interop/interop.py" "$program"
