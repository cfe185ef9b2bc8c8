// The float with these bits, which may be an infinity or a NaN: WGSL has no literal for those.
fn sx_bits(bits: u32) -> f32 {
    return bitcast<f32>(bitcast<u32>(opq(0.0)) | bits);
}

// The upper half of the 64-bit product.
fn sx_mul_high(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let low = al * bl;
    let middle = ah * bl + (low >> 16u);
    let other = al * bh + (middle & 0xffffu);
    return ah * bh + (middle >> 16u) + (other >> 16u);
}

// The nearest bf16, ties to even, as an f32. A NaN stays a NaN with its sign.
fn sx_round_bf16(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);
    return bitcast<f32>(select(rounded, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u) & 0xffff0000u);
}

// Towards zero, saturating; NaN is 0.
fn sx_f32_to_i32(x: f32) -> i32 {
    let bits = bitcast<u32>(x);
    let magnitude = bits & 0x7fffffffu;
    // From 2^31 on: the largest or the smallest integer.
    let limit = bitcast<i32>(0x7fffffffu + (bits >> 31u));
    let inside = i32(bitcast<f32>(select(bits, 0u, magnitude >= 0x4f000000u)));
    return select(select(inside, limit, magnitude >= 0x4f000000u), 0, magnitude > 0x7f800000u);
}

// Rounds towards zero; 0 where b is 0; the smallest integer over -1 wraps to itself.
fn sx_div_i32(a: i32, b: i32) -> i32 {
    let divisor = select(b, 1, b == 0 || b == -1);
    let negated = bitcast<i32>(0u - bitcast<u32>(a));
    return select(select(a / divisor, negated, b == -1), 0, b == 0);
}

// The remainder of a division rounded down: it has the divisor's sign. 0 where b is 0.
fn sx_mod_i32(a: i32, b: i32) -> i32 {
    let rest = a % select(b, 1, b == 0 || b == -1);
    return select(rest, rest + b, rest != 0 && (rest < 0) != (b < 0));
}
