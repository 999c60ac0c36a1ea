#!/usr/bin/env bash
# Installs what is needed on a Debian 12 machine, builds, runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
. deploy/setup.sh

install_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
build_tree ON
step "running the tests"
ctest --test-dir build --output-on-failure -j "$(nproc)" || fail "a test"
step "all tests passed"
