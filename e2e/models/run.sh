#!/bin/sh
# Measures the real models and writes docs/evidence/models.md; about an hour on two idle cores. ROWS, a regular expression,
# chooses rows by "set-up, way"; the others stay as the last run measured them (ROWS=none only writes the page).
set -eu
cd "$(dirname "$0")"
./install.sh
cd ..
TOOLNORM_E2E_MODELS=${ROWS:-.} TOOLNORM_E2E_REPORT=$(pwd)/../docs/evidence/models.md exec nice -n 15 go test -count=1 -timeout 6h -v -run '^TestRealModels$' .
