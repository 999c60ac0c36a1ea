#!/usr/bin/env bash
# Builds the fuzz targets by clang with ASan and UBSan in build-fuzz, runs each
# for SECONDS (60), and prints a table:
#   tests/fuzz/run.sh [SECONDS] [TARGET...]
# Starts from tests/fuzz/corpus and the case files. Crashing inputs are left in
# build-fuzz/found/TARGET; exit 1 if there are any.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift || true
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(sse_parser chunk error_body suite_text)

cmake -S . -B build-fuzz -G Ninja -DBENCHFLEET_FUZZ=ON \
  -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >/dev/null
cmake --build build-fuzz --target fuzz_targets
rm -rf build-fuzz/seeds
python3 -B tests/fuzz/seeds.py build-fuzz/seeds

# Parts of the system's libraries are not instrumented.
export ASAN_OPTIONS=detect_container_overflow=0
status=0
table=$(printf '%-12s %12s %9s %9s %7s %8s' target execs exec/s coverage corpus crashes)
for target in "${targets[@]}"; do
  work=build-fuzz/corpus/$target found=build-fuzz/found/$target
  mkdir -p "$work" "$found"
  rm -f "$found"/*
  log=build-fuzz/$target.log
  dict=tests/fuzz/$target.dict
  "build-fuzz/bin/${target}_fuzz" "$work" "build-fuzz/seeds/$target" \
    "tests/fuzz/corpus/$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    ${dict:+$([ -f "$dict" ] && echo "-dict=$dict")} \
    -artifact_prefix="$found/" >"$log" 2>&1 || status=1
  figure() { sed -n "s/^stat::$1: *//p" "$log" | tail -1; }
  last=$(grep -E '^#[0-9]+.* cov: ' "$log" | tail -1 || true)
  table+=$(printf '\n%-12s %12s %9s %9s %7s %8s' "$target" \
    "$(figure number_of_executed_units)" "$(figure average_exec_per_sec)" \
    "$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' <<<"$last")" \
    "$(sed -n 's|.* corp: \([0-9]*\).*|\1|p' <<<"$last")" \
    "$(find "$found" -type f | wc -l)")
done
echo "$table"
exit "$status"
