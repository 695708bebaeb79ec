#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: a Python environment with the course's pinned packages.
set -euo pipefail
root="${GRADESCOPE_ROOT:-/autograder}"
python="${PYTHON:-python3}"

whole() { "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; }

if ! whole && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update || true
  apt-get install -y --no-install-recommends python3 python3-venv python3-pip || true
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "This autograder needs Python 3.11 or newer: choose the Ubuntu 24.04 base image." >&2
  exit 1
fi
if whole; then
  "$python" -m venv "$root/venv"
  pip=("$root/venv/bin/python" -m pip)
elif "$python" -m pip --version >/dev/null 2>&1; then # a Python without its own copy of pip, but with one installed
  "$python" -m venv --without-pip "$root/venv"
  pip=("$python" -m pip --python "$root/venv/bin/python")
else
  echo "This image's Python has neither ensurepip nor pip, and they could not be installed: add the package python3-venv." >&2
  exit 1
fi
if grep -q '^torch==' "$root/source/requirements.txt"; then
  PIP_NO_CACHE_DIR=1 sh "$root/source/install_torch.sh" "$root/source/requirements.txt" "$root/venv/bin/python" "${pip[@]}"
fi
"${pip[@]}" install --no-cache-dir -r "$root/source/requirements.txt"
