//! Programs as text, for people and for tests.

use std::fmt::Write;

use sx_artifact::program::{Launch, Program, Resource, Role, Step};

/// The program as text: its buffers, the bytes that intermediates share, and its steps in order.
pub fn print(program: &Program) -> String {
    let mut out = format!("program {}\n", program.graph);
    for resource in &program.resources {
        if !matches!(resource.role, Role::Scratch { .. }) {
            let _ = writeln!(out, "  {}", declared(resource));
        }
    }
    for (slot, bytes) in program.slots.iter().enumerate() {
        let _ = writeln!(out, "  slot {slot}: {bytes} bytes");
    }
    steps(program, &program.steps, 1, &mut out);
    let _ = writeln!(out, "  {} bytes", program.buffer_bytes());
    out
}

fn declared(resource: &Resource) -> String {
    let role = match &resource.role {
        Role::Input => "input",
        Role::Output => "output",
        Role::Param => "param",
        Role::State => "state",
        Role::Constant => "constant",
        Role::Scratch { .. } => "scratch",
        Role::Context => "context",
    };
    let domain = if resource.domain.is_empty() { String::new() } else { format!(" {}", resource.domain) };
    format!("{role} {} {:?} {}{domain}", resource.name, resource.shape, resource.dtype)
}

fn steps(program: &Program, list: &[Step], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for step in list {
        match step {
            Step::Launch(launch) => {
                let _ = writeln!(out, "{indent}{}", launched(program, launch));
            }
            Step::Copy { from, to } => {
                let _ = writeln!(out, "{indent}copy {} -> {}", named(program, *from), named(program, *to));
            }
            Step::Loop { count, body } => {
                let _ = writeln!(out, "{indent}loop {count}");
                steps(program, body, depth + 1, out);
            }
        }
    }
}

fn launched(program: &Program, launch: &Launch) -> String {
    let kernel = &program.kernels[launch.kernel as usize];
    let mut args = [Vec::new(), Vec::new()];
    for (arg, binding) in kernel.args.iter().zip(&launch.args) {
        let written = matches!(arg.mode, sx_artifact::kernel::Mode::Write);
        args[usize::from(written)].push(named(program, binding.resource));
    }
    let lines: Vec<String> = launch
        .origins
        .iter()
        .map(|origin| &program.origins[*origin as usize])
        .map(|origin| format!("{}:{}", origin.file, origin.line))
        .collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.dedup();
    format!("launch {} {} -> {} ; {}", kernel.name, args[0].join(" "), args[1].join(" "), lines.join(" "))
}

/// A resource by its name, an intermediate by its slot.
fn named(program: &Program, resource: u32) -> String {
    let resource = &program.resources[resource as usize];
    match &resource.role {
        Role::Scratch { slot } => format!("{}@{slot}", resource.name),
        _ => resource.name.clone(),
    }
}
