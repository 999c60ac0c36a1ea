#!/usr/bin/env bash
# The reference's whole suite on simulated engines, in about 5 minutes:
#   tests/reference/run.sh [OUT_FOLDER] [TIME_SCALE] [AGENTS]
# Prints how far the medians are from the reference. Needs a built tree, and a
# quiet machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-build/reference}
scale=${2:-12}
agents=${3:-3}
mkdir -p "$out"
rm -f "$out"/results.db*

sims=()
trap '[ "${#sims[@]}" -eq 0 ] || kill "${sims[@]}" 2>/dev/null || true' EXIT
# start_sim FLAVOUR: sets `port`.
start_sim() {
  build/bin/enginesim --flavour="$1" --port=0 --model=MiniMax-M3 \
    --time-scale="$scale" --truth="$out/$1.truth" \
    --profile="tests/enginesim/profiles/$1-minimax-m3-h20.profile" \
    >"$out/$1-sim.log" 2>&1 &
  sims+=($!)
  for _ in $(seq 100); do
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$out/$1-sim.log")
    [ -z "$port" ] || return 0
    sleep 0.1
  done
  echo "the simulated engine $1 did not start" >&2
  exit 1
}
start_sim sglang
sglang=$port
start_sim vllm
vllm=$port
sed -e "s/127.0.0.1:30000/127.0.0.1:$sglang/" -e "s/127.0.0.1:8000/127.0.0.1:$vllm/" \
  deploy/suites/minimax-m3-h20.pb.txt >"$out/suite.pb.txt"

status=0
build/bin/coordinator submit "$out/suite.pb.txt" --local-agents="$agents" \
  --db="$out/results.db" >"$out/report.txt" || status=$?
build/bin/coordinator report --db="$out/results.db" --format=json >"$out/report.json"
python3 -B tests/reference/compare.py "$out/report.json" "$out/results.db" \
  tests/testdata/reference.json "$scale"
exit "$status"
