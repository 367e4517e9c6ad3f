#!/bin/sh
# Measures what becomes of calls with slips and writes docs/evidence/slips.md; about ten minutes
# on an idle machine. "run.sh sample" does some of it in half a minute, needs no network, and
# fails above the limits of data/limits.txt.
#
#   SLIPS_ROOTS          folders whose files go round, with : between; default: Go, its modules, and what the end-to-end lane
#                        has installed; for the sample Go and this repository
#   TOOLNORM_E2E_CACHE   where json_repair is kept; default ${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e
set -eu
cd "$(dirname "$0")/.."
cache=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}
roots=${SLIPS_ROOTS:-$(go env GOROOT):$(go env GOMODCACHE):$cache}

JSON_REPAIR=0.64.6
JSON_REPAIR_SHA256=4affdb56208ec2b34d668a4384583b8b080d4e2ff48cc2f8c07a5cf46d559e2f

if [ "${1:-}" = sample ]; then
	# Files that every machine has, so that the lane does not depend on what was installed before.
	go run ./slips -seeds 5 -rounds 1 -roots "${SLIPS_ROOTS:-$(go env GOROOT)/src:..}" -files 300 -patience 6s -gate
	exit
fi
wheel=$cache/json_repair-$JSON_REPAIR-py3-none-any.whl
if [ ! -f "$wheel" ]; then
	mkdir -p "$cache"
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$scratch" "json_repair==$JSON_REPAIR"
	echo "$JSON_REPAIR_SHA256  $(ls "$scratch"/*)" | sha256sum --check --quiet
	mv "$scratch"/*.whl "$wheel"
fi
go run ./slips -seeds 1,2,3,4 -held-out 9161,9173,9181,9187 -rounds 1 -roots "$roots" -patience 6m -json-repair "$wheel" -page ../docs/evidence/slips.md
