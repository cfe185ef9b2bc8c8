//! What stands above a kernel's code: the record, the bindings, the trap buffer; and how code uses them.

use super::body::Spell;
use super::split_bindings::{Part, traps};
use super::text::Text;
use sx_artifact::code::{Buffer, Window};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Affine, Kernel, Mode, Store};
use sx_artifact::program::buffer_bytes;

/// How elements smaller than a word reach their argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pack {
    /// An element is one word or two.
    Words,
    /// Each invocation gathers whole words: this many elements in one.
    Gathered(u32),
    /// Elements of one word come from different invocations: this many in one.
    Atomic(u32),
}

/// The header of one dispatch.
pub(super) struct Header<'a> {
    pub(super) kernel: &'a Kernel,
    /// Bytes of the largest window.
    window: u64,
    /// Which arguments are written piecewise, by atomics.
    atomic: Vec<bool>,
    /// Which arguments are bound as vectors of four words.
    fours: Vec<bool>,
}

/// Elements of a dtype in one word.
pub(super) fn per_word(dtype: DType) -> u32 {
    match dtype {
        DType::Bool => 4,
        DType::Bf16 => 2,
        _ => 1,
    }
}

/// How an argument's words are seen in WGSL.
fn word_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "f32",
        DType::I32 => "i32",
        _ => "u32",
    }
}

/// How a store must pack. `sizes` are those of the coordinates its invocation counts through, row-major and
/// from the front: the store is `once` of each.
pub(super) fn pack(kernel: &Kernel, store: &Store, sizes: &[u64]) -> Pack {
    let arg = &kernel.args[store.access.arg as usize];
    let in_word = per_word(arg.dtype);
    if in_word == 1 {
        return Pack::Words;
    }
    let count: u64 = sizes.iter().product();
    let offset = store.access.at.offset as u64;
    let whole = count.is_multiple_of(in_word as u64) || offset + count == arg.len;
    let aligned = offset.is_multiple_of(in_word as u64) && whole;
    if aligned && row_major(&store.access.at, sizes) {
        Pack::Gathered(in_word)
    } else {
        Pack::Atomic(in_word)
    }
}

/// True if `at` counts through the coordinates in order.
fn row_major(at: &Affine, sizes: &[u64]) -> bool {
    let mut expected = 1;
    for (&size, &stride) in sizes.iter().zip(&at.strides).rev() {
        if size > 1 && stride != expected {
            return false;
        }
        expected *= size as i64;
    }
    true
}

impl<'a> Header<'a> {
    /// The header of a part; `packs` are those of its stores, in order.
    pub(super) fn new(part: &'a Part, stores: &[Store], packs: &[Pack]) -> Header<'a> {
        let kernel = &part.kernel;
        let mut atomic = vec![false; kernel.args.len()];
        for (store, pack) in stores.iter().zip(packs) {
            atomic[store.access.arg as usize] |= matches!(pack, Pack::Atomic(_));
        }
        Header { kernel, window: part.limits.binding_bytes, atomic, fours: vec![false; kernel.args.len()] }
    }

    /// Binds an argument as vectors of four words, if it can be.
    pub(super) fn by_four(&mut self, arg: u32) -> bool {
        let index = arg as usize;
        let fits = !self.atomic[index]
            && self.kernel.args[index].len.is_multiple_of(4)
            && self.windows(index).len() == 1;
        self.fours[index] |= fits;
        fits
    }

    /// How the words of an argument are seen.
    pub(super) fn word_type(&self, arg: u32) -> &'static str {
        word_type(self.kernel.args[arg as usize].dtype)
    }

    /// The windows of argument `arg`, in bytes: offset and length.
    fn windows(&self, arg: usize) -> Vec<(u64, u64)> {
        let arg = &self.kernel.args[arg];
        let bytes = buffer_bytes(arg.dtype, arg.len);
        (0..bytes.div_ceil(self.window))
            .map(|i| (i * self.window, self.window.min(bytes - i * self.window)))
            .collect()
    }

    /// True if the kernel can trap.
    pub(super) fn traps(&self) -> bool {
        traps(self.kernel)
    }

    /// The storage bindings of the dispatch; `buffers` are those of the arguments.
    pub(super) fn bindings(&self, buffers: &[Buffer]) -> Vec<Window> {
        let mut bindings = vec![];
        for (i, arg) in self.kernel.args.iter().enumerate() {
            for (offset, bytes) in self.windows(i) {
                bindings.push(Window { buffer: buffers[i], offset, bytes, write: arg.mode == Mode::Write });
            }
        }
        bindings
    }

    /// The text of the header.
    pub(super) fn text(&self) -> String {
        let mut t = Text::default();
        t.line("struct SxRecord { zero: u32, launch: u32 }");
        t.line("@group(0) @binding(0) var<uniform> sx: SxRecord;");
        let mut binding = 1;
        for (i, arg) in self.kernel.args.iter().enumerate() {
            let word = word_type(arg.dtype);
            let element = match (self.atomic[i], self.fours[i]) {
                (true, _) => format!("atomic<{word}>"),
                (_, true) => format!("vec4<{word}>"),
                _ => word.to_owned(),
            };
            let access = if arg.mode == Mode::Write { "read_write" } else { "read" };
            let windows = self.windows(i);
            for (w, (_, bytes)) in windows.iter().enumerate() {
                let name = window_name(i, w);
                let words = if self.fours[i] { bytes / 16 } else { bytes / 4 };
                t.line(format!(
                    "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}, {words}>;"
                ));
                binding += 1;
            }
            if windows.len() > 1 {
                self.window_functions(&mut t, i, word, arg.mode, windows.len());
            }
        }
        if self.traps() {
            t.line("struct SxTrap { claimed: atomic<u32>, launch: u32, trap: u32, spare: u32, position: vec2<u32>, value: vec2<u32> }");
            t.line(format!("@group(0) @binding({binding}) var<storage, read_write> sx_traps: SxTrap;"));
            t.line("fn sx_trap(trap: u32, position: u32, value: vec2<u32>) {");
            t.line("if (atomicAdd(&sx_traps.claimed, 1u) == 0u) {");
            t.line("sx_traps.launch = sx.launch;");
            t.line("sx_traps.trap = trap;");
            t.line("sx_traps.position = vec2<u32>(position, 0u);");
            t.line("sx_traps.value = value;");
            t.close(2);
        }
        t.finish()
    }

    /// Functions that find an argument's word in the right window.
    fn window_functions(&self, t: &mut Text, arg: usize, word: &str, mode: Mode, windows: usize) {
        let words = self.window / 4;
        let place = |w: usize| format!("{}[i - {}u]", window_name(arg, w), w as u64 * words);
        /// What a function does with its word, given the place of the word.
        type Statement = fn(&str) -> String;
        let signatures: Vec<(String, Statement)> = match (mode, self.atomic[arg]) {
            (Mode::Read, _) => {
                vec![(format!("fn a{arg}_read(i: u32) -> {word}"), |p| format!("return {p};"))]
            }
            (Mode::Write, false) => {
                vec![(format!("fn a{arg}_write(i: u32, x: {word})"), |p| format!("{p} = x; return;"))]
            }
            (Mode::Write, true) => vec![
                (format!("fn a{arg}_and(i: u32, x: u32)"), |p| format!("atomicAnd(&{p}, x); return;")),
                (format!("fn a{arg}_or(i: u32, x: u32)"), |p| format!("atomicOr(&{p}, x); return;")),
            ],
        };
        for (signature, act) in signatures {
            t.line(format!("{signature} {{"));
            for w in (1..windows).rev() {
                t.line(format!("if (i >= {}u) {{", w as u64 * words));
                t.line(act(&place(w)));
                t.line("}");
            }
            t.line(act(&place(0)));
            t.line("}");
        }
    }

    fn word(&self, arg: u32, index: &str) -> String {
        match self.windows(arg as usize).len() {
            1 => self.place(arg, index),
            _ => format!("a{arg}_read({index})"),
        }
    }

    fn write(&self, arg: u32, index: &str, value: &str) -> String {
        match self.windows(arg as usize).len() {
            1 => format!("{} = {value};", self.place(arg, index)),
            _ => format!("a{arg}_write({index}, {value});"),
        }
    }

    /// A word of an argument that has one window.
    fn place(&self, arg: u32, index: &str) -> String {
        let name = window_name(arg as usize, 0);
        match self.fours[arg as usize] {
            true => format!("{name}[({index}) / 4u][({index}) % 4u]"),
            false => format!("{name}[{index}]"),
        }
    }

    /// Four words of an argument that is bound so; `index` is that of the first.
    pub(super) fn read_four(&self, arg: u32, index: &str) -> String {
        format!("{}[({index}) / 4u]", window_name(arg as usize, 0))
    }

    /// Writes four words.
    pub(super) fn write_four(&self, arg: u32, index: &str, value: &str) -> String {
        format!("{} = {value};", self.read_four(arg, index))
    }

    /// An expression for an element in its register form; lines it needs first go to `t`, under `name`.
    pub(super) fn read(&self, t: &mut Text, arg: u32, name: &str, element: &str) -> String {
        let dtype = self.kernel.args[arg as usize].dtype;
        if dtype == DType::F32 || dtype == DType::I32 {
            return self.word(arg, element);
        }
        t.line(format!("let {name}_at = {element};"));
        let at = format!("{name}_at");
        match dtype {
            DType::I64 => format!(
                "vec2<u32>({}, {})",
                self.word(arg, &format!("{at} * 2u")),
                self.word(arg, &format!("{at} * 2u + 1u"))
            ),
            DType::Bool => {
                let word = self.word(arg, &format!("{at} >> 2u"));
                format!("((({word} >> (({at} & 3u) * 8u)) & 0xffu) != 0u)")
            }
            _ => {
                let word = self.word(arg, &format!("{at} >> 1u"));
                format!("bitcast<f32>(({word} >> (({at} & 1u) * 16u)) << 16u)")
            }
        }
    }

    /// Writes what a gathering store needs before its loop.
    pub(super) fn open(&self, t: &mut Text, stores: &[(usize, Pack)]) {
        for (i, _) in stores.iter().filter(|(_, pack)| matches!(pack, Pack::Gathered(_))) {
            t.line(format!("var word{i} = 0u;"));
        }
    }

    /// Writes store `number`. `last` is true of the last element its invocation will see.
    pub(super) fn store(
        &self,
        t: &mut Text,
        spell: &Spell<'_>,
        number: usize,
        store: &Store,
        pack: Pack,
        last: &str,
    ) {
        let arg = store.access.arg;
        let dtype = self.kernel.args[arg as usize].dtype;
        let bits = spell.bits(store.value, dtype);
        t.line(format!("let at{number} = {};", spell.element(&store.access, None)));
        let at = format!("at{number}");
        match (pack, dtype) {
            (Pack::Words, DType::I64) => {
                t.line(format!("let bits{number} = {bits};"));
                t.line(self.write(arg, &format!("{at} * 2u"), &format!("bits{number}.x")));
                t.line(self.write(arg, &format!("{at} * 2u + 1u"), &format!("bits{number}.y")));
            }
            (Pack::Words, _) => t.line(self.write(arg, &at, &bits)),
            (Pack::Gathered(n), _) => {
                let (mask, width) = (n - 1, 32 / n);
                t.line(format!("word{number} |= {bits} << (({at} & {mask}u) * {width}u);"));
                t.line(format!("if (({at} & {mask}u) == {mask}u || {last}) {{"));
                t.line(self.write(arg, &format!("{at} / {n}u"), &format!("word{number}")));
                t.line(format!("word{number} = 0u;"));
                t.line("}");
            }
            (Pack::Atomic(n), _) => {
                let (mask, width) = (n - 1, 32 / n);
                let ones = if n == 4 { "0xffu" } else { "0xffffu" };
                t.line(format!("let shift{number} = ({at} & {mask}u) * {width}u;"));
                let word = format!("{at} / {n}u");
                let (clear, set) =
                    (format!("~({ones} << shift{number})"), format!("{bits} << shift{number}"));
                if self.windows(arg as usize).len() == 1 {
                    let place = window_name(arg as usize, 0);
                    t.line(format!("atomicAnd(&{place}[{word}], {clear});"));
                    t.line(format!("atomicOr(&{place}[{word}], {set});"));
                } else {
                    t.line(format!("a{arg}_and({word}, {clear});"));
                    t.line(format!("a{arg}_or({word}, {set});"));
                }
            }
        }
    }
}

fn window_name(arg: usize, window: usize) -> String {
    if window == 0 { format!("a{arg}") } else { format!("a{arg}_{window}") }
}
