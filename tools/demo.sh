#!/usr/bin/env bash
# The sentence encoder from source to answer: one artifact, then the same ranking from the CPU and from Vulkan.
# Run it through `make demo`, which sets the environment up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "building sx; the first time this takes minutes"
cargo build --release -p sx-compiler -p sx-runtime -p sx-example-minilm --bins --features sx-runtime/cli
bin=${CARGO_TARGET_DIR:-target}/release
artifact=.cache/minilm.sxa

echo "sxc build examples/minilm/minilm.sx"
"$bin/sxc" build examples/minilm/minilm.sx -o "$artifact" \
    --weights "$SX_MINILM/model.safetensors" --dim b=8 --dim t=32
for device in cpu wgpu; do
    echo
    echo "ranking on $device"
    "$bin/minilm" "$artifact" "$SX_MINILM/tokenizer.json" --device "$device"
done
