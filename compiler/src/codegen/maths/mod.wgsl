// The remainder of a division rounded down: it has the divisor's sign. A long division in integers, so that the
// remainder is exact however far apart the two are; one rounding where the divisor is added to it.
fn sx_mod(a: f32, b: f32) -> f32 {
    let sign_a = bitcast<u32>(a) & 0x80000000u;
    let sign_b = bitcast<u32>(b) & 0x80000000u;
    let ua = bitcast<u32>(a) & 0x7fffffffu;
    let ub = bitcast<u32>(b) & 0x7fffffffu;
    if ua >= 0x7f800000u || ub > 0x7f800000u || ub == 0u {
        return sx_bits(0x7fc00000u);
    }
    var rest = ua;
    if ua >= ub {
        let eb = max(ub >> 23u, 1u);
        let mb = (ub & 0x7fffffu) | select(0u, 0x800000u, ub >= 0x800000u);
        var e = max(ua >> 23u, 1u) - eb;
        var m = ((ua & 0x7fffffu) | select(0u, 0x800000u, ua >= 0x800000u)) % mb;
        while e > 0u && m > 0u {
            let step = min(e, 8u);
            m = (m << step) % mb;
            e -= step;
        }
        // Bring the leading bit back to its place, as far as the exponent allows.
        let up = min(countLeadingZeros(m | 1u) - 8u, eb - 1u);
        m = m << up;
        rest = select(m, ((eb - up) << 23u) | (m & 0x7fffffu), m >= 0x800000u);
    }
    if rest == 0u {
        return bitcast<f32>(sign_b);
    }
    if sign_a == sign_b {
        return bitcast<f32>(rest | sign_b);
    }
    return bitcast<f32>(rest | sign_a) + b;
}
