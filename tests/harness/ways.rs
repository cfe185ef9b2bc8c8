//! One program on every way of running it, compared with the reference.

use crate::bounds::{self, Bounded};
use crate::close::Leeway;
use crate::compiled;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use sx_artifact::tensor::Tensor;
use sx_compiler::ir::Graph;
use sx_compiler::ops::Trap;
use sx_runtime::device::Device;

/// A way to run a program.
#[derive(Clone, Copy)]
pub enum Way<'d> {
    /// Its kernels by their interpreter.
    Kernels,
    /// A device.
    On(&'d dyn Device),
}

impl Way<'_> {
    /// What it is called in messages.
    pub fn name(&self) -> String {
        match self {
            Way::Kernels => "kernels".to_owned(),
            Way::On(device) => device.name().to_owned(),
        }
    }

    fn leeway(&self) -> Leeway {
        match self {
            Way::On(device) if device.name() != "cpu" => Leeway::WGPU,
            _ => Leeway::NONE,
        }
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A panic.
    Panic,
    /// An answer where the reference has a trap, a trap where it has an answer, a refusal.
    Refusal,
    /// Another answer.
    Answer,
}

/// A program that gives something else than the reference.
#[derive(Clone, Debug)]
pub struct Failure {
    /// On which way.
    pub way: String,
    /// What is wrong.
    pub wrong: Wrong,
    /// In words.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.way, self.why)
    }
}

/// Runs `graph` on `ways`: how many elements were compared, of how many, or the first failure.
pub fn compare(graph: &Graph, inputs: &[Tensor], ways: &[Way<'_>]) -> Result<(u64, u64), Failure> {
    let mut compared = (0, 0);
    for way in ways {
        let want = bounds::outputs(graph, inputs, way.leeway());
        let fail = |(wrong, why)| Failure { way: way.name(), wrong, why };
        let got = caught(|| match way {
            Way::Kernels => compiled::interpreted(graph, inputs),
            Way::On(device) => compiled::on_device(*device, graph, inputs),
        });
        let got = got.map_err(|message| fail((Wrong::Panic, message)))?;
        judge(graph, &want, &got, way.leeway()).map_err(fail)?;
        if let Ok(want) = &want {
            let (known, all) = bounds::compared(want);
            compared = (compared.0 + known, compared.1 + all);
        }
    }
    Ok(compared)
}

fn judge(
    graph: &Graph,
    want: &Result<Vec<Bounded>, Trap>,
    got: &Result<Vec<Tensor>, String>,
    leeway: Leeway,
) -> Result<(), (Wrong, String)> {
    match (want, got) {
        (Err(_), Err(_)) => Ok(()),
        (Err(trap), Ok(_)) => Err((Wrong::Refusal, format!("no trap, but the reference has {trap:?}"))),
        (Ok(_), Err(error)) => Err((Wrong::Refusal, error.clone())),
        (Ok(want), Ok(got)) => {
            for ((want, got), output) in want.iter().zip(got).zip(&graph.outputs) {
                if let Some(far) = bounds::difference(want, got, leeway) {
                    return Err((Wrong::Answer, format!("output `{}`: {far}", output.name)));
                }
            }
            Ok(())
        }
    }
}

thread_local! {
    /// The message of a panic that is being caught, and none where panics are not.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The result of `f`, or the message of its panic, which is not printed.
pub fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            let quiet = MESSAGE.with(|message| match &mut *message.borrow_mut() {
                Some(message) => {
                    *message = info.to_string();
                    true
                }
                None => false,
            });
            if !quiet {
                usual(info);
            }
        }));
    });
    MESSAGE.with(|message| *message.borrow_mut() = Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(f));
    let message = MESSAGE.with(|message| message.borrow_mut().take());
    result.map_err(|_| message.unwrap_or_default())
}
