"""Fits the polynomials of the maths library and prints `table.rs`.

    python3 -m pip install mpmath numpy
    python3 artifact/src/maths/fit.py > artifact/src/maths/table.rs

Each entry is a weighted minimax fit (Remez exchange) in f64 of a function that mpmath evaluates. The
coefficients are then rounded to f32 from the lowest order on, and the rest is fitted again after each.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 90


def solve(value, weight, grid, powers, fixed):
    """Minimax coefficients of the free `powers` over `grid`, given the `fixed` ones."""
    rest = value - sum(c * grid**p for p, c in fixed.items())
    free = [p for p in powers if p not in fixed]
    if not free:
        return {}, rest * weight
    count = len(free) + 1
    cheb = 0.5 - 0.5 * np.cos(np.pi * np.arange(count) / (count - 1))
    at = np.unique(np.round(cheb * (len(grid) - 1)).astype(int))
    coef = None
    for _ in range(40):
        basis = np.stack([grid[at] ** p for p in free] + [(-1.0) ** np.arange(count) / weight[at]], 1)
        coef = np.linalg.solve(basis, rest[at])[:-1]
        error = (rest - sum(c * grid**p for p, c in zip(free, coef))) * weight
        # One extreme for each run of equal sign; the neighbours with the largest sum of errors.
        edges = np.flatnonzero(np.diff(np.sign(error)) != 0) + 1
        runs = np.split(np.arange(len(grid)), edges)
        tops = np.array([run[np.argmax(np.abs(error[run]))] for run in runs])
        if len(tops) < count:
            break
        starts = range(len(tops) - count + 1)
        best = max(starts, key=lambda s: np.abs(error[tops[s : s + count]]).min())
        new = tops[best : best + count]
        if np.array_equal(new, at):
            break
        at = new
    return dict(zip(free, coef)), error


def fit(name, doc, f, weight, low, high, powers, fixed=None):
    grid = np.linspace(low, high, 4001)
    value = np.array([float(f(mp.mpf(z))) for z in grid])
    w = np.array([float(weight(mp.mpf(z))) for z in grid])
    known = dict(fixed or {})
    for p in powers:
        free, _ = solve(value, w, grid, powers, known)
        if p in free:
            known[p] = float(np.float32(free[p]))
    error = (value - sum(c * grid**p for p, c in known.items())) * w
    values = [known[p] for p in powers]
    print(f"/// {doc} Largest weighted error 2^{np.log2(np.abs(error).max()):.1f}.")
    print("#[rustfmt::skip]")
    print(f"pub(super) const {name}: [f32; {len(values)}] = [")
    for v in values:
        print(f"    f32::from_bits({np.float32(v).view(np.uint32):#010x}), // {np.float32(v)!s}")
    print("];\n")


def quotient(name, doc, f, weight, low, high, over, under, first):
    """A quotient of polynomials of degrees `over` and `under` with constants `first` and 1.

    Weighted least squares with Lawson's update of the weights; the coefficients are rounded to f32 from the lowest
    order on, those of both polynomials together, and the rest is fitted again after each.
    """
    grid = low + (high - low) * (0.5 - 0.5 * np.cos(np.pi * np.arange(1500) / 1499))
    value = np.array([float(f(mp.mpf(x))) for x in grid])
    w = np.array([float(weight(mp.mpf(x))) for x in grid])
    terms = [("over", p) for p in range(over + 1)] + [("under", p) for p in range(under + 1)]
    column = {t: grid ** t[1] if t[0] == "over" else -value * grid ** t[1] for t in terms}
    known = {("over", 0): first, ("under", 0): 1.0}

    def polynomial(kind, c):
        return sum(c[t] * grid ** t[1] for t in terms if t[0] == kind)

    def error(c):
        return np.abs(polynomial("over", c) / polynomial("under", c) - value) * w

    def solve_free(known):
        free = [t for t in terms if t not in known]
        if not free:
            return known
        share, below, best = np.ones_like(grid), np.ones_like(grid), None
        for _ in range(80):
            scale = np.sqrt(share) * w / below
            basis = np.stack([column[t] * scale for t in free], 1)
            rest = -sum(c * column[t] for t, c in known.items()) * scale
            size = np.linalg.norm(basis, axis=0)
            found = np.linalg.lstsq(basis / size, rest, rcond=None)[0] / size
            c = {**known, **dict(zip(free, found))}
            below = polynomial("under", c)
            e = error(c)
            if best is None or e.max() < best[0]:
                best = (e.max(), c)
            share *= e / e.max() + 1e-3
            share /= share.sum()
        return best[1]

    for term in sorted(terms, key=lambda t: t[1]):
        if term not in known:
            known[term] = float(np.float32(solve_free(known)[term]))
    worst = np.log2(error(known).max())
    for kind, count, part in [("over", over + 1, "Numerator"), ("under", under + 1, "Denominator")]:
        print(f"/// {part} of {doc} Largest weighted error 2^{worst:.1f}.")
        print("#[rustfmt::skip]")
        print(f"pub(super) const {name}_{kind.upper()}: [f32; {count}] = [")
        for p in range(count):
            v = np.float32(known[kind, p])
            print(f"    f32::from_bits({v.view(np.uint32):#010x}), // {v!s}")
        print("];\n")


def split(name, doc, value, bits):
    """`value` as a sum of f32: each part but the last with `bits` significant bits."""
    parts, rest = [], value
    for keep in bits:
        exponent = mp.floor(mp.log(abs(rest), 2)) + 1 - keep
        part = mp.nint(rest / mp.mpf(2) ** exponent) * mp.mpf(2) ** exponent
        parts.append(float(part))
        rest -= part
    print(f"/// {doc}")
    print("#[rustfmt::skip]")
    print(f"pub(super) const {name}: [f32; {len(parts)}] = [")
    for v in parts:
        assert float(np.float32(v)) == v
        print(f"    f32::from_bits({np.float32(v).view(np.uint32):#010x}), // {np.float32(v)!s}")
    print("];\n")


print("//! Coefficients, made by `fit.py`. Lowest order first.\n")

fit("EXP", "`(exp(r) - 1 - r) / r^2` for `|r| <= ln(2) / 2`, relative to `exp(r) - 1`.",
    lambda r: (mp.exp(r) - 1 - r) / r**2 if r else mp.mpf(0.5),
    lambda r: r**2 / abs(mp.expm1(r)) if abs(r) > 1e-9 else 1e-9, -0.3485, 0.3485, range(5))

def atanh_tail(z):
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / s**3 if z > 1e-12 else mp.mpf(2) / 3

fit("LOG", "`(2 atanh(s) - 2 s) / s^3` in `z = s^2` for `s <= 3 - 2 sqrt(2)`, relative to `2 atanh(s)`.",
    atanh_tail, lambda z: z / 2 + mp.mpf(2)**-40, 0, 0.02945, range(3))
fit("LOG_POW", "The same as `LOG`, finer, for `pow`.",
    atanh_tail, lambda z: z / 2 + mp.mpf(2)**-40, 0, 0.02945, range(4))

def sin_tail(z):
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3 if z > 1e-12 else -mp.mpf(1) / 6

fit("SIN", "`(sin(r) - r) / r^3` in `z = r^2` for `|r| <= pi / 4`, relative to `sin(r)`.",
    sin_tail, lambda z: z + mp.mpf(2)**-40, 0, 0.6175, range(3))
fit("COS", "`(cos(r) - 1 + z / 2) / z^2` in `z = r^2` for `|r| <= pi / 4`, relative to `cos(r)`.",
    lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > 1e-9 else mp.mpf(1) / 24,
    lambda z: z**2 / mp.cos(mp.sqrt(z)) + mp.mpf(2)**-40, 0, 0.6175, range(3))

def asin_tail(z):
    x = mp.sqrt(z)
    return (mp.asin(x) - x) / x**3 if z > 1e-12 else mp.mpf(1) / 6

fit("ASIN", "`(asin(x) - x) / x^3` in `z = x^2` for `|x| <= 1/2`, relative to `asin(x)`.",
    asin_tail, lambda z: z + mp.mpf(2)**-40, 0, 0.25, range(5))

def atan_tail(z):
    x = mp.sqrt(z)
    return (mp.atan(x) - x) / x**3 if z > 1e-12 else -mp.mpf(1) / 3

fit("ATAN", "`(atan(x) - x) / x^3` in `z = x^2` for `|x| <= sqrt(2) - 1`, relative to `atan(x)`.",
    atan_tail, lambda z: z + mp.mpf(2)**-40, 0, 0.17158, range(5))

fit("ERF_NEAR", "`erf(x) / x - 1` in `z = x^2` for `|x| <= 0.95`, relative to `erf(x)`.",
    lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > 1e-12 else 2 / mp.sqrt(mp.pi) - 1,
    lambda z: mp.mpf(1), 0, 0.95**2 + 0.001, range(7))
fit("ERF_FAR", "`log(1 - erf(x))` for `0.95 <= x <= 4`, as an error of `erf(x)`.",
    lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x), 0.949, 4.0, range(6))

def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)

def tail(name, doc, f, high):
    """`slope - (1 / f(x) - 1 / f(0)) / x`, where `slope` is what the quotient tends to, as a float.

    The weight makes an error of it the relative error of `f`.
    """
    first, limit = 1 / f(mp.mpf(0)), {"ERFC": mp.sqrt(mp.pi), "NORMAL": mp.sqrt(2 * mp.pi)}[name]
    slope = mp.mpf(float(np.float32(limit)))
    start = slope - mp.diff(lambda x: 1 / f(x), 0)
    quotient(name, doc, lambda x: slope - (1 / f(x) - first) / x if x > 1e-12 else start,
             lambda x: x * f(x) + mp.mpf(2)**-20, 0, high, 3, 4, float(np.float32(start)))

tail("ERFC", "`sqrt(pi) - (1 / (exp(x^2) erfc(x)) - 1) / x` for `x <= 9.25`, as an error of the exponential over it.",
     erfcx, 9.25)
tail("NORMAL", "`sqrt(2 pi) - (1 / (exp(x^2 / 2) p) - 2) / x`, where `p` of a normal distribution is beyond `x`, for "
     "`x <= 13.25`, as an error of `p`.", lambda x: erfcx(x / mp.sqrt(2)) / 2, 13.25)

split("LN2", "`ln(2)`: the first part times any exponent is exact.", mp.log(2), [15, 24])
split("PI", "`pi` in two parts.", mp.pi, [24, 24])
split("TWO_LOG2E", "`2 / ln(2)`: the first part times 12 bits is exact.", 2 / mp.log(2), [12, 24])

linear = 2 * mp.mpf(0.7978845608028654)
split("GELU_LINEAR", "`2 sqrt(2/pi)`, of which the first part has 12 bits.", linear, [12, 24])
split("GELU_CUBIC", "`0.044715 * 2 sqrt(2/pi)`, of which the first part has 12 bits.", linear * mp.mpf(0.044715), [12, 24])

two_over_pi = 2 / mp.pi
words = [0] + [int(mp.floor(two_over_pi * mp.mpf(2) ** (32 * k))) & 0xFFFFFFFF for k in range(1, 8)]
print("/// A word of zeros, then the binary digits of `2 / pi` after the point.")
print("#[rustfmt::skip]")
print("pub(super) const TWO_OVER_PI: [u32; 8] = [")
print("    " + ", ".join(f"{w:#010x}" for w in words[:4]) + ",")
print("    " + ", ".join(f"{w:#010x}" for w in words[4:]) + ",")
print("];")
