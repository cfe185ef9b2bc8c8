//! Names in force around an expression. What a file defines or imports is in `module`.
//!
//! An environment is a tree over the hashes of its names, sixteen ways at each step. Adding a name copies the path to
//! it and shares the rest, so environments may be kept by closures, and neither adding nor looking up gets slow however
//! many names there are.

use super::bury::{Buried, bury};
use super::value::{Name, Slot, Value};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

/// The names in force; none at the top of a file.
#[derive(Clone, Default)]
pub(super) struct Env(Option<Rc<Node>>);

#[derive(Clone)]
enum Node {
    /// The names of one hash.
    Leaf { hash: u64, variables: Vec<Variable> },
    /// For each bit of the mask a node, of the names whose next four bits of hash are that bit's number.
    Branch { mask: u16, children: Vec<Rc<Node>> },
}

#[derive(Clone)]
struct Variable {
    name: Name,
    slot: Option<Slot>,
}

/// However deeply closures hold environments that hold closures, dropping them takes no stack.
impl Drop for Variable {
    fn drop(&mut self) {
        bury(self.slot.take().into_iter().map(Buried::Slot));
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// The bit of a branch that a hash belongs to, `shift` bits in.
fn bit(hash: u64, shift: u32) -> u16 {
    1 << (hash >> shift & 15)
}

/// How many children stand before a bit's.
fn place(mask: u16, bit: u16) -> usize {
    (mask & (bit - 1)).count_ones() as usize
}

impl Node {
    fn with(&self, shift: u32, hash: u64, variable: Variable) -> Node {
        match self {
            Node::Leaf { hash: own, variables } if *own == hash => {
                let others = variables.iter().filter(|other| other.name != variable.name);
                let mut variables: Vec<Variable> = others.cloned().collect();
                variables.push(variable);
                Node::Leaf { hash, variables }
            }
            Node::Leaf { hash: own, .. } => {
                let branch = Node::Branch { mask: bit(*own, shift), children: vec![Rc::new(self.clone())] };
                branch.with(shift, hash, variable)
            }
            Node::Branch { mask, children } => {
                let bit = bit(hash, shift);
                let at = place(*mask, bit);
                let mut children = children.clone();
                if mask & bit == 0 {
                    children.insert(at, Rc::new(Node::Leaf { hash, variables: vec![variable] }));
                } else {
                    children[at] = Rc::new(children[at].with(shift + 4, hash, variable));
                }
                Node::Branch { mask: mask | bit, children }
            }
        }
    }
}

impl Env {
    /// These variables in front of `self`; of equal names the last wins.
    pub(super) fn with(&self, names: Vec<(Name, Value)>) -> Env {
        let mut env = self.clone();
        for (name, value) in names {
            let hash = hash(&name);
            let variable = Variable { name, slot: Some(Rc::new(RefCell::new(value))) };
            env = Env(Some(Rc::new(match &env.0 {
                Some(node) => node.with(0, hash, variable),
                None => Node::Leaf { hash, variables: vec![variable] },
            })));
        }
        env
    }

    /// Where `name` is held, if it is in force.
    pub(super) fn slot(&self, name: &str) -> Option<Slot> {
        let wanted = hash(name);
        let mut node = self.0.as_deref()?;
        let mut shift = 0;
        loop {
            match node {
                Node::Leaf { variables, .. } => {
                    let found = variables.iter().find(|variable| *variable.name == *name);
                    return found?.slot.clone();
                }
                Node::Branch { mask, children } => {
                    let bit = bit(wanted, shift);
                    if mask & bit == 0 {
                        return None;
                    }
                    node = &children[place(*mask, bit)];
                    shift += 4;
                }
            }
        }
    }

    /// Every name in force, for suggestions.
    pub(super) fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        let mut waiting: Vec<&Node> = self.0.as_deref().into_iter().collect();
        while let Some(node) = waiting.pop() {
            match node {
                Node::Leaf { variables, .. } => names.extend(variables.iter().map(|v| v.name.clone())),
                Node::Branch { children, .. } => waiting.extend(children.iter().map(|child| &**child)),
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_environment_keeps_the_names_it_had() {
        let value = |env: &Env, name: &str| env.slot(name).map(|slot| slot.borrow().to_string());
        let mut kept = Vec::new();
        let mut env = Env::default();
        for i in 0..1000 {
            kept.push(env.clone());
            let name: Name = format!("v{}", i % 700).into();
            env = env.with(vec![(name.clone(), Value::Nil), (name, Value::Int(i))]);
        }
        assert_eq!(env.names().len(), 700);
        for (i, env) in kept.iter().enumerate() {
            for probe in [0, 1, i / 2, i.saturating_sub(1), i, i + 1] {
                let last = (0..i).rev().find(|before| before % 700 == probe % 700);
                let expected = last.map(|last| last.to_string());
                assert_eq!(value(env, &format!("v{}", probe % 700)), expected, "{probe} in {i}");
            }
        }
        assert_eq!(value(&env, "w"), None);
    }
}
