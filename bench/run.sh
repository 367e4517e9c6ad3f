#!/bin/sh
# Measures toolnorm beside its peers and writes docs/benchmarks.md; about five minutes on an idle machine.
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
(cd .. && go build -o "$work/toolnorm" ./cmd/toolnorm)
"$work/bench" all "$work/toolnorm" >"$work/benchmarks.md"
mkdir -p ../docs
cp "$work/benchmarks.md" ../docs/benchmarks.md
cat ../docs/benchmarks.md
