#!/usr/bin/env bash
# Builds the fuzz targets and runs each for a bounded time, from its committed corpus.
#
# usage: fuzz/run.sh [SECONDS] [TARGET...]
#   SECONDS  for each target; 10 if not given
#   TARGET   which ones; all if none is given
#   FUZZ_SEED  in the environment: a number from which the inputs are made; another one each time if not given
#
# No nightly toolchain and no cargo-fuzz: rustc's own coverage pass and the libFuzzer that libfuzzer-sys brings, which
# takes a C++ compiler (Debian: g++). What is found new is kept in target/fuzz/corpus and used again; the committed
# corpus is only read. A crash leaves its input in target/fuzz/crashes and makes the run fail.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=10
if [[ ${1-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
elif [[ ${1-} == -* ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
    exit
fi
fail() { printf 'fuzz: %s\n' "$*" >&2; exit 1; }

command -v c++ >/dev/null || fail "libFuzzer needs a C++ compiler; on Debian: ./qemu/setup.sh --fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
work=target/fuzz
flags=(
    --cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
)

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for source in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$source" .rs)"); done
fi
bins=()
for target in "${targets[@]}"; do
    [ -f "fuzz/fuzz_targets/$target.rs" ] || fail "there is no target $target; see fuzz/fuzz_targets"
    bins+=(--bin "$target")
done
# `--target` keeps the flags away from build scripts.
RUSTFLAGS="${flags[*]}" cargo build --manifest-path fuzz/Cargo.toml --release --target "$host" --target-dir "$work" \
    "${bins[@]}"

# Runs one target and prints a line about it; its output goes to a log.
fuzz() {
    local target=$1 log=$work/$1.log corpus=$work/corpus/$1 crashes=$work/crashes/$1
    mkdir -p "$corpus" "$crashes"
    if "$work/$host/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
        -seed="${FUZZ_SEED:-0}" -max_len=8192 -artifact_prefix="$crashes/" "$corpus" "fuzz/corpus/$target" >"$log" 2>&1; then
        awk -v target="$target" '
            /^stat::number_of_executed_units/ { runs = $2 }
            /^stat::average_exec_per_sec/ { speed = $2 }
            / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i+1); if ($i == "corp:") corp = $(i+1) } }
            END { printf "%-8s %9d runs %7d/s  coverage %5d  corpus %s\n", target, runs, speed, cov, corp }' "$log"
        return
    fi
    local input
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    printf '%-8s FAILED\n' "$target"
    grep -a -A 2 -m 1 -E 'panicked at|ERROR: libFuzzer' "$log" || tail -n 20 "$log"
    printf 'input:   %s\nlog:     %s\nagain:   %s\n' "${input:-none}" "$log" "$work/$host/release/$target $input"
    return 1
}

failed=0
for target in "${targets[@]}"; do
    fuzz "$target" || failed=1
done
exit $failed
