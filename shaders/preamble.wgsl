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

// Wraps; a negative power of anything but 1 and -1 truncates to 0.
fn sx_pow_i32(a: i32, b: i32) -> i32 {
    if (b < 0) {
        return select(select(0, select(1, -1, (b & 1) == 1), a == -1), 1, a == 1);
    }
    var result = 1;
    var base = a;
    for (var n = b; n > 0; n >>= 1u) {
        if ((n & 1) == 1) {
            result *= base;
        }
        base *= base;
    }
    return result;
}

