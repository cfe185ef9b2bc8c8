// Functions that every kernel may call. Only those that a kernel reaches become part of its text.
// The maths library is not here: the compiler spells it. Values: f32, i32, bool; an i64 is a vec2<u32> of its low and high word (i64.wgsl).

fn sx_is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn sx_neg(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);
}

fn sx_abs(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}
