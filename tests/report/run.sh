#!/usr/bin/env bash
# Opens the report of `rankrls compare` in headless Chromium: on a phone and on a desk, light and dark.
# Usage: tests/report/run.sh [RANKRLS]; the program is target/debug/rankrls unless named.
# Without Chromium nothing is tested, which is a failure where RANKRLS_CHROMIUM is 1.
# RANKRLS_REPORT_VENV names the folder of the Python environment, made if it is not there
# (default: target/report), RANKRLS_REPORT_SCREENSHOTS a folder for pictures.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${1:-$root/target/debug/rankrls}")
chromium=$(type -P chromium || type -P chromium-browser || type -P google-chrome || true)
if [ -z "$chromium" ]; then
    echo 'Chromium is not installed: the report is not opened in it' >&2
    [ "${RANKRLS_CHROMIUM:-}" != 1 ] || exit 1
    exit 0
fi
venv=${RANKRLS_REPORT_VENV:-$root/target/report}
requirements=$root/tests/report/requirements.txt
if ! cmp --silent "$requirements" "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/"
fi
exec "$venv/bin/python" "$root/tests/report/report.py" "$program" "$chromium"
