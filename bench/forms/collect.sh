#!/bin/sh
# Collects the schemas of package forms, and answers that fit them, from packages whose licences allow it. The versions are
# named here and in collect.py; data/SOURCES.md says what came from where.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for package in @octokit/openapi@23.0.2 @figma/rest-api-spec@0.43.0 vega-lite@6.5.0 @asyncapi/specs@6.11.1 webpack@5.112.2 resume-schema@1.0.1; do
	archive=$(cd "$scratch" && npm pack --silent "$package" | tail -n 1)
	mkdir -p "$scratch/npm/${archive%.tgz}"
	tar xzf "$scratch/$archive" -C "$scratch/npm/${archive%.tgz}"
done
python3 -m venv "$scratch/env"
"$scratch/env/bin/python" -m pip install --quiet --disable-pip-version-check openai==3.3.0 anthropic==2.12.0 mcp-types==2.3.0 pydantic==2.14.3 jsonschema==4.26.0 pyyaml==6.0.3
"$scratch/env/bin/python" -W ignore collect.py "$scratch/npm" data/schemas.jsonl.gz
