#!/usr/bin/env bash
# Memory and descriptors over many rounds; see soak.py. 10 minutes, or as given.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/setup.sh
mkdir -p build
install_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
build_tree ON coordinator agent enginesim
exec python3 -B tests/bench/soak.py "$@"
