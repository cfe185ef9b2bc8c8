//! Attention with a running softmax: scores live in registers for as long as they are needed.
//!
//! Keys come in blocks. For each block: dot products, scores, the new maximum, and what was summed so far
//! rescaled to it. On adapters that run on a CPU an invocation has a query to itself; on others a workgroup
//! shares one, its invocations taking a key each for the scores and a column each for the values.

use super::body::Spell;
use super::code::{Dispatched, coordinates, names, open_count, open_flat, open_grouped};
use super::epilogue::Epilogue;
use super::split_bindings::Part;
use super::text::Text;
use super::values::Values;
use sx_artifact::code::wgpu::When;
use sx_artifact::kernel::{Attention, Operand};

/// Keys of a block where an invocation has a query to itself.
const BLOCK: u64 = 4;

/// Invocations of a workgroup, and keys of its block.
const GROUP: u64 = 64;

/// The dispatch of a part that is attention.
pub(super) fn code(part: &Part, a: &Attention, when: When) -> Result<Dispatched, String> {
    let args = &part.kernel.args;
    let with = |tail: &[u64]| -> Vec<u64> { [&a.batch[..], tail].concat() };
    let sizes = with(&[a.t, a.e]);
    let grouped = when == When::Gpu && group_bytes(a) <= u64::from(part.limits.workgroup_bytes);
    // In a workgroup each column has its own invocation, so a word's elements do not come together.
    let columns = if grouped { 1 } else { u64::MAX };
    let it = Fused {
        part,
        a,
        end: Epilogue::new(part, &a.epilogue, &a.stores, &sizes, a.e, columns),
        query: Values::new(&a.query.body, args, &with(&[a.t, a.d]), 0),
        key: Values::new(&a.key.body, args, &with(&[a.s, a.d]), 0),
        value: Values::new(&a.value.body, args, &with(&[a.s, a.e]), 0),
        score: Values::new(&a.score.body, args, &with(&[a.t, a.s]), 0),
        queries: a.batch.iter().product::<u64>() * a.t,
    };
    if grouped { it.grouped() } else { it.alone() }
}

/// Bytes of workgroup memory where a workgroup shares a query: the query, and two words for each key of a block.
fn group_bytes(a: &Attention) -> u64 {
    4 * (a.d.max(1) + 2 * GROUP)
}

struct Fused<'a> {
    part: &'a Part,
    a: &'a Attention,
    end: Epilogue<'a>,
    query: Values<'a>,
    key: Values<'a>,
    value: Values<'a>,
    score: Values<'a>,
    queries: u64,
}

impl Fused<'_> {
    fn coords(&self, spell: &mut Spell<'_>, tail: [&str; 2], sizes: [u64; 2]) {
        spell.coords(&names("b", self.a.batch.len()), &self.a.batch, false);
        spell.coords(&tail.map(str::to_owned), &sizes, false);
    }

    /// Writes an operand's element and gives its name.
    fn operand(
        &self,
        t: &mut Text,
        operand: &Operand,
        values: &Values<'_>,
        prefix: &str,
        tail: [&str; 2],
        sizes: [u64; 2],
    ) -> Result<String, String> {
        let mut spell = Spell::new(values, &self.end.header, prefix);
        self.coords(&mut spell, tail, sizes);
        spell.acc(&format!("{prefix}dot"));
        spell.outer(t, &values.cone([operand.value], true))?;
        Ok(spell.name(operand.value))
    }

    /// Opens the loop over queries and writes the coordinates of one; `keys` is how many keys it sees.
    fn open_query(&self, t: &mut Text, first: &str, step: &str) {
        let a = self.a;
        t.line(format!("for (var unit = {first}; unit < {}u; unit += {step}) {{", self.queries));
        t.line(format!("let t = unit % {}u;", a.t));
        t.line(format!("let batch = unit / {}u;", a.t));
        coordinates(t, "batch", &names("b", a.batch.len()), &a.batch);
        if a.causal {
            // `s <= t + (S - T)`, and none where that is negative.
            let hidden = a.t.saturating_sub(a.s);
            let more = a.s.saturating_sub(a.t) + 1;
            t.line(format!("let keys = min({}u, select(t - {hidden}u + {more}u, 0u, t < {hidden}u));", a.s));
        } else {
            t.line(format!("let keys = {}u;", a.s));
        }
    }

    fn alone(&self) -> Result<Dispatched, String> {
        let a = self.a;
        let mut t = Text::default();
        open_flat(&mut t, 8);
        self.open_query(&mut t, "id.x", "groups.x * 8u");
        t.line(format!("var query: array<f32, {}>;", a.d.max(1)));
        open_count(&mut t, "d", a.d);
        let name = self.operand(&mut t, &a.query, &self.query, "q", ["t", "d"], [a.t, a.d])?;
        t.line(format!("query[d] = {name};"));
        t.line("}");
        t.line(format!("var sums: array<f32, {}>;", a.e.max(1)));
        t.line("var total = 0.0f;");
        t.line("var most = bitcast<f32>(0xff800000u ^ sx.zero);");
        t.line(format!("for (var s0 = 0u; s0 < keys; s0 += {BLOCK}u) {{"));
        self.block_scores(&mut t)?;
        self.block_values(&mut t)?;
        t.line("}");
        self.end.open(&mut t);
        open_count(&mut t, "e", a.e);
        self.write(&mut t, "sums[e]", "total")?;
        t.close(3);
        Ok(Dispatched::new(&self.end.header, self.part, t, 8, self.queries.div_ceil(8).min(4096)))
    }

    /// `p0`, `p1`, …: what the keys of a block weigh, and the sums rescaled to the new maximum.
    fn block_scores(&self, t: &mut Text) -> Result<(), String> {
        let a = self.a;
        for i in 0..BLOCK {
            t.line(format!("let s{i} = min(s0 + {i}u, keys - 1u);"));
            t.line(format!("var x{i}dot = 0.0f;"));
        }
        open_count(t, "d", a.d);
        t.line("let q = query[d];");
        for i in 0..BLOCK {
            let s = format!("s{i}");
            let name = self.operand(t, &a.key, &self.key, &format!("k{i}"), [&s, "d"], [a.s, a.d])?;
            t.line(format!("x{i}dot += q * {name};"));
        }
        t.line("}");
        t.line("var block = most;");
        for i in 0..BLOCK {
            let s = format!("s{i}");
            let name = self.operand(t, &a.score, &self.score, &format!("x{i}"), ["t", &s], [a.t, a.s])?;
            t.line(format!(
                "let score{i} = select(bitcast<f32>(0xff800000u ^ sx.zero), {name}, s0 + {i}u < keys);"
            ));
            t.line(format!("block = sx_maximum(block, score{i});"));
        }
        self.rescale(t, "block");
        open_count(t, "e", a.e);
        t.line("sums[e] *= shrink;");
        t.line("}");
        for i in 0..BLOCK {
            t.line(format!("let p{i} = sx_exp(score{i} - base);"));
        }
        let sum = (0..BLOCK).map(|i| format!("p{i}")).collect::<Vec<_>>();
        t.line(format!("total = total * shrink + (({} + {}) + ({} + {}));", sum[0], sum[1], sum[2], sum[3]));
        Ok(())
    }

    /// `base`, what exponents are relative to, and `shrink`, by what sums so far must be multiplied. While all
    /// keys are hidden the base is 0, so that nothing is NaN until the sums are divided.
    fn rescale(&self, t: &mut Text, next: &str) {
        t.line(format!("let base = select({next}, 0.0f, bitcast<u32>({next}) == 0xff800000u);"));
        t.line("let shrink = select(sx_exp(most - base), 1.0f, bitcast<u32>(most) == bitcast<u32>(base));");
        t.line(format!("most = {next};"));
    }

    fn block_values(&self, t: &mut Text) -> Result<(), String> {
        let a = self.a;
        open_count(t, "e", a.e);
        let mut terms = vec![];
        for i in 0..BLOCK {
            let s = format!("s{i}");
            let name = self.operand(t, &a.value, &self.value, &format!("w{i}"), [&s, "e"], [a.s, a.e])?;
            // A key that is not there weighs nothing, even where its value is infinite.
            terms.push(format!("select(0.0f, p{i} * {name}, s0 + {i}u < keys)"));
        }
        t.line(format!("sums[e] += ({} + {}) + ({} + {});", terms[0], terms[1], terms[2], terms[3]));
        t.line("}");
        Ok(())
    }

    /// The epilogue of column `e`.
    fn write(&self, t: &mut Text, sum: &str, total: &str) -> Result<(), String> {
        let a = self.a;
        // Only the total of a query that sees nothing is 0.
        let divisor = match a.zero_hidden_rows {
            true => format!("select({total}, 1.0f, {total} == 0.0f)"),
            false => total.to_owned(),
        };
        t.line(format!("let average = {sum} / {divisor};"));
        self.end.write(t, "average", |spell| self.coords(spell, ["t", "e"], [a.t, a.e]))
    }

    fn grouped(&self) -> Result<Dispatched, String> {
        let a = self.a;
        let columns = a.e.div_ceil(GROUP).max(1);
        let mut t = Text::default();
        t.line(format!("var<workgroup> query: array<f32, {}>;", a.d.max(1)));
        t.line(format!("var<workgroup> weights: array<f32, {GROUP}>;"));
        t.line(format!("var<workgroup> tree: array<f32, {GROUP}>;"));
        open_grouped(&mut t, GROUP as u32);
        self.open_query(&mut t, "group.x", "groups.x");
        t.line(format!("for (var d = lane; d < {}u; d += {GROUP}u) {{", a.d));
        let name = self.operand(&mut t, &a.query, &self.query, "q", ["t", "d"], [a.t, a.d])?;
        t.line(format!("query[d] = {name};"));
        t.line("}");
        t.line("workgroupBarrier();");
        t.line(format!("var sums: array<f32, {columns}>;"));
        t.line("var total = 0.0f;");
        t.line("var most = bitcast<f32>(0xff800000u ^ sx.zero);");
        t.line(format!("for (var s0 = 0u; s0 < keys; s0 += {GROUP}u) {{"));
        self.group_scores(&mut t)?;
        self.group_values(&mut t)?;
        t.line("}");
        t.line("var column = 0u;");
        t.line(format!("for (var e = lane; e < {}u; e += {GROUP}u) {{", a.e));
        self.write(&mut t, "sums[column]", "total")?;
        t.line("column += 1u;");
        t.line("}");
        t.line("workgroupBarrier();");
        t.close(2);
        let mut code = Dispatched::new(&self.end.header, self.part, t, GROUP as u32, self.queries);
        code.workgroup_bytes = group_bytes(a) as u32;
        Ok(code)
    }

    fn group_scores(&self, t: &mut Text) -> Result<(), String> {
        let a = self.a;
        t.line("let s = min(s0 + lane, keys - 1u);");
        t.line("var xdot = 0.0f;");
        open_count(t, "d", a.d);
        let name = self.operand(t, &a.key, &self.key, "k", ["s", "d"], [a.s, a.d])?;
        t.line(format!("xdot += query[d] * {name};"));
        t.line("}");
        let name = self.operand(t, &a.score, &self.score, "x", ["t", "s"], [a.t, a.s])?;
        t.line(format!("let score = select(bitcast<f32>(0xff800000u ^ sx.zero), {name}, s0 + lane < keys);"));
        self.tree(t, "score", "sx_maximum(tree[lane], tree[lane + half])");
        t.line("let next = sx_maximum(most, tree[0]);");
        t.line("workgroupBarrier();");
        self.rescale(t, "next");
        t.line("let weight = sx_exp(score - base);");
        t.line("weights[lane] = weight;");
        self.tree(t, "weight", "tree[lane] + tree[lane + half]");
        t.line("total = total * shrink + tree[0];");
        t.line("workgroupBarrier();");
        Ok(())
    }

    /// Combines a value of each invocation into `tree[0]`.
    fn tree(&self, t: &mut Text, value: &str, combined: &str) {
        t.line(format!("tree[lane] = {value};"));
        t.line("workgroupBarrier();");
        t.line(format!("for (var half = {}u; half > 0u; half >>= 1u) {{", GROUP / 2));
        t.line("if (lane < half) {");
        t.line(format!("tree[lane] = {combined};"));
        t.line("}");
        t.line("workgroupBarrier();");
        t.line("}");
    }

    fn group_values(&self, t: &mut Text) -> Result<(), String> {
        let a = self.a;
        t.line(format!("let seen = min({GROUP}u, keys - s0);"));
        t.line("var place = 0u;");
        t.line(format!("for (var e = lane; e < {}u; e += {GROUP}u) {{", a.e));
        t.line("var part = 0.0f;");
        t.line("for (var i = 0u; i < seen; i++) {");
        t.line("let sv = s0 + i;");
        let name = self.operand(t, &a.value, &self.value, "w", ["sv", "e"], [a.s, a.e])?;
        t.line(format!("part += weights[i] * {name};"));
        t.line("}");
        t.line("sums[place] = sums[place] * shrink + part;");
        t.line("place += 1u;");
        t.line("}");
        t.line("workgroupBarrier();");
        Ok(())
    }
}
