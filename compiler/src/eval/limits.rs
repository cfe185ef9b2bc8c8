//! Limits: how much an evaluation may do, in steps, and how deeply it may nest.
//!
//! A step is a form that is evaluated or a turn of a loop. What else takes time or memory (elements that are copied,
//! nodes, the code that a macro gives) is counted in steps too, so that the one limit bounds both.

use super::machine::{Eval, Machine, Stop};
use super::value::Value;
use crate::diag::{Code, Diagnostic, Severity, Span};

/// How many errors end a run.
const MAX_ERRORS: usize = 100;
/// How many copied elements are a step.
const ELEMENTS: u64 = 2;
/// How many parts of a value that are walked are a step.
const PARTS: u64 = 4;
/// How many characters of text are a part of a value.
const CHARACTERS: u64 = 16;
/// How many steps a node of a graph is.
const NODE: u64 = 4;

impl Machine<'_> {
    /// Counts a step and a level of nesting, which [`Machine::leave`] ends, against the limits.
    pub(super) fn enter(&mut self, span: Span) -> Eval<()> {
        self.steps += 1;
        if self.steps > self.options.max_steps {
            if self.steps == self.options.max_steps + 1 {
                let limit = self.options.max_steps;
                let message = format!("the program takes more than {limit} steps");
                self.report(Diagnostic::new(Code::EvalSteps, span, message).help(
                    "end the loop, recursion or macro that never ends, or compute less while the program is compiled",
                ));
            }
            return Err(Stop::Limit);
        }
        if self.depth >= self.options.max_depth {
            let limit = self.options.max_depth;
            let message = format!("expressions and calls nest more than {limit} deep");
            self.report(
                Diagnostic::new(Code::EvalDepth, span, message)
                    .help("end the recursion or macro that never ends, or use a loop"),
            );
            return Err(Stop::Limit);
        }
        self.depth += 1;
        Ok(())
    }

    /// Ends a level of nesting.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts steps that are taken without a form being evaluated.
    pub(super) fn spend(&mut self, steps: u64, span: Span) -> Eval<()> {
        self.count(steps.saturating_sub(1));
        self.enter(span)?;
        self.leave();
        Ok(())
    }

    /// Counts steps; whoever takes the next one is told, should there be none left.
    fn count(&mut self, steps: u64) {
        if self.steps < self.options.max_steps {
            self.steps = self.steps.saturating_add(steps).min(self.options.max_steps);
        }
    }

    /// Counts the elements that are about to be copied, so that lists take memory within the limit of steps.
    pub(super) fn copied(&mut self, elements: usize, span: Span) -> Eval<()> {
        match elements as u64 / ELEMENTS {
            0 => Ok(()),
            steps => self.spend(steps, span),
        }
    }

    /// Counts a node that is about to be made.
    pub(super) fn count_node(&mut self) {
        self.count(NODE);
    }

    /// Counts the parts of a value as steps, and its nesting against the limit: for what walks a value.
    pub(super) fn measure(&mut self, value: &Value, span: Span) -> Eval<()> {
        let parts = self.parts(value, span)?;
        self.spend(parts / PARTS, span)
    }

    /// How many parts a value has, one that is shared counted each time. Ends the run where there are more than
    /// steps left, or where they nest too deeply to be walked.
    pub(super) fn parts(&mut self, value: &Value, span: Span) -> Eval<u64> {
        let mut waiting: Vec<(&Value, usize)> = vec![(value, 0)];
        let mut parts = 0;
        let most = self.options.max_steps.saturating_sub(self.steps);
        while let Some((value, depth)) = waiting.pop() {
            parts += 1;
            if parts > most {
                self.spend(parts, span)?;
            }
            if depth + self.depth > self.options.max_depth {
                let limit = self.options.max_depth;
                let message = format!("a value nests more than {limit} deep, and cannot be walked");
                self.report(
                    Diagnostic::new(Code::EvalDepth, span, message)
                        .help("end the loop or recursion that puts it into itself again and again"),
                );
                return Err(Stop::Limit);
            }
            match value {
                Value::Record(fields) => waiting.extend(fields.iter().map(|(_, value)| (value, depth + 1))),
                Value::Values(values) => waiting.extend(values.iter().map(|value| (value, depth + 1))),
                Value::Str(text) => parts += text.len() as u64 / CHARACTERS,
                other => waiting.extend(other.items().unwrap_or(&[]).iter().map(|value| (value, depth + 1))),
            }
        }
        Ok(parts)
    }

    /// True once the step limit is reached or there are too many errors to go on.
    pub(super) fn exhausted(&self) -> bool {
        self.steps > self.options.max_steps || self.sink.count(Severity::Error) >= MAX_ERRORS
    }
}
