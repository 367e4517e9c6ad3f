#!/bin/sh
# Measures toolnorm beside its peers and writes docs/evidence/benchmarks.md; about five minutes on an idle machine.
# "run.sh hostile" sends hostile requests, each to a fresh server, and fails when one costs too much; "run.sh hostile mcp" those with mcp in their name.
# "run.sh gate" measures the decoder and the MCP server, in two minutes or so, and fails when they break their limits.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bench" .
if [ "${1:-}" = gate ]; then
	"$work/bench" gate
	exit
fi
(cd .. && CGO_ENABLED=0 go build -o "$work/toolnorm" ./cmd/toolnorm)
if [ "${1:-}" = hostile ]; then
	shift
	"$work/bench" hostile "$work/toolnorm" "$@"
	exit
fi
"$work/bench" all "$work/toolnorm" >"$work/benchmarks.md"
mkdir -p ../docs
cp "$work/benchmarks.md" ../docs/evidence/benchmarks.md
cat ../docs/evidence/benchmarks.md
