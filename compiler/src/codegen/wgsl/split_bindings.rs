//! A kernel as parts, each of which one dispatch can compute within the limits of its devices.
//!
//! Everything here turns kernels into kernels: values are cut out and kept in scratch buffers, long reductions
//! become two, stores are dealt to several parts. What a part computes is still plain kernel data.

use super::values::Values;
use sx_artifact::code::Buffer;
use sx_artifact::code::wgpu::Limits;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Affine, Arg, Body, Contraction, Inst, Kernel, KernelKind, Loop, Mode, Operand, ScalarType, Store,
    Val,
};
use sx_artifact::program::buffer_bytes;

/// A kernel for one dispatch, with the buffers its arguments are.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kernel: Kernel,
    pub(super) buffers: Vec<Buffer>,
    /// What it must fit.
    pub(super) limits: Limits,
}

/// The parts of a kernel, in order, and the buffers between them.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    pub(super) scratch: Vec<u64>,
}

/// Divides a kernel. One that fits is one part.
pub(super) fn split(kernel: &Kernel, limits: &Limits) -> Result<Parts, String> {
    // Shaders count in 32 bits, and a grid strides a little beyond the end.
    const MOST: u64 = u32::MAX as u64 - (1 << 23);
    let count = |sizes: &[u64]| sizes.iter().fold(1u64, |all, &size| all.saturating_mul(size));
    let words = |arg: &Arg| buffer_bytes(arg.dtype, arg.len) / 4;
    if let Some(Arg { dtype, len, .. }) = kernel.args.iter().find(|arg| arg.len.max(words(arg)) >= MOST) {
        return Err(format!("a tensor of {len} {dtype} elements is more than a shader can count"));
    }
    // Operands of products are counted through by rows and by terms, never all at once.
    for section in kernel.sections().iter().filter(|section| section.result.is_none()) {
        let (rows, along) = section.sizes.split_at(section.rows());
        if let Some(points) = [count(rows), count(along)].into_iter().find(|&points| points >= MOST) {
            return Err(format!("{points} elements are more than a shader can count"));
        }
    }
    let buffers = (0..kernel.args.len() as u32).map(Buffer::Arg).collect();
    let mut parts = Parts::default();
    parts.add(Part { kernel: kernel.clone(), buffers, limits: *limits })?;
    Ok(parts)
}

/// The dtype in which a scratch buffer keeps values of a register.
fn kept_as(reg: ScalarType) -> DType {
    match reg {
        ScalarType::F32 => DType::F32,
        ScalarType::I32 => DType::I32,
        ScalarType::I64 => DType::I64,
        ScalarType::Bool => DType::Bool,
    }
}

/// Row-major strides of `sizes`, then zeros for `rest` more coordinates.
fn dense(sizes: &[u64], rest: usize) -> Affine {
    let mut strides = vec![0; sizes.len() + rest];
    let mut stride = 1i64;
    for i in (0..sizes.len()).rev() {
        strides[i] = stride;
        stride *= sizes[i] as i64;
    }
    Affine { offset: 0, strides }
}

impl Part {
    /// Whether it takes no more storage buffers than there are.
    fn fits(&self) -> bool {
        self.bindings() <= self.limits.storage_buffers as usize
    }

    /// Storage bindings this part takes.
    fn bindings(&self) -> usize {
        let windows =
            |arg: &Arg| buffer_bytes(arg.dtype, arg.len).div_ceil(self.limits.binding_bytes) as usize;
        self.kernel.args.iter().map(windows).sum::<usize>() + usize::from(traps(&self.kernel))
    }

    /// Whether float operations must stay as they are written: in maps and reductions.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.kernel.kind, KernelKind::Loop(_))
    }

    fn with(&self, kind: KernelKind) -> Part {
        let mut part = self.clone();
        part.kernel.kind = kind;
        part
    }

    /// Adds an argument and gives its position.
    fn arg(&mut self, source: Buffer, dtype: DType, len: u64, mode: Mode) -> u32 {
        self.kernel.args.push(Arg { dtype, len, mode });
        self.buffers.push(source);
        self.kernel.args.len() as u32 - 1
    }

    /// Drops instructions that no store needs and arguments that nothing uses.
    fn trimmed(mut self) -> Part {
        match &mut self.kernel.kind {
            KernelKind::Loop(l) => {
                sweep(&mut l.body, &mut l.stores.iter_mut().map(|s| &mut s.value).collect::<Vec<_>>())
            }
            KernelKind::Contraction(c) => {
                for operand in [&mut c.lhs, &mut c.rhs] {
                    sweep(&mut operand.body, &mut [&mut operand.value]);
                }
                sweep(&mut c.epilogue, &mut c.stores.iter_mut().map(|s| &mut s.value).collect::<Vec<_>>());
            }
            KernelKind::Attention(a) => {
                for operand in [&mut a.query, &mut a.key, &mut a.value, &mut a.score] {
                    sweep(&mut operand.body, &mut [&mut operand.value]);
                }
                sweep(&mut a.epilogue, &mut a.stores.iter_mut().map(|s| &mut s.value).collect::<Vec<_>>());
            }
        }
        let mut used = vec![false; self.kernel.args.len()];
        each_access(&mut self.kernel.kind, &mut |access| used[access.arg as usize] = true);
        let mut place = 0;
        let places: Vec<u32> = used
            .iter()
            .map(|&used| {
                place += used as u32;
                place.max(1) - 1
            })
            .collect();
        each_access(&mut self.kernel.kind, &mut |access| access.arg = places[access.arg as usize]);
        let mut keep = used.iter();
        self.kernel.args.retain(|_| *keep.next().expect("one for each argument"));
        let mut keep = used.iter();
        self.buffers.retain(|_| *keep.next().expect("one for each argument"));
        self
    }
}

/// Whether a kernel can trap.
pub(super) fn traps(kernel: &Kernel) -> bool {
    kernel.sections().iter().any(|section| section.body.insts.iter().any(Inst::traps))
}

fn each_access(kind: &mut KernelKind, visit: &mut dyn FnMut(&mut Access)) {
    for body in kind.bodies_mut() {
        body.insts.iter_mut().filter_map(Inst::access_mut).for_each(&mut *visit);
    }
    kind.stores_mut().iter_mut().for_each(|store| visit(&mut store.access));
}

/// Keeps of a body what `roots` need, and renames them. What another part stores traps there.
fn sweep(body: &mut Body, roots: &mut [&mut Val]) {
    let mut wanted = vec![false; body.insts.len()];
    roots.iter().for_each(|root| wanted[root.0 as usize] = true);
    for i in (0..wanted.len()).rev() {
        if wanted[i] {
            body.insts[i].uses().for_each(|val| wanted[val.0 as usize] = true);
        }
    }
    let names = body.retain(&wanted);
    roots.iter_mut().for_each(|root| **root = names[root.0 as usize]);
}

impl Parts {
    fn scratch(&mut self, dtype: DType, len: u64) -> Buffer {
        self.scratch.push(buffer_bytes(dtype, len));
        Buffer::Scratch(self.scratch.len() as u32 - 1)
    }

    /// Adds what `part` computes, divided as far as need be.
    fn add(&mut self, part: Part) -> Result<(), String> {
        let part = part.trimmed();
        match part.kernel.kind.clone() {
            KernelKind::Loop(l) => self.add_loop(part, l),
            _ if part.fits() => {
                self.parts.push(part);
                Ok(())
            }
            KernelKind::Contraction(c) => self.add_contract(part, c),
            KernelKind::Attention(_) => self.add_attention(part),
        }
    }

    fn add_loop(&mut self, mut part: Part, mut l: Loop) -> Result<(), String> {
        if super::split_reduction::is_long(&l) {
            while let Some(fold) = l.body.insts.iter().position(Inst::is_fold) {
                let (first, rest) = self.cut(&part, &l, Val(fold as u32));
                self.add_long_fold(first)?;
                part = rest.trimmed();
                let KernelKind::Loop(rest) = &part.kernel.kind else {
                    return Err("a loop stays a loop".to_owned());
                };
                l = rest.clone();
            }
        }
        if !part.fits() {
            return self.add_wide(part, l);
        }
        let folds = l.body.insts.iter().any(Inst::is_fold);
        if folds || l.along.is_empty() {
            self.parts.push(part);
            return Ok(());
        }
        self.add_maps(&part, &l)
    }

    /// A loop that reduces nothing is a map for each kind of store.
    fn add_maps(&mut self, part: &Part, l: &Loop) -> Result<(), String> {
        let rows = l.dims.len();
        let all: Vec<u64> = l.dims.iter().chain(&l.along).copied().collect();
        let (elements, once): (Vec<Store>, Vec<Store>) =
            l.stores.iter().cloned().partition(|s| {
                s.access.at.strides[rows..].iter().zip(&l.along).any(|(&s, &n)| s != 0 && n > 1)
            });
        if !elements.is_empty() {
            let map = Loop { dims: all, along: vec![], body: l.body.clone(), stores: elements };
            self.add(part.with(KernelKind::Loop(map)))?;
        }
        if !once.is_empty() {
            let mut map = Loop { dims: l.dims.clone(), along: vec![], body: l.body.clone(), stores: once };
            map.stores.iter_mut().for_each(|store| store.access.at.strides.truncate(rows));
            sweep(&mut map.body, &mut map.stores.iter_mut().map(|s| &mut s.value).collect::<Vec<_>>());
            let all = map.body.insts.iter_mut().filter_map(Inst::affine_mut);
            all.for_each(|at| at.strides.truncate(rows));
            self.add(part.with(KernelKind::Loop(map)))?;
        }
        Ok(())
    }

    /// Cuts a value out of a loop: a part that keeps it in scratch, and the loop that reads it there.
    fn cut(&mut self, part: &Part, l: &Loop, val: Val) -> (Part, Part) {
        let rows = l.dims.len();
        let sizes: Vec<u64> = l.dims.iter().chain(&l.along).copied().collect();
        let values = Values::new(&l.body, &part.kernel.args, &sizes, rows);
        let element = values.depends(val) >> rows != 0;
        let at = if element { dense(&sizes, 0) } else { dense(&l.dims, l.along.len()) };
        let len = if element { sizes.iter().product() } else { l.dims.iter().product() };
        let dtype = kept_as(values.reg(val));
        let source = self.scratch(dtype, len);

        let mut first = part.clone();
        let arg = first.arg(source, dtype, len, Mode::Write);
        let access = Access { arg, at: at.clone(), gathered: vec![] };
        let stores = vec![Store { value: val, access }];
        first.kernel.kind = KernelKind::Loop(Loop { stores, ..l.clone() });

        let mut rest = part.clone();
        let arg = rest.arg(source, dtype, len, Mode::Read);
        let mut cut = l.clone();
        cut.body.insts[val.0 as usize] =
            Inst::Load { access: Access { arg, at, gathered: vec![] }, guard: None };
        rest.kernel.kind = KernelKind::Loop(cut);
        (first.trimmed(), rest)
    }

    /// A part that reduces one long row to a value becomes two: chunks, then the chunks' values.
    fn add_long_fold(&mut self, part: Part) -> Result<(), String> {
        let KernelKind::Loop(l) = part.kernel.kind.clone() else {
            return Err("a fold stands in a loop".to_owned());
        };
        let chunked = super::split_reduction::chunk(&l, &part.kernel.args);
        let len = chunked.first.dims.iter().product();
        let dtype = kept_as(chunked.reg);
        let source = self.scratch(dtype, len);

        let mut first = part.clone();
        let arg = first.arg(source, dtype, len, Mode::Write);
        let mut chunks = chunked.first;
        chunks.stores[0].access.arg = arg;
        first.kernel.kind = KernelKind::Loop(chunks);
        self.add_short(first.trimmed())?;

        let mut second = part;
        let arg = second.arg(source, dtype, len, Mode::Read);
        let mut whole = chunked.second;
        if let Some(access) = whole.body.insts[0].access_mut() {
            access.arg = arg;
        }
        second.kernel.kind = KernelKind::Loop(whole);
        self.add_short(second.trimmed())
    }

    fn add_short(&mut self, part: Part) -> Result<(), String> {
        match part.kernel.kind.clone() {
            KernelKind::Loop(l) if !part.fits() => self.add_wide(part, l),
            _ => {
                self.parts.push(part);
                Ok(())
            }
        }
    }

    /// A loop with too many buffers: its stores are dealt to several parts, or a value is kept in scratch.
    fn add_wide(&mut self, part: Part, l: Loop) -> Result<(), String> {
        let of = |stores: &[Store]| {
            part.with(KernelKind::Loop(Loop { stores: stores.to_vec(), ..l.clone() })).trimmed()
        };
        if l.stores.len() > 1 {
            let mut start = 0;
            for end in 1..=l.stores.len() {
                let full = end < l.stores.len() && !of(&l.stores[start..=end]).fits();
                if full || end == l.stores.len() {
                    self.add(of(&l.stores[start..end]))?;
                    start = end;
                }
            }
            return Ok(());
        }
        match self.heaviest(&part, &l) {
            Some(val) => {
                let (first, rest) = self.cut(&part, &l, val);
                self.add(first)?;
                self.add(rest)
            }
            // One argument so large that its windows alone are too many: the device must have the bindings.
            None => {
                self.parts.push(part);
                Ok(())
            }
        }
    }

    /// The value that needs the most buffers of those that can be computed by one part, if keeping it helps.
    fn heaviest(&self, part: &Part, l: &Loop) -> Option<Val> {
        let sizes: Vec<u64> = l.dims.iter().chain(&l.along).copied().collect();
        let values = Values::new(&l.body, &part.kernel.args, &sizes, l.dims.len());
        let mut best = None;
        for i in 0..l.body.insts.len() {
            let val = Val(i as u32);
            let mut stored = l.stores[0].clone();
            stored.value = val;
            let mut probe = part.with(KernelKind::Loop(Loop { stores: vec![stored], ..l.clone() }));
            let dtype = kept_as(values.reg(val));
            let arg = probe.arg(Buffer::Scratch(0), dtype, sizes.iter().product(), Mode::Write);
            if let KernelKind::Loop(l) = &mut probe.kernel.kind {
                l.stores[0].access.arg = arg;
            }
            let probe = probe.trimmed();
            let reads = probe.kernel.args.len() - 1;
            let plain = l.body.insts[i].access().is_some_and(|access| access.gathered.is_empty());
            if probe.fits() && reads >= 2 && !plain && val != l.stores[0].value {
                best = best.filter(|(_, most)| *most >= reads).or(Some((val, reads)));
            }
        }
        best.map(|(val, _)| val)
    }

    /// A matrix product with too many buffers: the epilogue becomes a map, then the operands do.
    fn add_contract(&mut self, part: Part, mut c: Contraction) -> Result<(), String> {
        let bare = c.stores.len() == 1
            && matches!(&c.epilogue.insts[..], [inst] if inst.is_acc())
            && matches!(part.buffers[c.stores[0].access.arg as usize], Buffer::Scratch(_));
        if !bare {
            let sizes: Vec<u64> = c.batch.iter().chain(&c.m).chain(&c.n).copied().collect();
            let reg = operand_reg(&c.lhs, &part.kernel.args);
            let (mut product, epilogue) = self.split_epilogue(&part, &sizes, reg, &c.epilogue, &c.stores);
            c.epilogue = Body { insts: vec![Inst::Acc { reg }] };
            c.stores = epilogue.0;
            product.kernel.kind = KernelKind::Contraction(c);
            self.add(product)?;
            return self.add(epilogue.1);
        }
        let left: Vec<u64> = c.batch.iter().chain(&c.m).chain(&c.k).copied().collect();
        let right: Vec<u64> = c.batch.iter().chain(&c.k).chain(&c.n).copied().collect();
        let mut product = part;
        for (operand, sizes) in [(&mut c.lhs, left), (&mut c.rhs, right)] {
            self.keep_operand(&mut product, operand, &sizes)?;
        }
        product.kernel.kind = KernelKind::Contraction(c);
        self.parts.push(product.trimmed());
        Ok(())
    }

    fn add_attention(&mut self, part: Part) -> Result<(), String> {
        let KernelKind::Attention(mut a) = part.kernel.kind.clone() else {
            return Err("not an attention".to_owned());
        };
        let with = |tail: [u64; 2]| -> Vec<u64> { a.batch.iter().copied().chain(tail).collect() };
        let sizes = [with([a.t, a.d]), with([a.s, a.d]), with([a.s, a.e])];
        let out = with([a.t, a.e]);
        let (mut product, epilogue) =
            self.split_epilogue(&part, &out, ScalarType::F32, &a.epilogue, &a.stores);
        a.epilogue = Body { insts: vec![Inst::Acc { reg: ScalarType::F32 }] };
        a.stores = epilogue.0;
        for (operand, sizes) in [&mut a.query, &mut a.key, &mut a.value].into_iter().zip(sizes) {
            self.keep_operand(&mut product, operand, &sizes)?;
        }
        product.kernel.kind = KernelKind::Attention(a);
        self.parts.push(product.trimmed());
        self.add(epilogue.1)
    }

    /// A part that only keeps its accumulator in scratch (with the store that does), and the epilogue as a map.
    fn split_epilogue(
        &mut self,
        part: &Part,
        sizes: &[u64],
        reg: ScalarType,
        epilogue: &Body,
        stores: &[Store],
    ) -> (Part, (Vec<Store>, Part)) {
        let len = sizes.iter().product();
        let source = self.scratch(kept_as(reg), len);
        let mut product = part.clone();
        let arg = product.arg(source, kept_as(reg), len, Mode::Write);
        let access = Access { arg, at: dense(sizes, 0), gathered: vec![] };
        let kept = vec![Store { value: Val(0), access: access.clone() }];
        let mut map = part.clone();
        let arg = map.arg(source, kept_as(reg), len, Mode::Read);
        let mut body = epilogue.clone();
        for inst in body.insts.iter_mut().filter(|inst| inst.is_acc()) {
            *inst = Inst::Load { access: Access { arg, ..access.clone() }, guard: None };
        }
        let l = Loop { dims: sizes.to_vec(), along: vec![], body, stores: stores.to_vec() };
        map.kernel.kind = KernelKind::Loop(l);
        (product, (kept, map))
    }

    /// Computes an operand by a map of its own, unless it is a plain load.
    fn keep_operand(&mut self, part: &mut Part, operand: &mut Operand, sizes: &[u64]) -> Result<(), String> {
        if operand.body.insts.len() <= 1 {
            return Ok(());
        }
        let len = sizes.iter().product();
        let reg = operand_reg(operand, &part.kernel.args);
        let source = self.scratch(kept_as(reg), len);
        let mut map = part.clone();
        let arg = map.arg(source, kept_as(reg), len, Mode::Write);
        let access = Access { arg, at: dense(sizes, 0), gathered: vec![] };
        let stores = vec![Store { value: operand.value, access: access.clone() }];
        let l = Loop { dims: sizes.to_vec(), along: vec![], body: operand.body.clone(), stores };
        map.kernel.kind = KernelKind::Loop(l);
        self.add(map)?;
        let arg = part.arg(source, kept_as(reg), len, Mode::Read);
        operand.body.insts = vec![Inst::Load { access: Access { arg, ..access }, guard: None }];
        operand.value = Val(0);
        Ok(())
    }
}

/// The register type of an operand.
pub(super) fn operand_reg(operand: &Operand, args: &[Arg]) -> ScalarType {
    Values::new(&operand.body, args, &[], 0).reg(operand.value)
}
