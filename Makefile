# The front door. `make demo` and `make test` work in a clean clone on Debian with cargo, python3 and root.
SHELL := /bin/bash
ENV := . tools/env.sh &&

.PHONY: demo test test-all bless bench lint docs build-tests setup

## demo: compile the sentence encoder, rank sentences on the CPU and on Vulkan
demo: setup
	$(ENV) tools/demo.sh

## test: everything; devices that are absent are skipped with a note
test: build-tests
	$(ENV) cargo test --workspace --quiet

## test-all: the long run of random programs; it ends within hours, resumes, and writes tests/test-all.json
test-all: setup
	tools/test-all.sh

## bless: accept what the tests find as what they should find; read the difference like code
bless: build-tests
	$(ENV) SX_BLESS=1 INSTA_UPDATE=always cargo test --workspace --quiet --test system

## bench: sx against its peers and the machine's own ceilings; results in bench/results/
bench:
	tools/setup.sh bench
	$(ENV) .venv-bench/bin/python bench/run.py

## lint: formatting, clippy and the crates' pages, with warnings as errors
lint: docs
	cargo fmt --all --check
	@# Their modules are declared by a macro, so cargo fmt does not find them.
	rustfmt --check compiler/src/ops/scalar/*.rs
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy -p sx-tests --test long --quiet -- -D warnings

## docs: the crates' pages, in target/doc/
docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# With cargo's progress: the first build takes minutes.
build-tests: setup
	$(ENV) cargo test --workspace --no-run

setup:
	tools/setup.sh
