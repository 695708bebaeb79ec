#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: a Python environment with the course's pinned packages.
set -euo pipefail
root="${GRADESCOPE_ROOT:-/autograder}"
if ! command -v python3 >/dev/null || ! python3 -m venv --help >/dev/null 2>&1; then
  apt-get update
  apt-get install -y --no-install-recommends python3 python3-venv
fi
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "This autograder needs Python 3.11 or newer: choose the Ubuntu 24.04 base image." >&2
  exit 1
fi
python3 -m venv "$root/venv"
"$root/venv/bin/pip" install --no-cache-dir -r "$root/source/requirements.txt"
