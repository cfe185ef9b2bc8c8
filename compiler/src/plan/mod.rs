//! Kernels to a program: buffers, an order, and memory that intermediates share.

pub mod interpret;
pub mod memory;
pub mod names;
pub mod text;

use crate::diag::{Sources, Span};
use crate::ir::{Graph, NodeId, Op, OriginId, Value, op};
use crate::kernel::group::Groups;
use crate::kernel::lower::Lowered;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use sx_artifact::kernel::Kernel;
use sx_artifact::program::{Binding, Encoding, Launch, Origin, Program, Resource, Role, Site, Step};
use sx_artifact::tensor::Tensor;

/// A program with the constants it needs stored, by resource name.
pub struct Planned {
    /// The program.
    pub program: Program,
    /// The values of the resources with [`Role::Constant`].
    pub constants: Vec<(String, Arc<Tensor>)>,
    /// For each resource of the program, the user's expression whose value it holds.
    pub resource_spans: Vec<Span>,
    /// For each origin of the program, its place.
    pub origin_spans: Vec<Span>,
}

impl Planned {
    /// The user's expression that the kernel at a position computes; where it computes several, the first.
    pub fn kernel_span(&self, kernel: usize) -> Option<Span> {
        let launches = self.program.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::Copy { .. } | Step::Loop { .. } => None,
        });
        let launch = launches.into_iter().find(|launch| launch.kernel as usize == kernel)?;
        launch.origins.first().and_then(|&origin| self.origin_spans.get(origin as usize)).copied()
    }
}

/// What a plan is made from.
pub struct Grouped<'a> {
    /// The graph that was grouped.
    pub graph: &'a Graph,
    /// The graph as it was traced: the domains of its outputs are what the artifact declares.
    pub traced: &'a Graph,
    /// The kernels.
    pub groups: &'a Groups<'a>,
    /// The library function that nodes of an origin stood in.
    pub names: &'a HashMap<OriginId, Arc<str>>,
}

/// The program of a grouped graph.
pub fn plan(grouped: &Grouped<'_>, sources: &Sources) -> Planned {
    let mut plan = Plan {
        graph: grouped.graph,
        sources,
        names: grouped.names,
        program: Program {
            graph: grouped.graph.name.clone(),
            resources: Vec::new(),
            kernels: Vec::new(),
            steps: Vec::new(),
            slots: Vec::new(),
            sites: Vec::new(),
            origins: Vec::new(),
        },
        constants: Vec::new(),
        resource_spans: Vec::new(),
        origin_spans: Vec::new(),
        resource_of: HashMap::new(),
        origin_of: HashMap::new(),
        kernel_of: HashMap::new(),
        taken: HashMap::new(),
    };
    plan.inputs();
    let copies = plan.outputs(grouped);
    let hollow = |lowered: &&Lowered| lowered.writes.iter().all(|&v| grouped.graph.ty(v).count() == 0);
    for lowered in grouped.groups.kernels.iter().filter(|lowered| !hollow(lowered)) {
        plan.launch(lowered);
    }
    for (from, to) in copies {
        let from = plan.resource_of[&from];
        if plan.program.resources[to as usize].shape.iter().product::<u64>() > 0 {
            plan.program.steps.push(Step::Copy { from, to });
        }
    }
    memory::share(&mut plan.program);
    let Plan { program, constants, resource_spans, origin_spans, .. } = plan;
    Planned { program, constants, resource_spans, origin_spans }
}

struct Plan<'a> {
    graph: &'a Graph,
    sources: &'a Sources,
    names: &'a HashMap<OriginId, Arc<str>>,
    program: Program,
    constants: Vec<(String, Arc<Tensor>)>,
    resource_spans: Vec<Span>,
    origin_spans: Vec<Span>,
    resource_of: HashMap<Value, u32>,
    origin_of: HashMap<(OriginId, String), u32>,
    /// The kernels there are: their names are left empty.
    kernel_of: HashMap<Kernel, u32>,
    /// The names of kernels, and the last number that was put after each.
    taken: HashMap<String, u32>,
}

impl Plan<'_> {
    fn add(&mut self, name: String, value: Value, role: Role) -> u32 {
        let ty = self.graph.ty(value);
        let declared = matches!(role, Role::Input | Role::Output);
        let resource = Resource {
            name,
            dtype: ty.dtype,
            shape: ty.shape(),
            domain: if declared { names::domain(ty) } else { String::new() },
            check: if matches!(role, Role::Input) { names::check(ty) } else { None },
            role,
            encoding: Encoding::Plain,
        };
        self.program.resources.push(resource);
        let origin = self.graph.node(value.node).origin;
        self.resource_spans.push(names::users_span(self.graph, origin, self.sources));
        self.program.resources.len() as u32 - 1
    }

    fn inputs(&mut self) {
        for &id in &self.graph.inputs {
            let Op::Input(input) = &self.graph.node(id).op else { unreachable!("inputs are input nodes") };
            let resource = self.add(input.name.clone(), id.into(), Role::Input);
            self.resource_of.insert(id.into(), resource);
        }
    }

    /// Makes the outputs' resources. Gives what must be copied: an output that is a view of something else,
    /// or that another output is already.
    fn outputs(&mut self, grouped: &Grouped<'_>) -> Vec<(Value, u32)> {
        let mut copies = Vec::new();
        let traced: HashMap<&str, Value> =
            grouped.traced.outputs.iter().map(|output| (output.name.as_str(), output.value)).collect();
        let computed: HashSet<Value> =
            grouped.groups.kernels.iter().flat_map(|kernel| &kernel.writes).copied().collect();
        for output in &self.graph.outputs {
            let resource = self.add(output.name.clone(), output.value, Role::Output);
            let declared =
                traced.get(output.name.as_str()).map(|&value| names::domain(grouped.traced.ty(value)));
            self.program.resources[resource as usize].domain = declared.unwrap_or_default();
            let stored = grouped.groups.storage(output.value);
            if computed.contains(&stored) && !self.resource_of.contains_key(&stored) {
                self.resource_of.insert(stored, resource);
            } else {
                self.resource(stored);
                copies.push((stored, resource));
            }
        }
        copies
    }

    /// The resource that holds `value`, made at first need.
    fn resource(&mut self, value: Value) -> u32 {
        if let Some(&known) = self.resource_of.get(&value) {
            return known;
        }
        let (name, role) = match &self.graph.node(value.node).op {
            Op::Param(param) => (param.name.clone(), Role::Param),
            Op::Context(op::Context::Step) => ("step".to_owned(), Role::Context),
            Op::Context(op::Context::Microbatch) => ("microbatch".to_owned(), Role::Context),
            Op::Constant(constant) => {
                let name = format!("{}.{}", self.graph.name, self.constants.len());
                self.constants.push((name.clone(), Arc::clone(&constant.value)));
                (name, Role::Constant)
            }
            _ => (format!("v{}", value.node.0), Role::Scratch { slot: 0 }),
        };
        let resource = self.add(name, value, role);
        self.resource_of.insert(value, resource);
        resource
    }

    fn launch(&mut self, lowered: &Lowered) {
        let values = lowered.reads.iter().chain(&lowered.writes);
        let args = values.map(|&value| Binding { resource: self.resource(value) }).collect();
        let sites = lowered.traps.iter().map(|trap| self.site(trap)).collect();
        let mut origins: Vec<u32> = lowered.nodes.iter().filter_map(|&id| self.origin(id)).collect();
        origins.sort_unstable();
        origins.dedup();
        let kernel = self.kernel(lowered);
        self.program.steps.push(Step::Launch(Launch { kernel, args, sites, origins }));
    }

    /// The position of the kernel, shared with every launch that computes the same.
    fn kernel(&mut self, lowered: &Lowered) -> u32 {
        if let Some(&known) = self.kernel_of.get(&lowered.kernel) {
            return known;
        }
        let base = names::kernel(self.graph, lowered, self.names);
        let mut name = base.clone();
        while self.taken.contains_key(&name) {
            let count = self.taken.entry(base.clone()).or_insert(1);
            *count += 1;
            name = format!("{base}_{count}");
        }
        self.taken.insert(name.clone(), 1);
        let position = self.program.kernels.len() as u32;
        self.program.kernels.push(Kernel { name, ..lowered.kernel.clone() });
        self.kernel_of.insert(lowered.kernel.clone(), position);
        position
    }

    fn site(&mut self, trap: &crate::kernel::lower::FinishedTrap) -> u32 {
        let node = self.graph.node(trap.node);
        let site = Site {
            operation: crate::ops::rules(&node.op).about().name.to_owned(),
            operand: names::operand(self.graph, trap.operand),
            size: trap.size,
            dims: trap.dims.clone(),
            at: trap.position.clone(),
            origin: self.origin(trap.node).unwrap_or(0),
        };
        self.program.sites.push(site);
        self.program.sites.len() as u32 - 1
    }

    /// The source line of a node: the outermost call, which is the user's.
    fn origin(&mut self, id: NodeId) -> Option<u32> {
        let node = self.graph.node(id);
        if matches!(node.op, Op::Input(_) | Op::Param(_) | Op::Constant(_) | Op::Broadcast(_)) {
            return None;
        }
        let operation = crate::ops::rules(&node.op).about().name.to_owned();
        let key = (node.origin, operation);
        if let Some(&known) = self.origin_of.get(&key) {
            return Some(known);
        }
        let span = names::users_span(self.graph, node.origin, self.sources);
        let position = self.sources.position(span.file, span.start);
        self.program.origins.push(Origin {
            operation: key.1.clone(),
            file: self.sources.label(span.file),
            line: position.line,
            column: position.column,
        });
        self.origin_spans.push(span);
        let at = self.program.origins.len() as u32 - 1;
        self.origin_of.insert(key, at);
        Some(at)
    }
}
