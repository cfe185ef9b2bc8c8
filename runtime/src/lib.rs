//! The runtime library: artifact to answers.
//!
//! A [`Model`] is an open artifact, a device comes from [`device::select`], and a [`Session`] is one graph of
//! the model on one device. Calls take and give [`Tensor`]s.
//!
//! ```
//! # // An artifact with the graph `double`, as `sxc build` would make it.
//! # let program: sx_artifact::program::Program = serde_json::from_str(r#"{ "graph": "double",
//! #   "resources": [{ "name": "x", "dtype": "f32", "shape": [3], "role": "input", "encoding": "plain" },
//! #                 { "name": "out", "dtype": "f32", "shape": [3], "role": "output", "encoding": "plain" }],
//! #   "kernels": [{ "name": "add", "traps": 0,
//! #     "args": [{ "dtype": "f32", "len": 3, "mode": "read" }, { "dtype": "f32", "len": 3, "mode": "write" }],
//! #     "work": { "loop": { "dims": [3], "along": [],
//! #       "body": [{ "load": { "access": { "arg": 0, "at": { "offset": 0, "strides": [1] } } } },
//! #                { "call": { "f": "add", "args": [0, 0] } }],
//! #       "stores": [{ "value": 1, "access": { "arg": 1, "at": { "offset": 0, "strides": [1] } } }] } } }],
//! #   "steps": [{ "launch": { "kernel": 0, "args": [{ "resource": 0 }, { "resource": 1 }], "origins": [] } }],
//! #   "slots": [], "sites": [], "origins": [] }"#)?;
//! # let bytes = sx_artifact::write::to_bytes(&sx_artifact::write::Contents {
//! #     compiler: "sxc".into(), targets: vec!["cpu".into()], params: vec![], constants: vec![], entries: vec![],
//! #     graphs: vec![sx_artifact::write::Graph { program: &program, memory: vec![] }],
//! # })?;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("double.sxa");
//! # std::fs::write(&path, bytes)?;
//! use sx_runtime::{Model, Session, Tensor, device};
//!
//! let model = Model::open(path)?;
//! let device = device::select("cpu", model.targets())?.device;
//! let mut double = Session::new(&model, "double", &*device)?;
//! let outputs = double.run(&[("x", Tensor::new(&[3], vec![1.0f32, 2.5, -3.0].into()))])?;
//! assert_eq!(outputs["out"], Tensor::new(&[3], vec![2.0f32, 5.0, -6.0].into()));
//!
//! // What does not fit is refused by name, before anything runs.
//! let short = Tensor::new(&[2], vec![1.0f32, 2.5].into());
//! let message = double.run(&[("x", short)]).unwrap_err().to_string();
//! assert_eq!(message, "input `x` takes the shape [3] and is given [2]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read in this order: [`error`], [`model`], [`session`], [`cost`], [`device`].

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
