//! The whole system, one module a subject. They are one program because each program links the compiler, the
//! runtime and wgpu anew; `cargo test -p sx-tests --test system ops::` runs one subject.

mod domains;
mod examples;
mod faults;
mod fusion;
mod laws;
mod layers;
mod library;
mod maths;
mod minilm;
mod mutated;
mod ops;
mod pages;
mod passes;
mod programs;
mod random;
mod recipe;
mod roundtrip;
mod sessions;
mod snapshot;
mod stages;
mod text;
mod traps;
mod ui;
