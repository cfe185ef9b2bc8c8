//! The compiler: S-expression tensor programs to artifacts.
//!
//! Text flows one way: `syntax` reads trees, `eval` traces them into graphs (`ir`) whose nodes mean what
//! `ops` and `reference` say, `passes` rewrite graphs, `kernel` groups nodes into loops, `plan` gives them
//! buffers and an order, `codegen` spells them for each target, and `pipeline` is the road itself.
//! `driver` alone reads and writes files. ARCHITECTURE.md has the map and who may use whom.

pub mod codegen;
pub mod diag;
pub mod syntax;

pub mod ir;
pub mod ops;
pub mod reference;

pub mod eval;
pub mod kernel;
pub mod passes;
pub mod pipeline;
pub mod plan;

pub mod compile;
pub mod fits;

pub mod cli;
pub mod driver;
pub mod failure;
