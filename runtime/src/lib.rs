//! The runtime library: artifact to answers.
//!
//! A program that embeds it has one line in its `Cargo.toml`, for the crate is not on crates.io:
//!
//! ```toml
//! [dependencies]
//! sx-runtime = { path = "sx/runtime" } # or { git = "…" }, where the repository is
//! ```
//!
//! It needs neither the compiler nor a feature to be named: `cpu` and `wgpu` (Vulkan, Metal or DirectX 12) are on. With
//! `default-features = false, features = ["cpu"]` a first build takes a fraction of the time. A program that makes or reads `bf16` elements one by one has `half = "2.7"` beside it, whose `bf16` they are.
//!
//! A [`Model`] is an open artifact, a device comes from [`fn@device::select`], and a [`Session`] is one graph of
//! the model on one device. Calls take and give [`Tensor`]s.
//!
//! ```
//! # // An artifact with the graph `double`, as `sxc build` would make it.
//! # let program: sx_artifact::program::Program = serde_json::from_str(r#"{ "graph": "double",
//! #   "resources": [{ "name": "x", "dtype": "f32", "shape": [3], "role": "input", "encoding": "plain" },
//! #                 { "name": "out", "dtype": "f32", "shape": [3], "role": "output", "encoding": "plain" }],
//! #   "kernels": [{ "name": "add", "traps": 0,
//! #     "args": [{ "dtype": "f32", "len": 3, "mode": "read" }, { "dtype": "f32", "len": 3, "mode": "write" }],
//! #     "kind": { "loop": { "dims": [3], "along": [],
//! #       "body": [{ "load": { "access": { "arg": 0, "at": { "offset": 0, "strides": [1] } } } },
//! #                { "call": { "f": "add", "args": [0, 0] } }],
//! #       "stores": [{ "value": 1, "access": { "arg": 1, "at": { "offset": 0, "strides": [1] } } }] } } }],
//! #   "steps": [{ "launch": { "kernel": 0, "args": [{ "resource": 0 }, { "resource": 1 }], "origins": [] } }],
//! #   "slots": [], "sites": [], "origins": [] }"#)?;
//! # let contents = sx_artifact::write::Contents {
//! #     compiler: "sxc".into(), targets: vec![sx_artifact::code::Target::Cpu], params: vec![], constants: vec![], entries: vec![],
//! #     graphs: vec![sx_artifact::write::Graph { program: &program, memory: vec![] }],
//! # };
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("double.sxa");
//! # sx_files::artifact::write_with_weights(&path, &contents)?;
//! # let weights = folder.path().join("elsewhere.weights");
//! # std::fs::rename(folder.path().join("double.weights"), &weights)?;
//! use sx_runtime::{Data, Model, Session, Tensor, device};
//!
//! // `Model::open(path)` finds `double.weights` beside `double.sxa`, where `sxc build --external-weights` wrote it;
//! // a file that lies elsewhere is named. Without that option the artifact holds its weights itself.
//! let model = Model::open_with_weights(path, Some(&weights))?;
//! let device = device::select("cpu", model.targets())?.device;
//! let mut double = Session::new(&model, "double", &*device)?;
//! let outputs = double.run(&[("x", Tensor::new(&[3], vec![1.0f32, 2.5, -3.0].into()))])?;
//! assert_eq!(outputs["out"], Tensor::new(&[3], vec![2.0f32, 5.0, -6.0].into()));
//!
//! // The elements are typed by the dtype, row-major.
//! match outputs["out"].data() {
//!     Data::F32(values) => assert_eq!(values.iter().sum::<f32>(), 1.0),
//!     Data::Bf16(values) => println!("the first is {:?}", values.first().map(|x| x.to_f32())),
//!     Data::I32(values) => println!("the first is {:?}", values.first()),
//!     Data::I64(values) => println!("the first is {:?}", values.first()),
//!     Data::Bool(values) => println!("the first is {:?}", values.first()),
//! }
//!
//! // What does not fit is refused by name, before anything runs.
//! let short = Tensor::new(&[2], vec![1.0f32, 2.5].into());
//! let message = double.run(&[("x", short)]).unwrap_err().to_string();
//! assert_eq!(message, "input `x` takes the shape [3] and is given [2]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read in this order: [`error`], [`model`], [`session`], [`cost`], [`device`].

/// The page about embedding, whose programs are compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
pub struct Embedding;

pub mod cost;
pub mod device;
pub mod error;
pub mod model;
pub mod session;

pub use error::Error;
pub use model::Model;
pub use session::{Outputs, Session};
pub use sx_artifact::dtype::DType;
pub use sx_artifact::tensor::{Data, Tensor};
