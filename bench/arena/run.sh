#!/bin/sh
# Gives the same inputs to toolnorm and to other readers of tool calls, and writes docs/arena: half an hour the first time, when
# readers are installed (some 700 MB), a quarter of one after that, on an idle machine. Needs go, python3 with pip, node with
# npm, and g++; a reader that cannot be installed is told on the page.
#
#   run.sh                  everything
#   run.sh sample           a part of it for some of the readers, in less than a minute; fails when toolnorm is not first
#   run.sh show READER/ROW  the inputs of the last whole run that a reader and toolnorm read otherwise; show READER: of all rows
#   run.sh compare A B     fails when two files arena.json have not the same counts
#
#   ARENA_EVERY          of rows with many inputs only each n-th is read; default 7, 1: all
#   ARENA_READERS        only these readers, with commas between them
#   TOOLNORM_E2E_CACHE   where readers and inputs are kept, in arena; default ${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e
set -eu
if [ "${1:-}" = compare ]; then
	one=$(realpath "$2")
	other=$(realpath "$3")
	cd "$(dirname "$0")/.."
	exec go run ./arena -compare "$one,$other"
fi
cd "$(dirname "$0")/.."
cache=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}/arena
if [ "${1:-}" = show ]; then
	exec go run ./arena -cache "$cache" -show "$2"
fi
sample=${1:-}
inputs=$cache/inputs${sample:+-$sample}
rm -rf "$inputs"
mkdir -p "$inputs"

# Seeds with which no rule of the decoder was looked at. The sample has some families, of the notations that there are.
if [ "$sample" = sample ]; then
	go run ./slips -seeds 7 -rounds 1 -families hermes,qwen3-coder,glm4.7,mistral,deepseek-v3.1,llama3,gemma4,python -roots "$(go env GOROOT)/src/net" -files 4 -cases "$inputs/slips.jsonl"
else
	go run ./slips -seeds 7 -rounds 1 -roots "$(go env GOROOT)/src" -files 30 -cases "$inputs/slips.jsonl"
fi
(cd .. && TOOLNORM_ARENA=$inputs/adapters.jsonl go test -count=1 -run 'TestArenaInputs$' ./adapters)
if [ "$sample" = sample ]; then
	go run ./arena -inputs "$inputs" -cache "$cache" -only "${ARENA_READERS:-ollama,json_repair,sglang,smolagents}" -every 7 -sample
	exit
fi
suite=$(../e2e/canitoolcall/run.sh install | tail -n 1)
"$suite/bin/python" arena/sources/fixtures.py >"$inputs/canitoolcall.jsonl"
go run ./arena -inputs "$inputs" -cache "$cache" -only "${ARENA_READERS:-}" -every "${ARENA_EVERY:-7}" -suite ../e2e/canitoolcall/run.sh -out ../docs/arena
