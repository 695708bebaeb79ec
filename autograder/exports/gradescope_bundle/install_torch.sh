#!/bin/sh
# PyTorch's build for processors, in the version that a list pins: install_torch.sh LIST PYTHON PIP...
# On Linux the build that PyPI has brings 2.5 GB of CUDA, which nobody needs here. What pip is set up for comes first: an index
# or a folder that has another build of this version (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS, pip.conf). Else uv is asked, which
# knows by itself where PyTorch keeps it. Where that cannot be reached, as behind a plain mirror, pip takes what there is.
set -eu
list=$1 python=$2
shift 2
wanted=$(grep '^torch==' "$list")
index=$(sed -n 's/^--extra-index-url //p' "$list")
[ -z "$index" ] || export PIP_EXTRA_INDEX_URL="$index"

has_it() {
  "$python" -c 'import sys; from importlib.metadata import version; sys.exit(version("torch").split("+")[0] != sys.argv[1])' \
    "${wanted#*==}" 2>/dev/null
}

if [ "$(uname -s)" = Linux ] && ! has_it && ! "$@" index versions torch 2>/dev/null | grep -qF " ${wanted#*==}+"; then
  uv=$(mktemp -d)
  trap 'rm -rf "$uv"' EXIT
  { "$@" install --quiet --target "$uv" uv && PYTHONPATH=$uv "$python" -m uv pip install --torch-backend cpu "$wanted"; } ||
    echo "PyTorch's build for processors could not be reached: pip takes what its index has." >&2
fi
has_it || "$@" install "$wanted"
