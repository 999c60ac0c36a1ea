#!/usr/bin/env bash
# The cost of the client, as CPU per token event; see cost.py. About 5 minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/setup.sh
mkdir -p build
BENCH_PACKAGES=(python3-aiohttp)  # only for the comparison
install_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${BENCH_PACKAGES[@]}"
build_tree ON bench_source bench_floor bench_load
exec python3 -B tests/bench/cost.py "$@"
