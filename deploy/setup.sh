# Sourced by quickstart.sh and test.sh: says what it does, installs Debian
# packages, builds. Needs the repository's top folder as working directory.

BUILD_PACKAGES=(
  g++ cmake ninja-build pkg-config
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libabsl-dev libcurl4-openssl-dev libsqlite3-dev libssl-dev libsimdjson-dev
  libspdlog-dev)
TEST_PACKAGES=(libgtest-dev libgmock-dev python3 sqlite3 openssl)

step() { printf '\n== %s\n' "$*"; }

fail() {
  printf '\n%s: failed: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@" || sudo "$@"
  else
    fail "needs root to install packages: run it as root or install sudo"
  fi
}

# install_packages NAME...: those that are missing.
install_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$name")
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    step "packages: all installed"
    return
  fi
  step "installing packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
    fail "apt-get update"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "${missing[@]}" >build/apt.log 2>&1 ||
    { tail -n 20 build/apt.log >&2; fail "apt-get install (see build/apt.log)"; }
}

# build_tree ON|OFF [TARGET...]: with or without tests.
build_tree() {
  local tests=$1
  shift
  step "configuring (build/)"
  cmake -S . -B build -G Ninja -DBENCHFLEET_TESTS="$tests" >build/cmake.log 2>&1 ||
    { tail -n 30 build/cmake.log >&2; fail "cmake (see build/cmake.log)"; }
  step "building: some minutes the first time"
  local targets=()
  [ "$#" -eq 0 ] || targets=(--target "$@")
  cmake --build build "${targets[@]}" >build/build.log 2>&1 ||
    { tail -n 40 build/build.log >&2; fail "the build (see build/build.log)"; }
}
