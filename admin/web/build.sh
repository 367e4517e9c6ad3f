#!/bin/sh
# Builds the admin page into dist/page, from where the binary embeds it; with "test" it checks types, format and rules
# (biome.json), and runs the page's unit tests. Without a new enough Node, or without the packages and the network, it says so
# and does nothing: the binary then says at /admin how to get the page. In CI that is a failure.
set -eu
cd "$(dirname "$0")"

# skip says why there is no page, and ends.
skip() {
  echo "admin page: left out ($1)"
  [ "${CI:-}" != true ] || exit 1
  exit 0
}

command -v node >/dev/null || skip "node is not on PATH; it needs Node 20.19 or newer"
command -v npm >/dev/null || skip "npm is not on PATH"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  skip "Node $(node --version) is too old; it needs 20.19 or newer"

# The packages are those of the lock file, and none of them runs a script of its own.
sum=$(cksum package-lock.json package.json)
if [ "$(cat node_modules/.installed 2>/dev/null)" != "$sum" ]; then
  npm ci --ignore-scripts --silent || skip "npm ci failed; it needs the network once"
  echo "$sum" >node_modules/.installed
fi

if [ "${1:-}" = test ]; then
  npx --no-install tsc --noEmit
  npx --no-install biome check --error-on-warnings
  npm run --silent test
  exit
fi

# A build takes some seconds, so it is done only when something of it changed.
sum=$(find src index.html vite.config.ts package-lock.json -type f | LC_ALL=C sort | xargs cksum | cksum)
if [ "$(cat dist/page/.built 2>/dev/null)" != "$sum" ]; then
  npx --no-install vite build --logLevel warn
  echo "$sum" >dist/page/.built
fi
