//! Files as modules: what each defines and imports, and where a name is looked for.

use super::machine::{Eval, Machine, Stop};
use super::scope::Env;
use super::special::Parts;
use super::value::{AxisName, Closure, Function, Name, Value};
use crate::diag::suggest::nearest;
use crate::diag::{Code, Diagnostic, FileId, Span};
use crate::ir::{Dim, Interval};
use crate::syntax::{self, Datum, Tree};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The library's file that is always there.
const PRELUDE: (&str, &str) = ("prelude.sx", include_str!("../library/prelude.sx"));
/// The library's file that `(import sx/nn)` brings.
const NN: (&str, &str) = ("nn.sx", include_str!("../library/nn.sx"));

/// The library's files with their texts, by the names that `import` takes; the prelude's is `sx/prelude`.
pub(super) const LIBRARY: [(&str, (&str, &str)); 2] = [("sx/prelude", PRELUDE), ("sx/nn", NN)];

/// A file's names.
pub(super) struct Module {
    /// The path it was loaded from, or its name in the library.
    pub(super) path: String,
    pub(super) file: FileId,
    pub(super) defined: HashMap<Name, Definition>,
    pub(super) imported: HashMap<Name, Binding>,
    /// The modules that this file imports, each with the first import that brings it.
    imports: Vec<(usize, Span)>,
    /// `defdomain`s of this file and of its imports.
    pub(super) domains: HashMap<Name, Interval>,
    /// The names of this file's `defdomain`s, known before they are evaluated.
    pub(super) declared_domains: HashSet<Name>,
    /// The file's `defgraph`s, in order.
    pub(super) graphs: Vec<Name>,
    pub(super) runs: Vec<super::define::Run>,
    /// The value of the file's last form.
    #[cfg(test)]
    pub(super) last: Value,
    /// Whether the file has been evaluated to its end.
    loaded: bool,
}

/// A name that a file defines.
pub(super) struct Definition {
    pub(super) binding: Binding,
    pub(super) span: Span,
}

/// What a name at the top of a file stands for.
#[derive(Clone)]
pub(super) enum Binding {
    Value(Value),
    Macro(Rc<Closure>),
}

impl Module {
    /// The modules that the file imports, each with the first import that brings it.
    pub(super) fn imports(&self) -> impl Iterator<Item = &(usize, Span)> {
        self.imports.iter()
    }
}

impl Machine<'_> {
    /// Loads the prelude and then the program.
    pub(super) fn load_root(&mut self, root: FileId) -> Eval<usize> {
        let file = self.sources.add_library(PRELUDE.0, PRELUDE.1);
        self.load("sx/prelude".to_string(), file, None)?;
        let path = self.sources.name(root).to_string();
        self.load(path, root, None)
    }

    fn load(&mut self, path: String, file: FileId, import: Option<Span>) -> Eval<usize> {
        let trees = syntax::read(self.sources, file, self.sink);
        let errors = self.sink.diagnostics().iter();
        let unreadable = errors.filter(|d| d.span.is_some_and(|span| span.file == file)).count() > 0;
        let id = self.modules.len();
        self.modules.push(Module {
            path,
            file,
            defined: HashMap::new(),
            imported: HashMap::new(),
            imports: Vec::new(),
            domains: HashMap::new(),
            declared_domains: declared_domains(&trees),
            graphs: Vec::new(),
            runs: Vec::new(),
            #[cfg(test)]
            last: Value::Nil,
            loaded: false,
        });
        if unreadable {
            return Err(Stop::Reported);
        }
        self.loading.push((id, import));
        let outer = std::mem::replace(&mut self.module, id);
        let calls = std::mem::take(&mut self.calls);
        let mut complete = true;
        for tree in &trees {
            if self.exhausted() {
                break;
            }
            let value = self.value_at_top(tree);
            complete &= value.is_ok() || !self.may_define(tree);
            self.keep_last(id, value);
        }
        if !self.sources.is_library(file) {
            self.check_written_types(&trees);
            self.check_imports();
            if complete {
                self.check_names(&trees, import.is_none());
            }
        }
        self.calls = calls;
        self.module = outer;
        self.loading.pop();
        self.modules[id].loaded = true;
        Ok(id)
    }

    /// For tests, which look at what a program's last form gives.
    #[cfg(test)]
    fn keep_last(&mut self, id: usize, value: Eval) {
        self.modules[id].last = value.unwrap_or(Value::Poisoned);
    }

    #[cfg(not(test))]
    fn keep_last(&mut self, _: usize, _: Eval) {}

    /// `(import sx/nn)`, `(import "relative.sx")`
    pub(super) fn import(&mut self, form: &Tree, args: &[Tree]) -> Eval<()> {
        let id = match args {
            [Tree { datum: Datum::Symbol(name), span }] => self.library_module(name, *span)?,
            [Tree { datum: Datum::Str(path), span }] => self.file_module(path, *span)?,
            _ => {
                let message = "an import is written `(import sx/nn)` or `(import \"file.sx\")`";
                return Err(self.fail(Code::FormShape, form.span, message));
            }
        };
        let place = args[0].span;
        let from = &self.modules[id];
        let public = |name: &&Name| !name.starts_with('%');
        let names: Vec<(Name, Binding)> = from
            .defined
            .iter()
            .filter(|(name, _)| public(name))
            .map(|(name, definition)| (name.clone(), definition.binding.clone()))
            .collect();
        let domains: Vec<(Name, Interval)> = from
            .declared_domains
            .iter()
            .filter_map(|name| Some((name.clone(), *from.domains.get(name)?)))
            .collect();
        let module = &mut self.modules[self.module];
        if !module.imports.iter().any(|(known, _)| *known == id) {
            module.imports.push((id, place));
        }
        module.imported.extend(names);
        for (name, range) in domains {
            module.domains.entry(name).or_insert(range);
        }
        Ok(())
    }

    /// Reports each name that two imports of the running module bring and that it does not define itself.
    fn check_imports(&mut self) {
        let module = &self.modules[self.module];
        let mut clashes = Vec::new();
        for (at, (second, place)) in module.imports.iter().enumerate() {
            for (first, before) in &module.imports[..at] {
                let own =
                    |name: &Name| module.defined.contains_key(name) || module.declared_domains.contains(name);
                let mut both: Vec<&Name> = self.brought(*first).filter(|name| !own(name)).collect();
                let others: HashSet<&Name> = self.brought(*second).collect();
                both.retain(|name| others.contains(name));
                both.sort();
                let both: Vec<String> = both.into_iter().map(|name| format!("`{name}`")).collect();
                if !both.is_empty() {
                    let (first, second) = (&self.modules[*first].path, &self.modules[*second].path);
                    let names = both.join(", ");
                    let message = format!("`{first}` and `{second}` both bring {names}");
                    clashes.push(
                        Diagnostic::new(Code::NameImports, *place, message)
                            .note_at(*before, "the first import")
                            .help("rename one of the two, or define the name in this file"),
                    );
                }
            }
        }
        for clash in clashes {
            self.report(clash);
        }
    }

    /// The names that an import of this module brings.
    pub(super) fn brought(&self, module: usize) -> impl Iterator<Item = &Name> {
        let module = &self.modules[module];
        module.defined.keys().filter(|name| !name.starts_with('%')).chain(&module.declared_domains)
    }

    fn library_module(&mut self, name: &str, span: Span) -> Eval<usize> {
        if let Some(id) = self.modules.iter().position(|module| module.path == name && module.loaded) {
            return Ok(id);
        }
        match LIBRARY.iter().find(|(module, _)| *module == name) {
            Some((_, (file, text))) => {
                let file = self.sources.add_library(*file, *text);
                self.load(name.to_string(), file, Some(span))
            }
            None => {
                let message = format!("there is no module `{name}`");
                let diagnostic = Diagnostic::new(Code::ModName, span, message);
                Err(self.report(diagnostic.help("write `(import sx/nn)`, or a file's name in quotes")))
            }
        }
    }

    fn file_module(&mut self, relative: &str, span: Span) -> Eval<usize> {
        let path = beside(&self.modules[self.module].path, relative);
        if let Some(id) = self.modules.iter().position(|module| module.path == path) {
            if self.modules[id].loaded {
                return Ok(id);
            }
            return Err(self.cycle(id, &path, span));
        }
        match self.loader.load(&path) {
            Ok(text) => {
                let file = self.sources.add(path.clone(), text);
                self.load(path, file, Some(span))
            }
            Err(reason) => {
                let message = format!("`{path}` cannot be read: {reason}");
                let diagnostic = Diagnostic::new(Code::ModMissing, span, message);
                Err(self.report(diagnostic.note("a path is relative to the file that imports it")))
            }
        }
    }

    fn cycle(&mut self, id: usize, path: &str, span: Span) -> Stop {
        let Some(start) = self.loading.iter().position(|(loading, _)| *loading == id) else {
            // It was loaded before and could not be read: that has been reported.
            return Stop::Reported;
        };
        let mut diagnostic = Diagnostic::new(Code::ModCycle, span, format!("`{path}` imports itself"));
        let steps: Vec<Span> = self.loading[start + 1..].iter().filter_map(|(_, import)| *import).collect();
        for step in steps {
            diagnostic = diagnostic.note_at(step, "by way of this import");
        }
        self.report(diagnostic.help("move what both files need into a third one"))
    }

    /// A function of `sx/nn`, whether the program imports it or not.
    pub(super) fn nn_function(&mut self, name: &str, span: Span) -> Eval<Rc<Function>> {
        let id = self.library_module("sx/nn", span)?;
        match self.modules[id].defined.get(name).map(|definition| definition.binding.clone()) {
            Some(Binding::Value(Value::Function(function))) => Ok(function),
            _ => Err(self.fail(Code::NameUnknown, span, format!("`{name}` is not in sx/nn"))),
        }
    }

    /// What `name` stands for at the top of the running module.
    pub(super) fn binding(&self, name: &str) -> Option<Binding> {
        let module = &self.modules[self.module];
        if let Some(definition) = module.defined.get(name) {
            return Some(definition.binding.clone());
        }
        if let Some(binding) = module.imported.get(name) {
            return Some(binding.clone());
        }
        let private = name.starts_with('%') && !self.sources.is_library(module.file);
        if let Some(definition) = self.modules[0].defined.get(name)
            && !private
        {
            return Some(definition.binding.clone());
        }
        let builtin = self.builtins.get(name)?;
        if private {
            return None;
        }
        Some(Binding::Value(Value::Function(Rc::new(Function::Builtin(builtin)))))
    }

    /// The value of a variable.
    pub(super) fn variable(&mut self, name: &str, span: Span, env: &Env) -> Eval {
        if let Some(slot) = env.slot(name) {
            return Ok(slot.borrow().clone());
        }
        match self.binding(name) {
            Some(Binding::Value(value)) => Ok(value),
            Some(Binding::Macro(_)) => {
                let message =
                    format!("`{name}` is a macro: it has no value, and can only stand at the head of a form");
                Err(self.fail(Code::NameForm, span, message))
            }
            None if self.specials.contains_key(name) => {
                let message = format!(
                    "`{name}` is a special form: it has no value, and can only stand at the head of a form"
                );
                Err(self.fail(Code::NameForm, span, message))
            }
            None => Err(self.unknown(name, span, env.names())),
        }
    }

    /// Reports a name that nothing defines; `local` are the names in force around it.
    pub(super) fn unknown(&mut self, name: &str, span: Span, local: Vec<Name>) -> Stop {
        let diagnostic = Diagnostic::new(Code::NameUnknown, span, format!("`{name}` is not defined"));
        let same = |told: &Diagnostic| told.span == diagnostic.span && told.message == diagnostic.message;
        if self.sink.diagnostics().iter().any(same) {
            return Stop::Reported;
        }
        if let Some(help) = self.elsewhere(name) {
            return self.report(diagnostic.help(help));
        }
        if names_of(NN.1).any(|known| known == name) {
            return self.report(diagnostic.help("it is in the library: write `(import sx/nn)`"));
        }
        let mut known = local;
        let module = &self.modules[self.module];
        known.extend(module.defined.keys().chain(module.imported.keys()).cloned());
        known.extend(self.modules[0].defined.keys().cloned());
        known.extend(self.builtins.keys().chain(self.specials.keys()).map(|name| (*name).into()));
        known.retain(|name| !name.starts_with('%'));
        let library: Vec<Name> = names_of(NN.1).map(Name::from).collect();
        known.extend(library.iter().cloned());
        known.sort();
        match nearest(name, known.iter().map(|name| &**name)) {
            Some(near)
                if library.iter().any(|name| **name == *near) && !module.imported.contains_key(near) =>
            {
                let help = format!("a similar name is `{near}` of the library: write `(import sx/nn)`");
                self.report(diagnostic.help(help))
            }
            Some(near) => self.report(diagnostic.help(format!("a similar name is `{near}`"))),
            None => self.report(diagnostic),
        }
    }

    /// What to write for a name that another language has, or that stands in force where it is not looked for.
    fn elsewhere(&self, name: &str) -> Option<String> {
        let calls = self.calls.len();
        if self.siblings.iter().any(|(depth, sibling)| *depth == calls && **sibling == *name) {
            return Some(format!("`let` binds its names all at once; in `let*` each value sees `{name}`"));
        }
        if let Some(help) = super::habits::help(name) {
            return Some(help);
        }
        if let Some(word) = super::words::WORDS.iter().find(|word| word.name == name) {
            return Some(format!("`{name}` is {}: `{}`", word.summary, word.signature));
        }
        let (_, tail) = name.rsplit_once('.')?;
        let known = self.binding(tail).is_some() || names_of(NN.1).any(|known| known == tail);
        match known {
            true => Some(format!("names have no prefix here: write `{tail}`")),
            false => super::habits::help(tail),
        }
    }

    /// The parts of the special form that is called `name` in other languages.
    pub(super) fn form_elsewhere(&self, name: &str) -> Option<Parts> {
        let parts = self.specials.get(super::habits::here(name)?)?.parts;
        (!matches!(parts, Parts::Values | Parts::Body { .. })).then_some(parts)
    }

    /// Defines a name of the running module; one of the same file is an error.
    pub(super) fn define(&mut self, name: &str, span: Span, binding: Binding) -> Eval<()> {
        if self.specials.contains_key(name) {
            let message = format!("`{name}` is a special form and cannot be defined");
            return Err(self.fail(Code::NameForm, span, message));
        }
        let module = &mut self.modules[self.module];
        if let Some(first) = module.defined.get(name) {
            let first = first.span;
            let diagnostic = Diagnostic::new(Code::NameTwice, span, format!("`{name}` is defined twice"));
            return Err(self.report(diagnostic.note_at(first, "the first definition")));
        }
        module.defined.insert(name.into(), Definition { binding, span });
        Ok(())
    }

    /// The size that `name` stands for in the running module: of a `defaxis`, with its identity, or of a `def` of an
    /// integer.
    pub(super) fn named_size(&self, name: &str) -> Option<Dim> {
        match self.binding(name) {
            Some(Binding::Value(Value::Axis(AxisName { dim, .. }))) => Some(dim),
            Some(Binding::Value(Value::Int(size))) => u64::try_from(size).ok().map(Dim::of),
            _ => None,
        }
    }

    /// The size a name has in a graph's signature: as [`Machine::named_size`] says, or from the command line.
    pub(super) fn graph_size(&mut self, name: &str) -> Option<Dim> {
        let named = self.named_size(name);
        if named.is_some() {
            // The command line's size stands over an axis's already.
            return named;
        }
        let given = self.dims.iter_mut().find(|given| *given.name == *name)?;
        given.used = true;
        Some(given.dim.clone())
    }

    pub(super) fn knows_domain(&self, name: &str) -> bool {
        let module = &self.modules[self.module];
        module.declared_domains.contains(name) || module.domains.contains_key(name)
    }

    pub(super) fn domain_names(&self) -> Vec<Name> {
        let module = &self.modules[self.module];
        module.declared_domains.iter().chain(module.domains.keys()).cloned().collect()
    }

    pub(super) fn user_domain(&self, name: &str) -> Option<Interval> {
        self.modules[self.module].domains.get(name).copied()
    }
}

/// The names that `defdomain` forms at the top of a file give.
fn declared_domains(trees: &[Tree]) -> HashSet<Name> {
    let declared = trees.iter().filter_map(|tree| match &tree.datum {
        Datum::List(items) => match &items[..] {
            [Tree { datum: Datum::Symbol(head), .. }, Tree { datum: Datum::Symbol(name), .. }, ..]
                if head == "defdomain" =>
            {
                Some(name.as_str().into())
            }
            _ => None,
        },
        _ => None,
    });
    declared.collect()
}

/// The functions and macros that a library file defines for its users.
pub(super) fn names_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("(defun ").or_else(|| line.strip_prefix("(defmacro "))?;
        let name = rest.split([' ', '(']).next()?;
        (!name.starts_with('%')).then_some(name)
    })
}

/// `relative`, as seen from the file `from`.
fn beside(from: &str, relative: &str) -> String {
    let separator = |c: char| c == '/' || c == '\\';
    if relative.starts_with(separator) || relative.get(1..2) == Some(":") {
        return relative.to_string();
    }
    let folder = from.rfind(separator).map(|at| &from[..at]);
    let steps = folder.into_iter().flat_map(|folder| folder.split(separator));
    let mut parts: Vec<&str> = steps.filter(|part| *part != ".").collect();
    for part in relative.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_importing_file() {
        for (from, relative, path) in [
            ("main.sx", "a.sx", "a.sx"),
            ("dir/main.sx", "a.sx", "dir/a.sx"),
            ("dir/main.sx", "../a.sx", "a.sx"),
            ("/x/dir/main.sx", "./b/../a.sx", "/x/dir/a.sx"),
            ("/main.sx", "a.sx", "/a.sx"),
            ("main.sx", "../a.sx", "../a.sx"),
            ("../main.sx", "../a.sx", "../../a.sx"),
            ("dir/main.sx", "/abs/a.sx", "/abs/a.sx"),
        ] {
            assert_eq!(beside(from, relative), path, "{from} {relative}");
        }
    }
}
