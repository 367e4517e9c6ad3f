#!/bin/sh
# Installs and runs what "make release" has made, as far as this platform can: lane.sh FOLDER. What is missing for that is
# installed in CI, where a part that was left out is a failure; elsewhere it is skipped, and said.
set -eu
if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ]; then
	lacking=
	for one in systemctl:systemd zsh:zsh fish:fish curl:curl openssl:openssl ip:iproute2 unshare:util-linux; do
		command -v "${one%:*}" >/dev/null || lacking="$lacking ${one#*:}"
	done
	export DEBIAN_FRONTEND=noninteractive
	[ -z "$lacking" ] || apt-get install -y -q --no-install-recommends $lacking ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends $lacking; }
fi
TOOLNORM_RELEASE=$(cd "$1" && pwd) exec go test -count=1 -v -timeout 15m ./internal/release
