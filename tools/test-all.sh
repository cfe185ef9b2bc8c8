#!/usr/bin/env bash
# The long run: 20,000 random programs on the reference, the interpreter of kernels and the CPU, 300 on each Vulkan
# driver, and 50,000 programs changed as an attacker would. It resumes where it stopped, and writes its result to
# tests/test-all.json.
#
#   tools/test-all.sh                                                everything
#   tools/test-all.sh --programs 2000 --driven 20 --mutations 1000   less of it; the result is not written
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/env.sh

SX_REQUIRE=${SX_REQUIRE-wgpu} cargo test --quiet -p sx-tests --test long -- "$@"
