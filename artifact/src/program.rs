//! A program: what a runtime executes for one graph. Buffers, kernels, and launches in order.

use crate::dtype::DType;
use crate::kernel::{Affine, Kernel};
use serde::{Deserialize, Serialize};

/// What a buffer is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Filled from the caller's tensor before the call.
    Input,
    /// Read back to the caller after the call.
    Output,
    /// A learned value of the artifact, by name.
    Param,
    /// A value that outlives the call, by name.
    State,
    /// A value folded at build time: entry `constants/NAME` of the artifact.
    Constant,
    /// An intermediate, in a slot of the memory plan.
    Scratch {
        /// Position in [`Program::slots`].
        slot: u32,
    },
    /// An integer scalar that the runtime feeds: `step` or `microbatch`.
    Context,
}

/// How elements lie in a buffer, apart from their dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Row-major, `dtype.size()` bytes an element, padded to whole 32-bit words.
    Plain,
}

/// What values an input may hold, checked when data is loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Every element in an interval; an open end excludes it. Infinite ends are `null` in JSON.
    Range {
        /// The lower end, or none.
        low: Option<f64>,
        /// The upper end, or none.
        high: Option<f64>,
        /// Whether `low` itself is excluded.
        low_open: bool,
        /// Whether `high` itself is excluded.
        high_open: bool,
    },
    /// Every integer element in `0..size`.
    Index {
        /// The size of the axis that is indexed.
        size: u64,
    },
    /// Every element 0 or 1.
    Binary,
    /// Every element 0 or -inf.
    Additive,
    /// Elements in [0, 1] that sum to 1 along an axis, within 1e-3 (and what bf16 rounds).
    Prob {
        /// The axis.
        over: u32,
    },
}

/// A buffer of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// The name: unique among inputs, among outputs, among parameters, …
    pub name: String,
    /// How elements are stored.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<u64>,
    /// What it is for.
    pub role: Role,
    /// How elements lie.
    pub encoding: Encoding,
    /// The declared domain as messages print it, such as `Prob over C` (inputs and outputs); `Real` is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// What is checked of an input's values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

/// Bytes of a buffer with `count` elements of `dtype`: whole 32-bit words, at least one.
pub fn buffer_bytes(dtype: DType, count: u64) -> u64 {
    (count * dtype.size() as u64).next_multiple_of(4).max(4)
}

impl Resource {
    /// How many elements it has.
    pub fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Bytes of its buffer.
    pub fn bytes(&self) -> u64 {
        buffer_bytes(self.dtype, self.count())
    }
}

/// A resource bound to a kernel's argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Position in [`Program::resources`].
    pub resource: u32,
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Run a kernel once.
    Launch(Launch),
    /// Copy a whole resource onto another of the same dtype and count.
    Copy {
        /// The source.
        from: u32,
        /// The destination.
        to: u32,
    },
    /// Run the body `count` times.
    Loop {
        /// How many times.
        count: u64,
        /// The steps.
        body: Vec<Step>,
    },
}

/// A kernel with its buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Position in [`Program::kernels`].
    pub kernel: u32,
    /// One for each of the kernel's arguments.
    pub args: Vec<Binding>,
    /// For each of the kernel's traps, its position in [`Program::sites`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<u32>,
    /// The source lines it came from: positions in [`Program::origins`].
    pub origins: Vec<u32>,
}

/// A place where a launch may trap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The operation, as the user calls it: `index`, `gather`, ….
    pub operation: String,
    /// What is checked, for the message: the operand as the user wrote it, or the guard's name.
    pub operand: String,
    /// The size of the axis that is indexed.
    pub size: u64,
    /// The sizes of the coordinates over which a trap's position counts, row-major.
    pub dims: Vec<u64>,
    /// The flat position in the index operand, over those coordinates.
    pub at: Affine,
    /// Position in [`Program::origins`].
    pub origin: u32,
}

impl Site {
    /// The flat position in the index operand of a trap at a position of the kernel's coordinates.
    pub fn operand_position(&self, position: u64) -> u64 {
        self.placed(position, |_| true)
    }

    /// The same, of a position that counts only over the coordinates that the index depends on.
    pub fn operand_position_of_own(&self, position: u64) -> u64 {
        self.placed(position, |stride| stride != 0)
    }

    fn placed(&self, mut position: u64, counts: impl Fn(i64) -> bool) -> u64 {
        let mut found = self.at.offset;
        for (&size, &stride) in self.dims.iter().zip(&self.at.strides).rev().filter(|it| counts(*it.1)) {
            found += (position % size.max(1)) as i64 * stride;
            position /= size.max(1);
        }
        found.max(0) as u64
    }
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The operation, as printed graphs name it.
    pub operation: String,
    /// File name as given to the compiler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// What a runtime executes for one graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The graph's name.
    pub graph: String,
    /// The buffers. Inputs come in declaration order, so do outputs.
    pub resources: Vec<Resource>,
    /// The kernels, each distinct computation once.
    pub kernels: Vec<Kernel>,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// Sizes in bytes of the buffers that intermediates share.
    pub slots: Vec<u64>,
    /// Where launches may trap.
    pub sites: Vec<Site>,
    /// The debug table.
    pub origins: Vec<Origin>,
}

impl Program {
    /// Bytes of all buffers while the program runs: intermediates, inputs, outputs, parameters, constants.
    pub fn buffer_bytes(&self) -> u64 {
        let own = |r: &&Resource| !matches!(r.role, Role::Scratch { .. });
        self.slots.iter().sum::<u64>() + self.resources.iter().filter(own).map(Resource::bytes).sum::<u64>()
    }

    /// Launches of the program, each written one counted once however often it runs.
    pub fn launches(&self) -> u64 {
        launches(&self.steps)
    }
}

/// Launches in `steps`, each written one counted once however often it runs.
pub fn launches(steps: &[Step]) -> u64 {
    let of = |step: &Step| match step {
        Step::Launch(_) => 1,
        Step::Copy { .. } => 0,
        Step::Loop { body, .. } => launches(body),
    };
    steps.iter().map(of).sum()
}
