#!/usr/bin/env bash
# On a fresh Debian 12 machine: installs packages, builds, and measures two
# simulated engines with three agents. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/quickstart
mkdir -p "$out"
. deploy/setup.sh

install_packages "${BUILD_PACKAGES[@]}"
# Keeps the tests of a tree that test.sh has set up.
tests=OFF
grep -qs '^BENCHFLEET_TESTS:BOOL=ON' build/CMakeCache.txt && tests=ON
build_tree "$tests" coordinator agent enginesim

sims=()
trap '[ "${#sims[@]}" -eq 0 ] || kill "${sims[@]}" 2>/dev/null || true' EXIT

# start_sim FLAVOUR: sets `port`.
start_sim() {
  local log=$out/$1-sim.log tries
  build/bin/enginesim --flavour="$1" --port=0 --model=sim --time-scale=4 \
    --profile="tests/enginesim/profiles/$1-minimax-m3-h20.profile" >"$log" 2>&1 &
  sims+=($!)
  for tries in $(seq 100); do
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$log")
    [ -z "$port" ] || return 0
    kill -0 "${sims[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" >&2
  fail "the simulated engine $1 did not start"
}

step "starting two simulated engines"
start_sim sglang
sglang_port=$port
start_sim vllm
vllm_port=$port
sed -e "s/:18001/:$sglang_port/" -e "s/:18002/:$vllm_port/" \
  deploy/suites/quickstart.pb.txt >"$out/quickstart.pb.txt"

step "running deploy/suites/quickstart.pb.txt with 3 agents"
status=0
build/bin/coordinator submit "$out/quickstart.pb.txt" --local-agents=3 \
  --db="$out/results.db" || status=$?
[ "$status" -le 1 ] || fail "the run (exit code $status)"
build/bin/coordinator report --db="$out/results.db" --format=json >"$out/report.json"

step "written"
printf '  %s\n' "$out/results.db    all runs: sqlite3 $out/results.db 'select * from case_aggregates'" \
  "$out/report.json   this run's report" \
  "$out/quickstart.pb.txt   its suite, with the engines' ports"
exit "$status"
