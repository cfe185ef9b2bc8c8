# Source this (`. tools/env.sh`): the software Vulkan drivers that tools/setup.sh brings, and caches that last.
#
# Both drivers are offered at once: `--device llvmpipe` and `--device swiftshader` choose. A machine's own GPU is
# left out, so that results do not depend on it; unset VK_DRIVER_FILES to use it.
sx_root=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)

# lavapipe's file is named after the architecture on some releases.
for sx_icd in /usr/share/vulkan/icd.d/lvp_icd*.json; do
    [ -e "$sx_icd" ] && export SX_LAVAPIPE_ICD="$sx_icd"
done
sx_icd=$sx_root/.cache/swiftshader/vk_swiftshader_icd.json
[ -e "$sx_icd" ] && export SX_SWIFTSHADER_ICD="$sx_icd"
sx_icd=${SX_LAVAPIPE_ICD:-}${SX_LAVAPIPE_ICD:+${SX_SWIFTSHADER_ICD:+:}}${SX_SWIFTSHADER_ICD:-}
[ -z "$sx_icd" ] || export VK_DRIVER_FILES="$sx_icd"

# Mesa warns without the first, and recompiles every shader in every process without the second.
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$sx_root/.cache/run}"
export MESA_SHADER_CACHE_DIR="$sx_root/.cache/mesa"
mkdir -p "$MESA_SHADER_CACHE_DIR"
[ -d "$XDG_RUNTIME_DIR" ] || mkdir -m 700 "$XDG_RUNTIME_DIR"

# NumPy for the scripts that make expected values, and the sentence encoder's weights and tokenizer.
export SX_PYTHON="$sx_root/.venv/bin/python"
export SX_MINILM="$sx_root/.cache/minilm"
unset sx_icd sx_root
