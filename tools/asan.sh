#!/usr/bin/env bash
# Runs changed programs on the CPU under AddressSanitizer: `tools/asan.sh [COUNT]`, 50,000 unless another number is
# given. It builds into target/asan, and stops at the first access outside of a buffer.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
host=$(rustc -vV | sed -n 's/^host: //p')
# The sanitizer is not stable yet; the flag lets the stable compiler use it.
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=target/asan
export SX_MUTATIONS=${1:-50000}
# Threads of the pool live to the end, and so does what they keep.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
cargo test --target "$host" -p sx-tests --test system mutated -- --nocapture
