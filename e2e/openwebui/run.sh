#!/bin/sh
# Drives a real Open WebUI in front of toolnorm, in Chromium: about 5 GB from PyPI, in an environment of its own below the lane's cache, so
# it is no part of CI. Needs a Python 3.11 or 3.12 (PYTHON names it) and what ../install.sh installs. The pictures go to
# TOOLNORM_E2E_SHOTS, if that is set.
set -eu
cd "$(dirname "$0")"
cache=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}
target=$cache/open-webui-$(cut -d= -f3 requirements.txt)
if [ ! -d "$target" ]; then
  scratch=$(mktemp -d "$cache/scratch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  "${PYTHON:-python3}" -m venv "$scratch/env"
  "$scratch/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-compile --requirement requirements.txt
  mv "$scratch/env" "$target"
fi
TOOLNORM_E2E=required TOOLNORM_E2E_OPENWEBUI=$target exec go test -count=1 -timeout 20m -v -run TestOpenWebUI ..
