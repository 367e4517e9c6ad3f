#!/bin/sh
# Runs the end-to-end lane: installs what is missing, builds toolnorm, and prints the table of right replies.
# A missing part is a failure here, not a skip. Arguments go to go test.
set -eu
cd "$(dirname "$0")"
./install.sh
TOOLNORM_E2E=required exec go test -count=1 -timeout 48m -v "$@" . ../examples/openai-node
