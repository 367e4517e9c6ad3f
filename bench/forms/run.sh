#!/bin/sh
# Asks for answers under response_format by the schemas of real APIs and SDKs, and checks each with a validator of its own;
# fails when one does not fit, and writes docs/evidence/structured.md. "run.sh sample" takes one schema of 12 and also fails when too few are answered; "run.sh collect"
# makes data/schemas.jsonl.gz anew, which needs node, python3 and the network.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
sample) exec go run ./forms -every 12 -gate ;;
collect) exec ./forms/collect.sh ;;
esac
go run ./forms -seeds 1,77,1009 -gate -page ../docs/evidence/structured.md
