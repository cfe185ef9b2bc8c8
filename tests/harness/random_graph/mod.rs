//! Random programs in which fusion can go wrong: every kind of kernel over every layout of its operands.
//!
//! A seed names a program and its inputs. Seeds that follow one another go through the table of kinds and features
//! ([`cell`]); `coverage` counts what the programs hold.

mod attend;
pub mod coverage;
pub mod feature;
mod maker;
mod operand;
mod site;

use crate::inputs;
use feature::{Feature, Kind};
use maker::Maker;
use site::Site;
use sx_artifact::tensor::Tensor;
use sx_compiler::ir::{Graph, Op, Output, Value};

/// A graph with the inputs to run it on.
pub struct Case {
    /// Its number.
    pub seed: u64,
    /// The graph.
    pub graph: Graph,
    /// One for each input, in order.
    pub inputs: Vec<Tensor>,
}

/// The fewest nodes of a program.
const FEWEST: usize = 8;

/// The kind and the feature that the program of a seed is made for.
pub fn cell(seed: u64) -> (Kind, Feature) {
    let at = seed as usize % (Kind::ALL.len() * Feature::ALL.len());
    (Kind::ALL[at % Kind::ALL.len()], Feature::ALL[at / Kind::ALL.len()])
}

/// The program of a seed.
pub fn case(seed: u64) -> Case {
    let sizes: &[u64] = match seed % 17 {
        3 => &[0, 1, 2, 3],
        7 => &[1, 5, 7, 11, 13],
        11 => &[1, 2, 3, 17, 130, 1030],
        _ => &[1, 2, 3, 4, 5, 6, 8],
    };
    let mut maker = Maker::new(seed, sizes);
    if seed % 17 == 11 {
        // Beyond what a device computes at a time.
        (maker.limit, maker.depth) = (8192, 1);
    }
    let (kind, feature) = cell(seed);
    maker.site(Site { kind, feature });
    let more = 1 + maker.random.below(4);
    let mut made = 1;
    while made <= more || maker.graph.nodes().len() < FEWEST {
        let site = Site { kind: maker.pick(&Kind::ALL), feature: maker.pick(&Feature::ALL) };
        maker.site(site);
        made += 1;
    }
    give(&mut maker);
    let inputs = inputs::values(&maker.graph, seed);
    Case { seed, graph: maker.graph, inputs }
}

/// Makes outputs of all that nothing else uses.
fn give(maker: &mut Maker) {
    let uses = maker.graph.uses();
    let unused = |value: &Value| uses[value.node.0 as usize] == 0;
    let last = |id| !matches!(maker.graph.node(id).op, Op::Input(_));
    let values: Vec<Value> =
        maker.graph.ids().filter(|&id| last(id)).map(Value::from).filter(unused).collect();
    for value in values {
        let name = format!("out{}", maker.graph.outputs.len());
        maker.graph.outputs.push(Output { name, value });
    }
}
