//! Matrix products, in two schedules.
//!
//! *Direct*: an invocation computes a few rows by a few columns, reading operands as it goes; lanes lie along
//! the columns. It needs no barriers, which is what adapters on a CPU want, and suits narrow results anywhere.
//! *Tiled*: a workgroup of 256 computes 64 by 64 through workgroup memory, 4 by 4 an invocation.

use super::body::Spell;
use super::code::{Dispatched, coordinates, names, open_count, open_grouped};
use super::epilogue::Epilogue;
use super::lanes::LANES;
use super::scalar;
use super::split_bindings::{Part, operand_reg};
use super::text::Text;
use super::values::{Repr, Values};
use sx_artifact::code::wgpu::When;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Arg, Contraction, FoldOp, Inst, Operand};

/// Rows and columns of a workgroup's tile, and how much of the sum it takes at a time.
const TILE: u64 = 64;
const DEPTH: u64 = 16;

/// Invocations of a tile, and its bytes of workgroup memory.
const TILED: u32 = 256;
const TILE_BYTES: u32 = (TILE * DEPTH * 8) as u32;

/// The dispatch of a part that is a matrix product.
pub(super) fn code(part: &Part, c: &Contraction, when: When) -> Result<Dispatched, String> {
    let product = Product::new(part, c, when);
    if product.tiled { product.tiled_code() } else { product.direct_code() }
}

struct Product<'a> {
    part: &'a Part,
    c: &'a Contraction,
    end: Epilogue<'a>,
    lhs: Values<'a>,
    rhs: Values<'a>,
    repr: Repr,
    /// Sizes of batch, m, n, k, each all axes together.
    b: u64,
    m: u64,
    n: u64,
    k: u64,
    /// Rows and columns an invocation computes.
    rows: u64,
    columns: u64,
    lanes: u32,
    tiled: bool,
    /// The load of the right operand, if it reaches an invocation's four columns together.
    together: Option<&'a Access>,
}

fn all(sizes: &[u64]) -> u64 {
    sizes.iter().product()
}

/// The right operand if it is an f32 that is loaded, four columns from a multiple of four words.
fn plain<'a>(c: &'a Contraction, args: &[Arg]) -> Option<&'a Access> {
    let [inst] = &c.rhs.body.insts[..] else { return None };
    let access = inst.access().filter(|_| inst.uses().next().is_none())?;
    let whole = |n: &i64| n % LANES as i64 == 0;
    let (last, rest) = access.at.strides.split_last()?;
    let fits = *last == 1
        && args[access.arg as usize].dtype == DType::F32
        && c.n.last().is_some_and(|n| n.is_multiple_of(LANES))
        && whole(&access.at.offset)
        && rest.iter().all(whole);
    fits.then_some(access)
}

fn chain(parts: [&[u64]; 3]) -> Vec<u64> {
    parts.concat()
}

impl<'a> Product<'a> {
    fn new(part: &'a Part, c: &'a Contraction, when: When) -> Product<'a> {
        let args = &part.kernel.args;
        let repr = Repr::of(operand_reg(&c.lhs, args));
        let (b, m, n, k) = (all(&c.batch), all(&c.m), all(&c.n), all(&c.k));
        let room = part.limits.invocations >= TILED && part.limits.workgroup_bytes >= TILE_BYTES;
        let tiled = when == When::Gpu && room && repr == Repr::F32 && m >= 16 && n >= 16;
        let simple = c.lhs.body.insts.len() + c.rhs.body.insts.len() <= 12;
        let most = if repr != Repr::F32 {
            1
        } else if simple {
            8
        } else {
            4
        };
        let rows = if tiled { 4 } else { m.next_power_of_two().min(most) };
        let columns = if n > 8 || n.is_multiple_of(4) { 4 } else { 1 };
        let columns = if tiled { 4 } else { columns };
        let sizes = chain([&c.batch, &c.m, &c.n]);
        let mut end = Epilogue::new(part, &c.epilogue, &c.stores, &sizes, n, columns);
        let together =
            plain(c, args).filter(|access| !tiled && columns == 4 && end.header.by_four(access.arg));
        Product {
            part,
            c,
            end,
            together,
            lhs: Values::new(&c.lhs.body, args, &chain([&c.batch, &c.m, &c.k]), 0),
            rhs: Values::new(&c.rhs.body, args, &chain([&c.batch, &c.k, &c.n]), 0),
            repr,
            b,
            m,
            n,
            k,
            rows,
            columns,
            lanes: if when == When::Gpu { 64 } else { 8 },
            tiled,
        }
    }

    fn direct_code(&self) -> Result<Dispatched, String> {
        let across = self.n.div_ceil(self.columns * self.lanes as u64);
        let down = self.m.div_ceil(self.rows);
        let tiles = self.b * across * down;
        let mut t = Text::default();
        open_grouped(&mut t, self.lanes);
        t.line(format!("for (var tile = group.x; tile < {tiles}u; tile += groups.x) {{"));
        t.line(format!("let batch = tile / {}u;", across * down));
        t.line(format!("let tile_m = (tile % {}u) / {across}u;", across * down));
        t.line(format!("let m0 = tile_m * {}u;", self.rows));
        t.line(format!("let n0 = ((tile % {across}u) * {}u + lane) * {}u;", self.lanes, self.columns));
        t.line(format!("if (n0 < {}u) {{", self.n));
        self.direct_sum(&mut t)?;
        self.direct_results(&mut t);
        self.write(&mut t)?;
        t.close(3);
        Ok(Dispatched::new(&self.end.header, self.part, t, self.lanes, tiles))
    }

    /// The sums of a direct invocation: `c0`, `c1`, … with `columns` components or one.
    fn direct_sum(&self, t: &mut Text) -> Result<(), String> {
        let (batch, k) = (names("b", self.c.batch.len()), names("k", self.c.k.len()));
        coordinates(t, "batch", &batch, &self.c.batch);
        let mut left = vec![];
        let mut right = vec![];
        let lhs_wanted = self.lhs.cone([self.c.lhs.value], true);
        let rhs_wanted = self.rhs.cone([self.c.rhs.value], true);
        for i in 0..self.rows {
            t.line(format!("let m_{i} = min(m0 + {i}u, {}u);", self.m - 1));
            let m = names(&format!("m{i}_"), self.c.m.len());
            coordinates(t, &format!("m_{i}"), &m, &self.c.m);
            let mut spell = Spell::new(&self.lhs, &self.end.header, &format!("l{i}_"));
            spell.coords(&batch, &self.c.batch, false);
            spell.coords(&m, &self.c.m, false);
            spell.coords(&k, &self.c.k, true);
            spell.outer(t, &lhs_wanted)?;
            left.push(spell);
        }
        for j in 0..self.columns {
            t.line(format!("let n_{j} = min(n0 + {j}u, {}u);", self.n - 1));
            let n = names(&format!("n{j}_"), self.c.n.len());
            coordinates(t, &format!("n_{j}"), &n, &self.c.n);
            let mut spell = Spell::new(&self.rhs, &self.end.header, &format!("r{j}_"));
            spell.coords(&batch, &self.c.batch, false);
            spell.coords(&k, &self.c.k, true);
            spell.coords(&n, &self.c.n, false);
            spell.outer(t, &rhs_wanted)?;
            right.push(spell);
        }
        let vector = self.vector();
        for i in 0..self.rows {
            for j in 0..if vector { 1 } else { self.columns } {
                let zero = match self.repr {
                    Repr::F32 if vector => "vec4<f32>()".to_owned(),
                    repr => scalar::fold_identity(FoldOp::Sum, repr),
                };
                t.line(format!("var c{i}_{j} = {zero};"));
            }
        }
        let open = self.open_sum(t, &k);
        let mut columns = vec![];
        if let Some(access) = self.together {
            let at = right[0].element(access, Some(self.c.rhs.value));
            t.line(format!("let row = {};", self.end.header.read_four(access.arg, &at)));
        } else {
            for spell in &right {
                spell.inner(t, &rhs_wanted)?;
                columns.push(spell.value(self.c.rhs.value, self.repr));
            }
            if vector {
                t.line(format!("let row = vec4<f32>({});", columns.join(", ")));
            }
        }
        for (i, spell) in left.iter().enumerate() {
            spell.inner(t, &lhs_wanted)?;
            let x = spell.value(self.c.lhs.value, self.repr);
            if vector {
                t.line(format!("c{i}_0 += {x} * row;"));
                continue;
            }
            for (j, y) in columns.iter().enumerate() {
                let product = scalar::fold_combine(FoldOp::Prod, self.repr, &x, y);
                let sum = scalar::fold_combine(FoldOp::Sum, self.repr, &format!("c{i}_{j}"), &product);
                t.line(format!("c{i}_{j} = {sum};"));
            }
        }
        t.close(open);
        Ok(())
    }

    /// Opens the loops of the sum, and gives how many. Where there is one row, a turn is so short that four are
    /// written out.
    fn open_sum(&self, t: &mut Text, k: &[String]) -> usize {
        for (i, (name, &size)) in k.iter().zip(&self.c.k).enumerate() {
            if i + 1 == k.len() && self.rows == 1 && self.vector() && size.is_multiple_of(LANES) {
                open_count(t, &format!("{name}_four"), size / LANES);
                t.line(format!("for (var one = 0u; one < {LANES}u; one++) {{"));
                t.line(format!("let {name} = {name}_four * {LANES}u + one;"));
                return k.len() + 1;
            }
            open_count(t, name, size);
        }
        k.len()
    }

    fn vector(&self) -> bool {
        self.repr == Repr::F32 && self.columns == 4
    }

    /// Puts the sums where the epilogue's loop can index them.
    fn direct_results(&self, t: &mut Text) {
        t.line(format!("var results: array<{}, {}>;", self.repr.ty(), self.rows * self.columns));
        for i in 0..self.rows {
            for j in 0..self.columns {
                let sum = if self.vector() { format!("c{i}_0[{j}]") } else { format!("c{i}_{j}") };
                t.line(format!("results[{}] = {sum};", i * self.columns + j));
            }
        }
    }

    /// Runs the epilogue over an invocation's results and stores what it gives.
    fn write(&self, t: &mut Text) -> Result<(), String> {
        open_count(t, "i", self.rows);
        t.line("let m = m0 + i;");
        t.line(format!("if (m < {}u) {{", self.m));
        self.end.open(t);
        open_count(t, "j", self.columns);
        t.line("let n = n0 + j;");
        t.line(format!("if (n < {}u) {{", self.n));
        let (b, m, n) =
            (names("eb", self.c.batch.len()), names("em", self.c.m.len()), names("en", self.c.n.len()));
        coordinates(t, "batch", &b, &self.c.batch);
        coordinates(t, "m", &m, &self.c.m);
        coordinates(t, "n", &n, &self.c.n);
        self.end.write(t, &format!("results[i * {}u + j]", self.columns), |spell| {
            spell.coords(&b, &self.c.batch, false);
            spell.coords(&m, &self.c.m, false);
            spell.coords(&n, &self.c.n, false);
        })?;
        t.close(4);
        Ok(())
    }

    fn tiled_code(&self) -> Result<Dispatched, String> {
        let (across, down) = (self.n.div_ceil(TILE), self.m.div_ceil(TILE));
        let tiles = self.b * across * down;
        let mut t = Text::default();
        self.operand_function(&mut t, "lhs", &self.c.lhs, &self.lhs, [&self.c.batch, &self.c.m, &self.c.k])?;
        self.operand_function(&mut t, "rhs", &self.c.rhs, &self.rhs, [&self.c.batch, &self.c.k, &self.c.n])?;
        t.line(format!("var<workgroup> left: array<f32, {}>;", TILE * DEPTH));
        t.line(format!("var<workgroup> right: array<f32, {}>;", TILE * DEPTH));
        open_grouped(&mut t, TILED);
        t.line(format!("for (var tile = group.x; tile < {tiles}u; tile += groups.x) {{"));
        t.line(format!("let batch = tile / {}u;", across * down));
        t.line(format!("let top = ((tile % {}u) / {across}u) * {TILE}u;", across * down));
        t.line(format!("let side = (tile % {across}u) * {TILE}u;"));
        t.line("let ty = (lane / 16u) * 4u;");
        t.line("let tx = (lane % 16u) * 4u;");
        t.line("let m0 = top + ty;");
        t.line("let n0 = side + tx;");
        for i in 0..4 {
            t.line(format!("var c{i}_0 = vec4<f32>();"));
        }
        t.line(format!("for (var k0 = 0u; k0 < {}u; k0 += {DEPTH}u) {{", self.k));
        self.stage(&mut t);
        t.line("workgroupBarrier();");
        t.line(format!("for (var k = 0u; k < {DEPTH}u; k++) {{"));
        t.line(format!("let at = k * {TILE}u + tx;"));
        t.line("let row = vec4<f32>(right[at], right[at + 1u], right[at + 2u], right[at + 3u]);");
        for i in 0..4 {
            t.line(format!("c{i}_0 += left[k * {TILE}u + ty + {i}u] * row;"));
        }
        t.line("}");
        t.line("workgroupBarrier();");
        t.line("}");
        self.direct_results(&mut t);
        self.write(&mut t)?;
        t.close(2);
        let mut code = Dispatched::new(&self.end.header, self.part, t, TILED, tiles);
        code.workgroup_bytes = TILE_BYTES;
        Ok(code)
    }

    /// A function that gives one element of an operand.
    fn operand_function(
        &self,
        t: &mut Text,
        name: &str,
        operand: &Operand,
        values: &Values<'_>,
        sizes: [&[u64]; 3],
    ) -> Result<(), String> {
        t.line(format!("fn {name}(b: u32, y: u32, x: u32) -> f32 {{"));
        let mut spell = Spell::new(values, &self.end.header, "");
        for (flat, sizes) in ["b", "y", "x"].iter().zip(sizes) {
            let coords = names(&format!("c{flat}"), sizes.len());
            coordinates(t, flat, &coords, sizes);
            spell.coords(&coords, sizes, false);
        }
        spell.outer(t, &values.cone([operand.value], true))?;
        t.line(format!("return {};", spell.name(operand.value)));
        t.line("}");
        t.line("");
        Ok(())
    }

    /// Brings a slice of both operands to workgroup memory; what lies outside them is 0.
    fn stage(&self, t: &mut Text) {
        let fast = |operand: &Operand, k: std::ops::Range<usize>| {
            let strides =
                |inst: &Inst| inst.access().map(|access| access.at.strides[k.clone()].last() == Some(&1));
            operand.body.insts.iter().filter_map(strides).any(|fast| fast)
        };
        let (b, m, k) = (self.c.batch.len(), self.c.m.len(), self.c.k.len());
        t.line(format!("for (var q = lane; q < {}u; q += {TILED}u) {{", TILE * DEPTH));
        let place = |k_first: bool| match k_first {
            true => (format!("q % {DEPTH}u"), format!("q / {DEPTH}u")),
            false => (format!("q / {TILE}u"), format!("q % {TILE}u")),
        };
        let (kk, mm) = place(fast(&self.c.lhs, b + m..b + m + k));
        t.line(format!("let lk = {kk};"));
        t.line(format!("let lm = {mm};"));
        t.line("var l = 0.0f;");
        t.line(format!("if (top + lm < {}u && k0 + lk < {}u) {{", self.m, self.k));
        t.line("l = lhs(batch, top + lm, k0 + lk);");
        t.line("}");
        t.line(format!("left[lk * {TILE}u + lm] = l;"));
        let (kk, nn) = place(fast(&self.c.rhs, b..b + k));
        t.line(format!("let rk = {kk};"));
        t.line(format!("let rn = {nn};"));
        t.line("var r = 0.0f;");
        t.line(format!("if (side + rn < {}u && k0 + rk < {}u) {{", self.n, self.k));
        t.line("r = rhs(batch, k0 + rk, side + rn);");
        t.line("}");
        t.line(format!("right[rk * {TILE}u + rn] = r;"));
        t.line("}");
    }
}
