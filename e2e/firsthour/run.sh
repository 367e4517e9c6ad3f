#!/bin/sh
# Does the fifteen tasks of a new user's first hour with the programs in bin, and writes docs/evidence/first-hour.md with its pictures. Needs
# what ../install.sh installs, with its agents, and nginx. For root everything runs in a network of its own, so that
# the default port is free.
set -eu
cd "$(dirname "$0")"
cache=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}
clients=$(mktemp -d)
trap 'rm -rf "$clients"' EXIT
# client NAME FOLDER PROGRAM puts a client of the lane on the path.
client() {
  for at in "$cache/$2"-*/node_modules/$3; do
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$at" >"$clients/$1"
    chmod +x "$clients/$1"
  done
}
client cn continue .bin/cn
client claude anthropic @anthropic-ai/claude-code-linux-x64/claude
packages=$(echo "$cache"/admin-*)
apart=
unshare -n true 2>/dev/null && apart='unshare -n'
$apart sh -c 'ip link set lo up 2>/dev/null; exec node main.mjs "$@"' sh "$PWD/../../bin" "$packages" "$cache/chromium" "$clients" ../../docs/evidence/first-hour.md
