"""Fails when a locked dependency declares a newer Rust than this crate does."""

import json
import subprocess
import sys

metadata = json.loads(
    subprocess.check_output(["cargo", "metadata", "--locked", "--format-version", "1"])
)


def version(text):
    return tuple(int(part) for part in text.split("."))[:2]


ours = next(p for p in metadata["packages"] if p["name"] == "rankrls")["rust_version"]
newer = [
    f"{package['name']} {package['version']} needs Rust {package['rust_version']}"
    for package in metadata["packages"]
    if package["rust_version"] and version(package["rust_version"]) > version(ours)
]
print("\n".join(newer) or f"all of {len(metadata['packages'])} packages build with Rust {ours}")
sys.exit(bool(newer))
