// 64-bit integers as two words, low then high: two's complement, every operation wraps.

fn sx_wide(x: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(x), bitcast<u32>(x >> 31u));
}

fn sx_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn sx_sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn sx_neg64(a: vec2<u32>) -> vec2<u32> {
    return sx_sub64(vec2<u32>(0u, 0u), a);
}

fn sx_abs64(a: vec2<u32>) -> vec2<u32> {
    return select(a, sx_neg64(a), (a.y >> 31u) == 1u);
}

fn sx_mul64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x * b.x, sx_mul_high(a.x, b.x) + a.x * b.y + a.y * b.x);
}

fn sx_eq64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.x == b.x && a.y == b.y;
}

fn sx_lt64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(bitcast<i32>(a.y) < bitcast<i32>(b.y), a.x < b.x, a.y == b.y);
}

fn sx_max64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, sx_lt64(a, b));
}

fn sx_min64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, sx_lt64(b, a));
}

// Shifts of 0 to 63 bits, without sign.
fn sx_shr64(a: vec2<u32>, by: u32) -> vec2<u32> {
    if (by == 0u) {
        return a;
    }
    if (by >= 32u) {
        return vec2<u32>(a.y >> (by - 32u), 0u);
    }
    return vec2<u32>((a.x >> by) | (a.y << (32u - by)), a.y >> by);
}

fn sx_shl64(a: vec2<u32>, by: u32) -> vec2<u32> {
    if (by == 0u) {
        return a;
    }
    if (by >= 32u) {
        return vec2<u32>(0u, a.x << (by - 32u));
    }
    return vec2<u32>(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

// Quotient of numbers without sign; `b` is not 0. Bit by bit unless one word is enough.
fn sx_udiv64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if (a.y == 0u && b.y == 0u) {
        return vec2<u32>(a.x / b.x, 0u);
    }
    var rest = vec2<u32>(0u, 0u);
    var quotient = a;
    for (var i = 0u; i < 64u; i++) {
        let out = rest.y >> 31u;
        rest = vec2<u32>((rest.x << 1u) | (quotient.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
        quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
        let fits = out == 1u || rest.y > b.y || (rest.y == b.y && rest.x >= b.x);
        if (fits) {
            rest = sx_sub64(rest, b);
            quotient.x |= 1u;
        }
    }
    return quotient;
}

// Truncates; by zero it is 0.
fn sx_div64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if ((b.x | b.y) == 0u) {
        return vec2<u32>(0u, 0u);
    }
    let q = sx_udiv64(sx_abs64(a), sx_abs64(b));
    return select(q, sx_neg64(q), ((a.y ^ b.y) >> 31u) == 1u);
}

// The remainder with the divisor's sign; by zero it is 0.
fn sx_mod64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if ((b.x | b.y) == 0u) {
        return vec2<u32>(0u, 0u);
    }
    let r = sx_sub64(a, sx_mul64(sx_div64(a, b), b));
    return select(r, sx_add64(r, b), (r.x | r.y) != 0u && ((r.y ^ b.y) >> 31u) == 1u);
}

// To the nearest f32, ties to even.
fn sx_f32_of_i64(a: vec2<u32>) -> f32 {
    let sign = a.y & 0x80000000u;
    let m = sx_abs64(a);
    if ((m.x | m.y) == 0u) {
        return 0.0;
    }
    let top = select(63u - countLeadingZeros(m.y), 31u - countLeadingZeros(m.x), m.y == 0u);
    if (top <= 23u) {
        return bitcast<f32>(sign | bitcast<u32>(f32(m.x)));
    }
    let by = top - 23u;
    let kept = sx_shr64(m, by).x;
    let lost = sx_sub64(m, sx_shl64(vec2<u32>(kept, 0u), by));
    let half = sx_shl64(vec2<u32>(1u, 0u), by - 1u);
    let up = (lost.y > half.y || (lost.y == half.y && lost.x > half.x)) || (sx_eq64(lost, half) && (kept & 1u) == 1u);
    return bitcast<f32>(sign | (((top + 126u) << 23u) + kept + select(0u, 1u, up)));
}

// Truncates and saturates; NaN is 0.
fn sx_i64_of_f32(x: f32) -> vec2<u32> {
    let b = bitcast<u32>(x);
    let exponent = (b >> 23u) & 0xffu;
    let negative = (b >> 31u) == 1u;
    if (sx_is_nan(x) || exponent < 127u) {
        return vec2<u32>(0u, 0u);
    }
    if (exponent >= 190u) {
        return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), negative);
    }
    let significand = vec2<u32>((b & 0x7fffffu) | 0x800000u, 0u);
    var m = sx_shl64(significand, max(exponent, 150u) - 150u);
    if (exponent < 150u) {
        m = sx_shr64(significand, 150u - exponent);
    }
    return select(m, sx_neg64(m), negative);
}
