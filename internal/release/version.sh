#!/bin/sh
# Prints the version of this checkout: the tag, as v0.2.0; v0.2.0-5-g0bbc243 five commits behind it; and before the first tag the
# version in the source with the number of commits, 0.4.0-dev.680.g0bbc243. With -dirty behind it when a tracked file was changed.
# Prints nothing where there is no git, as in a source archive: the program then says what stands in its source.
cd "$(dirname "$0")/../.." || exit 1
commit=$(git rev-parse --short=7 HEAD 2>/dev/null) || exit 0
git describe --tags --match 'v[0-9]*' --abbrev=7 --dirty 2>/dev/null && exit
source=$(sed -n 's/^const Source = "\(.*\)"$/\1/p' internal/version/version.go)
git diff --quiet HEAD 2>/dev/null || dirty=-dirty
echo "$source.$(git rev-list --count HEAD).g$commit${dirty:-}"
