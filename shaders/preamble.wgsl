// Functions that every kernel may call. Only those that a kernel reaches become part of its text.
// Values: f32, i32, bool; an i64 is a vec2<u32> of its low and high word (i64.wgsl).

fn sx_is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn sx_nan() -> f32 {
    return bitcast<f32>(0x7fc00000u ^ sx.zero);
}

fn sx_neg(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);
}

fn sx_abs(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}

// NaN if either is; of equal values the first.
fn sx_max(a: f32, b: f32) -> f32 {
    return select(b, a, sx_is_nan(a) || (a >= b && !sx_is_nan(b)));
}

fn sx_min(a: f32, b: f32) -> f32 {
    return select(b, a, sx_is_nan(a) || (a <= b && !sx_is_nan(b)));
}

// The remainder of truncated division, exactly: shift and subtract on the significands.
fn sx_fmod(x: f32, y: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    let ux = bitcast<u32>(x) & 0x7fffffffu;
    let uy = bitcast<u32>(y) & 0x7fffffffu;
    if (uy == 0u || ux >= 0x7f800000u || uy > 0x7f800000u) {
        return sx_nan();
    }
    if (ux < uy) {
        return x;
    }
    var ex = i32(ux >> 23u);
    var ey = i32(uy >> 23u);
    var mx = (ux & 0x7fffffu) | 0x800000u;
    var my = (uy & 0x7fffffu) | 0x800000u;
    if (ex == 0) {
        let shift = countLeadingZeros(ux) - 8u;
        mx = ux << shift;
        ex = 1 - i32(shift);
    }
    if (ey == 0) {
        let shift = countLeadingZeros(uy) - 8u;
        my = uy << shift;
        ey = 1 - i32(shift);
    }
    for (; ex > ey; ex--) {
        if (mx >= my) {
            mx -= my;
        }
        mx <<= 1u;
    }
    if (mx >= my) {
        mx -= my;
    }
    if (mx == 0u) {
        return bitcast<f32>(sign);
    }
    let shift = countLeadingZeros(mx) - 8u;
    mx <<= shift;
    ex -= i32(shift);
    if (ex > 0) {
        return bitcast<f32>(sign | (u32(ex) << 23u) | (mx & 0x7fffffu));
    }
    return bitcast<f32>(sign | (mx >> u32(1 - ex)));
}

// The remainder with the divisor's sign.
fn sx_mod(x: f32, y: f32) -> f32 {
    let r = sx_fmod(x, y);
    if (sx_is_nan(r)) {
        return r;
    }
    if (sx_abs(r) == 0.0) {
        return bitcast<f32>(bitcast<u32>(y) & 0x80000000u);
    }
    return select(r, r + y, ((bitcast<u32>(r) ^ bitcast<u32>(y)) >> 31u) == 1u);
}

fn sx_div_i32(a: i32, b: i32) -> i32 {
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return bitcast<i32>(0u - bitcast<u32>(a));
    }
    return a / b;
}

// The remainder with the divisor's sign; by zero it is 0.
fn sx_mod_i32(a: i32, b: i32) -> i32 {
    if (b == 0 || b == -1) {
        return 0;
    }
    let r = a - (a / b) * b;
    return select(r, r + b, r != 0 && (r ^ b) < 0);
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

// Truncates and saturates; NaN is 0.
fn sx_i32_of_f32(x: f32) -> i32 {
    if (sx_is_nan(x)) {
        return 0;
    }
    if (x >= 2147483648.0) {
        return 2147483647;
    }
    if (x <= -2147483648.0) {
        return -2147483647 - 1;
    }
    return i32(x);
}

// To the nearest bf16, ties to even; NaN stays a quiet NaN.
fn sx_round_bf16(x: f32) -> f32 {
    let b = bitcast<u32>(x);
    let rounded = (b + 0x7fffu + ((b >> 16u) & 1u)) & 0xffff0000u;
    return bitcast<f32>(select(rounded, (b | 0x400000u) & 0xffff0000u, (b & 0x7fffffffu) > 0x7f800000u));
}
