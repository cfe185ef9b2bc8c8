//! Bodies in WGSL: one `let` a value.

use super::header::Header;
use super::lanes;
use super::scalar;
use super::text::Text;
use super::values::{Repr, Values};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Const, Inst, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

/// A body on its way to WGSL, with the names its surroundings gave the coordinates.
///
/// Some coordinates may be `inner`: those of a loop that surrounds part of the body. What does not depend on
/// them is written before the loop, addresses as far as they go included.
pub(super) struct Spell<'a> {
    pub(super) values: &'a Values<'a>,
    header: &'a Header<'a>,
    coords: Vec<String>,
    sizes: Vec<u64>,
    /// The coordinates of the loop: one bit each.
    inner: u64,
    prefix: String,
    acc: String,
    done: Vec<bool>,
    partial: Vec<bool>,
    /// The name of the innermost coordinate, and the loads that reach four of its places together.
    fours: Option<(String, Vec<bool>)>,
}

impl<'a> Spell<'a> {
    /// A body whose values get names that begin with `prefix`.
    pub(super) fn new(values: &'a Values<'a>, header: &'a Header<'a>, prefix: &str) -> Spell<'a> {
        let n = values.insts.len();
        Spell {
            values,
            header,
            coords: vec![],
            sizes: vec![],
            inner: 0,
            prefix: prefix.to_owned(),
            acc: String::new(),
            done: vec![false; n],
            partial: vec![false; n],
            fours: None,
        }
    }

    /// Names coordinates, which follow those that were named before.
    pub(super) fn coords(&mut self, names: &[String], sizes: &[u64], inner: bool) {
        for (name, &size) in names.iter().zip(sizes) {
            if inner {
                self.inner |= 1 << self.coords.len();
            }
            self.coords.push(name.clone());
            self.sizes.push(size);
        }
    }

    /// Says which expression is the accumulator.
    pub(super) fn acc(&mut self, name: &str) {
        self.acc = name.to_owned();
    }

    /// Says which loads reach four neighbours together: `lane` counts them, and is the last coordinate.
    pub(super) fn together(&mut self, lane: &str, loads: &[bool]) {
        self.fours = Some((lane.to_owned(), loads.to_vec()));
    }

    /// True if a load reaches four neighbours together.
    fn is_four(&self, val: Val) -> bool {
        self.fours.as_ref().is_some_and(|(_, loads)| loads[val.0 as usize])
    }

    /// Writes, before the loop over four neighbours, the loads of the wanted values that reach them together.
    pub(super) fn fours(&self, t: &mut Text, wanted: &[bool]) {
        for (i, inst) in self.values.insts.iter().enumerate() {
            let Inst::Load { access, guard } = inst else { continue };
            if !wanted[i] || !self.is_four(Val(i as u32)) {
                continue;
            }
            let name = format!("{}four{i}", self.prefix);
            let at = self.element(&lanes::first(access), Some(Val(i as u32)));
            let read = self.header.read_four(access.arg, &at);
            let Some(guard) = guard else {
                t.line(format!("let {name} = {read};"));
                continue;
            };
            t.line(format!("var {name} = vec4<{}>();", self.header.word_type(access.arg)));
            t.line(format!("if ({}) {{", self.name(*guard)));
            t.line(format!("{name} = {read};"));
            t.line("}");
        }
    }

    /// Says that the value exists under its name.
    pub(super) fn define(&mut self, val: Val) {
        self.done[val.0 as usize] = true;
    }

    /// The name of a value.
    pub(super) fn name(&self, val: Val) -> String {
        format!("{}v{}", self.prefix, val.0)
    }

    /// A value in a given form: an i64 may have to change between one word and two.
    pub(super) fn value(&self, val: Val, repr: Repr) -> String {
        let name = self.name(val);
        match (self.values.repr(val), repr) {
            (Repr::I32, Repr::Wide) => format!("sx_wide({name})"),
            (Repr::Wide, Repr::I32) => format!("bitcast<i32>({name}.x)"),
            _ => name,
        }
    }

    /// True if the value changes in the inner loop.
    pub(super) fn is_inner(&self, val: Val) -> bool {
        self.values.depends(val) & self.inner != 0
    }

    /// Writes the wanted values that stay the same in the inner loop, and what addresses in it share.
    pub(super) fn outer(&mut self, t: &mut Text, wanted: &[bool]) -> Result<(), String> {
        for (i, &wanted) in wanted.iter().enumerate() {
            let val = Val(i as u32);
            if !wanted || self.done[i] {
                continue;
            }
            if !self.is_inner(val) {
                self.done[i] = true;
                self.inst(t, val)?;
            } else if !self.partial[i]
                && let Some(at) = self.values.insts[i].affine()
                && self.terms(at, false).len() > 1
            {
                self.partial[i] = true;
                t.line(format!("let {}p{i} = {};", self.prefix, self.terms(at, false).join(" + ")));
            }
        }
        Ok(())
    }

    /// Writes the wanted values that change in the inner loop.
    pub(super) fn inner(&self, t: &mut Text, wanted: &[bool]) -> Result<(), String> {
        for (i, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            if self.is_inner(Val(i as u32)) && !self.done[i] {
                self.inst(t, Val(i as u32))?;
            }
        }
        Ok(())
    }

    /// The terms of an affine integer over the inner or the outer coordinates; the offset is an outer one.
    fn terms(&self, at: &Affine, inner: bool) -> Vec<String> {
        let mut terms = vec![];
        if !inner && at.offset != 0 {
            terms.push(format!("{}u", at.offset as u32));
        }
        for (i, &stride) in at.strides.iter().enumerate() {
            if stride == 0 || self.sizes[i] <= 1 || (self.inner >> i & 1 == 1) != inner {
                continue;
            }
            terms.push(match stride {
                1 => self.coords[i].clone(),
                _ => format!("{} * {}u", self.coords[i], stride as u32),
            });
        }
        // A lone offset is no reason to give the sum a name.
        if !inner && terms.len() == 1 && at.offset == 0 {
            terms.push("0u".to_owned());
        }
        terms
    }

    /// An affine integer modulo 2^32, which is where it lies when it is an index.
    fn affine(&self, at: &Affine, val: Option<Val>) -> Vec<String> {
        let mut terms = match val {
            Some(val) if self.partial[val.0 as usize] => vec![format!("{}p{}", self.prefix, val.0)],
            _ => self.terms(at, false).into_iter().filter(|term| term != "0u").collect(),
        };
        terms.extend(self.terms(at, true));
        terms
    }

    /// The element an access reaches.
    pub(super) fn element(&self, access: &Access, val: Option<Val>) -> String {
        let mut terms = self.affine(&access.at, val);
        for &(index, stride) in &access.gathered {
            terms.push(format!("bitcast<u32>({}) * {}u", self.value(index, Repr::I32), stride as u32));
        }
        if terms.is_empty() { "0u".to_owned() } else { terms.join(" + ") }
    }

    fn inst(&self, t: &mut Text, val: Val) -> Result<(), String> {
        let name = self.name(val);
        let repr = self.values.repr(val);
        match &self.values.insts[val.0 as usize] {
            // A variable: naga would fold constants, and refuse some.
            Inst::Const(value) => t.line(format!("var {name} = {};", scalar::constant(*value, repr))),
            Inst::Index { at, .. } => self.index(t, val, at),
            Inst::Load { access, guard } => self.load(t, val, access, *guard),
            Inst::Acc { .. } => t.line(format!("let {name} = {};", self.acc)),
            Inst::Call { f, args } => {
                let expression = self.call(*f, args, val)?;
                t.line(format!("let {name} = {expression};"));
            }
            Inst::Convert { to, x } => t.line(format!("let {name} = {};", self.convert(*to, *x, repr))),
            Inst::RoundBf16 { x } => t.line(format!("let {name} = sx_round_bf16({});", self.name(*x))),
            Inst::Bounded { x, size, trap } => self.bounded(t, val, *x, *size, *trap),
            Inst::Fold { .. } => return Err("a fold stands where there is nothing to reduce".to_owned()),
        }
        Ok(())
    }

    fn index(&self, t: &mut Text, val: Val, at: &Affine) {
        let name = self.name(val);
        if self.values.repr(val) == Repr::I32 {
            let terms = self.affine(at, Some(val));
            let sum = if terms.is_empty() { "0u".to_owned() } else { terms.join(" + ") };
            t.line(format!("let {name} = bitcast<i32>({sum});"));
            return;
        }
        let mut sum = scalar::constant(Const::I64(at.offset), Repr::Wide);
        for (coord, &stride) in self.coords.iter().zip(&at.strides).filter(|(_, stride)| **stride != 0) {
            let stride = scalar::constant(Const::I64(stride), Repr::Wide);
            sum = format!("sx_add64({sum}, sx_mul64(vec2<u32>({coord}, 0u), {stride}))");
        }
        t.line(format!("let {name} = {sum};"));
    }

    fn load(&self, t: &mut Text, val: Val, access: &Access, guard: Option<Val>) {
        let name = self.name(val);
        if let Some((lane, _)) = self.fours.as_ref().filter(|_| self.is_four(val)) {
            return t.line(format!("let {name} = {}four{}[{lane}];", self.prefix, val.0));
        }
        let arg = &self.header.kernel.args[access.arg as usize];
        let repr = self.values.repr(val);
        let zero = match repr {
            Repr::F32 => "bitcast<f32>(sx.zero)",
            Repr::I32 => "0",
            Repr::Wide => "vec2<u32>(0u, 0u)",
            Repr::Bool => "false",
        };
        if arg.len == 0 {
            return t.line(format!("let {name} = {zero};"));
        }
        let element = self.element(access, Some(val));
        if let Some(guard) = guard {
            t.line(format!("var {name} = {zero};"));
            t.line(format!("if ({}) {{", self.name(guard)));
            let read = self.header.read(t, access.arg, &name, &element);
            t.line(format!("{name} = {read};"));
            t.line("}");
        } else {
            let read = self.header.read(t, access.arg, &name, &element);
            t.line(format!("let {name} = {read};"));
        }
    }

    fn call(&self, f: ScalarFn, args: &[Val], val: Val) -> Result<String, String> {
        let mut repr = if f == ScalarFn::Where { self.values.repr(val) } else { self.values.repr(args[0]) };
        // Arithmetic on an i64 stays in one word only if neither operands nor result need two.
        let operands = if f == ScalarFn::Where { &args[1..] } else { args };
        let wide = |v: &Val| self.values.repr(*v) == Repr::Wide;
        if operands.iter().any(wide) || (!f.is_comparison() && wide(&val)) {
            repr = Repr::Wide;
        }
        let names: Vec<String> = args
            .iter()
            .enumerate()
            .map(
                |(i, &arg)| {
                    if f == ScalarFn::Where && i == 0 { self.name(arg) } else { self.value(arg, repr) }
                },
            )
            .collect();
        let expression = scalar::spell(f, repr, &names)?;
        if repr == Repr::Wide && !f.is_comparison() && !wide(&val) {
            return Ok(format!("bitcast<i32>({expression}.x)"));
        }
        Ok(expression)
    }

    fn convert(&self, to: ScalarType, x: Val, repr: Repr) -> String {
        let name = self.name(x);
        match (self.values.repr(x), to) {
            (Repr::F32, ScalarType::F32) | (Repr::Bool, ScalarType::Bool) => name,
            (Repr::F32, ScalarType::I32) => format!("sx_f32_to_i32({name})"),
            (Repr::F32, ScalarType::I64) => format!("sx_i64_of_f32({name})"),
            (Repr::F32, ScalarType::Bool) => format!("((bitcast<u32>({name}) & 0x7fffffffu) != 0u)"),
            (Repr::I32, ScalarType::F32) => format!("f32({name})"),
            (Repr::Wide, ScalarType::F32) => format!("sx_f32_of_i64({name})"),
            (Repr::I32, ScalarType::Bool) => format!("({name} != 0)"),
            (Repr::Wide, ScalarType::Bool) => format!("(({name}.x | {name}.y) != 0u)"),
            (Repr::Bool, ScalarType::F32) => format!("select(0.0f, 1.0f, {name})"),
            (Repr::Bool, _) => format!("select(0, 1, {name})"),
            (Repr::I32 | Repr::Wide, ScalarType::I32) => self.value(x, Repr::I32),
            (Repr::I32 | Repr::Wide, ScalarType::I64) => self.value(x, repr),
        }
    }

    fn bounded(&self, t: &mut Text, val: Val, x: Val, size: u64, trap: Option<u32>) {
        let (name, index) = (self.name(val), self.name(x));
        let fits = match self.values.repr(x) {
            Repr::Wide if size >> 32 == 0 => format!("{index}.y == 0u && {index}.x < {size}u"),
            Repr::Wide => {
                let size = scalar::constant(Const::I64(size.min(i64::MAX as u64) as i64), Repr::Wide);
                format!("({index}.y >> 31u) == 0u && sx_lt64({index}, {size})")
            }
            _ => format!("bitcast<u32>({index}) < {}u", size.min(1 << 31)),
        };
        t.line(format!("let {name}_fits = {fits};"));
        if let Some(trap) = trap {
            t.line(format!("if (!{name}_fits) {{"));
            let wide = self.value(x, Repr::Wide);
            t.line(format!("sx_trap({trap}u, {}, {wide});", self.position(x)));
            t.line("}");
        }
        let (zero, kept) = match self.values.repr(val) {
            Repr::Wide => ("vec2<u32>(0u, 0u)", index),
            _ => ("0", self.value(x, Repr::I32)),
        };
        t.line(format!("let {name} = select({zero}, {kept}, {name}_fits);"));
    }

    /// The flat position of a value among its own: row-major over the coordinates it depends on.
    fn position(&self, val: Val) -> String {
        let depends = self.values.depends(val);
        let mut position = String::new();
        for (i, name) in self.coords.iter().enumerate().filter(|(i, _)| depends >> i & 1 == 1) {
            position = if position.is_empty() {
                name.clone()
            } else {
                format!("({position}) * {}u + {name}", self.sizes[i])
            };
        }
        if position.is_empty() { "0u".to_owned() } else { position }
    }

    /// A value in the bits that an argument of `dtype` holds.
    pub(super) fn bits(&self, val: Val, dtype: DType) -> String {
        match dtype {
            DType::F32 | DType::I32 => self.name(val),
            DType::I64 => self.value(val, Repr::Wide),
            DType::Bool => format!("select(0u, 1u, {})", self.name(val)),
            DType::Bf16 => format!("(bitcast<u32>({}) >> 16u)", self.name(val)),
        }
    }
}
