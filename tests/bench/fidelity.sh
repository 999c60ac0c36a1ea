#!/usr/bin/env bash
# Our timings against the truth; see fidelity.py. About 3 minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/setup.sh
mkdir -p build
install_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
build_tree ON bench_source bench_load
exec python3 -B tests/bench/fidelity.py "$@"
