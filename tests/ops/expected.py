#!/usr/bin/env python3
"""Writes the answers that every target is tested against: NumPy's and ml_dtypes', for every operation.

    python3 tests/ops/expected.py

Each file holds a pool of operands and a list of cases; a case names an operation, its attributes, its operands
in the pool, and the bytes of the answer. Floats are computed in float64 and rounded once, except where the
float32 operation is correctly rounded itself. What NumPy leaves open is settled here as the book settles it:
which of two zeros is the larger, division of integers by zero, casts beyond a range.
"""

import itertools
import json
import math
import pathlib

import ml_dtypes
import numpy as np

np.seterr(all="ignore")
HERE = pathlib.Path(__file__).parent
BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {
    "f32": np.dtype("float32"),
    "bf16": BF16,
    "i32": np.dtype("int32"),
    "i64": np.dtype("int64"),
    "bool": np.dtype("bool"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATS, INTS = ["f32", "bf16"], ["i32", "i64"]
NUMBERS, ALL = FLOATS + INTS, FLOATS + INTS + ["bool"]
SHAPES = [[], [0], [1], [7], [3, 5], [2, 0, 3], [1, 1, 1], [2, 3, 5]]
PAIRS = [([], []), ([0], [0]), ([1], [1]), ([7], [7]), ([3, 1], [5]), ([], [2, 3]), ([2, 1, 5], [3, 1]),
         ([2, 3], []), ([1, 0], [3, 1]), ([13], [11, 1])]


def edges(dtype):
    """Values where things go wrong, none of them subnormal."""
    if dtype in FLOATS:
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -7.25, 0.1, 1e-6, -1e-6, 20.0, -20.0,
                  88.0, -88.0, 104.0, 1e10, -1e10, 8388609.0, 3e38, -3e38, 1.2e-38, np.inf, -np.inf, np.nan]
        return np.array(values, np.float32).astype(DTYPES[dtype])
    if dtype in INTS:
        info = np.iinfo(DTYPES[dtype])
        values = [0, 1, -1, 2, -2, 3, -3, 7, -7, 46341, -65536, info.max, info.max - 1, info.min, info.min + 1]
        return np.array(values, DTYPES[dtype])
    return np.array([False, True])


SUBNORMAL = np.array([1e-40, -1e-40, 1e-45, 1e-39, -5e-39], np.float32)


class File:
    """One file of cases over a pool of operands."""

    def __init__(self, name):
        self.name, self.pool, self.cases = name, {}, []

    def add(self, op, args, out, subnormal=False, **attributes):
        names = [self.put(np.asarray(arg)) for arg in args]
        case = {"op": op, **attributes, "args": names, "out": packed(np.asarray(out))}
        if subnormal:
            case["subnormal"] = True
        self.cases.append(case)

    def put(self, value):
        entry = packed(value)
        for name, known in self.pool.items():
            if known == entry:
                return name
        name = f"{NAMES[value.dtype]}{len(self.pool)}"
        self.pool[name] = entry
        return name

    def write(self):
        pool = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in self.pool.items())
        cases = ",\n".join(" " + json.dumps(case) for case in self.cases)
        text = f'{{"pool": {{\n{pool}\n}},\n"cases": [\n{cases}\n]}}\n'
        (HERE / f"{self.name}.json").write_text(text)
        print(f"{self.name}: {len(self.cases)} cases, {len(text)} bytes")


def packed(value):
    little = np.ascontiguousarray(value)
    return [NAMES[value.dtype], list(value.shape), little.tobytes().hex()]


def random(dtype, shape, seed, low=-4.0, high=4.0):
    rng = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTS:
        return np.asarray(rng.integers(-9, 10, shape), DTYPES[dtype])
    return np.asarray(rng.uniform(low, high, shape), np.float32).astype(DTYPES[dtype])


def rounded(value, dtype):
    """float64 to a float dtype."""
    return np.asarray(value, np.float64).astype(np.float32).astype(DTYPES[dtype])


def wide(value):
    return np.asarray(value).astype(np.float64)


# ---- scalar functions -------------------------------------------------------------------------------------


def truncated(x, y):
    """Integer division towards zero; by zero it is 0; the smallest over -1 wraps."""
    bits = 8 * x.dtype.itemsize
    def one(a, b):
        a, b = int(a), int(b)
        if b == 0:
            return 0
        q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return (q + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    x, y = np.broadcast_arrays(x, y)
    return np.array([one(a, b) for a, b in zip(x.ravel(), y.ravel())], x.dtype).reshape(x.shape)


def modulo(x, y):
    if x.dtype.kind == "i":
        return np.where(y == 0, 0, np.mod(x, np.where(y == 0, 1, y))).astype(x.dtype)
    return np.mod(x, y)


def larger(x, y):
    """Of two zeros the positive one."""
    result = np.maximum(x, y)
    if x.dtype.kind != "i":
        zeros = (x == 0) & (y == 0)
        positive = ~(np.signbit(x) & np.signbit(y))
        result = np.where(zeros & positive, np.zeros((), x.dtype), result).astype(x.dtype)
        result = np.where(zeros & ~positive, -np.zeros((), x.dtype), result).astype(x.dtype)
    return result


def smaller(x, y):
    return np.minimum(x, y) if x.dtype.kind == "i" else -larger(-x, -y)


def divided(x, y):
    return truncated(x, y) if x.dtype.kind == "i" else x / y


# Computed in float32 or the integer's own width, where NumPy rounds correctly.
NATIVE2 = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": divided, "mod": modulo, "maximum": larger,
           "minimum": smaller}
NATIVE1 = {"neg": np.negative, "abs": np.abs}
FLOAT_NATIVE1 = {"sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "round": np.rint}


def times(x, share):
    """`x` times a share of it, which falls faster than `x` grows: the limit at -inf is -0."""
    return np.where(np.isneginf(x), -0.0, x * share)


erfc = np.vectorize(math.erfc, otypes=[np.float64])

# Computed in float64.
FLOAT1 = {"rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "log": np.log, "expm1": np.expm1, "log1p": np.log1p,
          "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos,
          "erf": np.vectorize(math.erf, otypes=[np.float64]), "cbrt": np.cbrt,
          "sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)), "softplus": lambda x: np.logaddexp(0, x),
          "log-sigmoid": lambda x: -np.logaddexp(0, -x), "silu": lambda x: times(x, np.exp(-np.logaddexp(0, -x))),
          "gelu": lambda x: times(x, 0.5 * erfc(-x / math.sqrt(2))),
          "gelu-tanh": lambda x: times(x, np.exp(-np.logaddexp(0, -math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)))),
          "erfc": erfc}
FLOAT2 = {"pow": np.power, "atan2": np.arctan2}
TESTS = {"=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
         ">=": np.greater_equal}


def native(f, dtype):
    """`f` on storage of `dtype`: bf16 widens to f32 and rounds once."""
    if dtype == "bf16":
        return lambda *args: f(*(np.asarray(arg).astype(np.float32) for arg in args)).astype(BF16)
    return lambda *args: np.asarray(f(*args)).astype(DTYPES[dtype])


def in_f64(f, dtype):
    return lambda *args: rounded(f(*map(wide, args)), dtype)


def test(f):
    return lambda *args: np.asarray(f(*args)).astype(bool)


def unary():
    file = File("unary")
    table = [(name, native(f, dtype), dtype) for name, f in NATIVE1.items() for dtype in NUMBERS]
    table += [(name, native(f, dtype), dtype) for name, f in FLOAT_NATIVE1.items() for dtype in FLOATS]
    table += [(name, in_f64(f, dtype), dtype) for name, f in FLOAT1.items() for dtype in FLOATS]
    table += [("not", np.logical_not, "bool")]
    for name, f, dtype in table:
        inputs = [edges(dtype)] + [random(dtype, shape, 1) for shape in SHAPES]
        if dtype in FLOATS:
            grid = np.linspace(-12, 12, 193).astype(np.float32).astype(DTYPES[dtype])
            inputs.append(grid)
        for x in inputs:
            file.add("map", [x], f(x), f=name)
        if dtype in FLOATS:
            x = SUBNORMAL.astype(DTYPES[dtype])
            file.add("map", [x], f(x), subnormal=True, f=name)
    file.write()


def binary():
    file = File("binary")
    table = [(name, native(f, dtype), dtype) for name, f in NATIVE2.items() for dtype in NUMBERS]
    table += [(name, in_f64(f, dtype), dtype) for name, f in FLOAT2.items() for dtype in FLOATS]
    table += [(name, test(f), dtype) for name, f in TESTS.items() for dtype in NUMBERS]
    table += [(name, test(TESTS[name]), "bool") for name in ("=", "!=")]
    table += [("and", np.logical_and, "bool"), ("or", np.logical_or, "bool")]
    for name, f, dtype in table:
        values = edges(dtype)
        pairs = [(values[:, None], values[None, :])]
        pairs += [(random(dtype, a, 2), random(dtype, b, 3)) for a, b in PAIRS]
        for x, y in pairs:
            file.add("map", [x, y], f(x, y), f=name)
        if dtype in FLOATS:
            tiny = SUBNORMAL.astype(DTYPES[dtype])
            x, y = tiny[:, None], np.append(tiny, values[:4])[None, :]
            file.add("map", [x, y], f(x, y), subnormal=True, f=name)
    file.write()


def where():
    file = File("where")
    triples = [([], [], []), ([0], [0], [0]), ([1], [1], [1]), ([7], [7], [7]), ([3, 1], [5], []),
               ([2, 3], [3], [2, 1]), ([], [2, 3], [3])]
    for dtype in ALL:
        values = edges(dtype)
        mask = random("bool", values.shape, 5)
        file.add("map", [mask, values, values[::-1]], np.where(mask, values, values[::-1]), f="where")
        for m, a, b in triples:
            mask, x, y = random("bool", m, 6), random(dtype, a, 7), random(dtype, b, 8)
            file.add("map", [mask, x, y], np.where(mask, x, y), f="where")
    file.write()


# ---- casts, sources, movement -----------------------------------------------------------------------------


def cast(x, to):
    if to == "bool":
        return np.asarray(x != 0)
    if to in INTS and x.dtype.kind not in "ib":
        info = np.iinfo(DTYPES[to])
        def one(v):
            if math.isnan(v):
                return 0
            return info.max if v >= info.max else info.min if v <= info.min else int(v)
        return np.array([one(v) for v in wide(x).ravel()], DTYPES[to]).reshape(x.shape)
    if to == "bf16":
        return x.astype(np.float32).astype(BF16)
    return x.astype(DTYPES[to])


def casts():
    file = File("cast")
    for dtype, to in itertools.product(ALL, ALL):
        values = edges(dtype)
        if dtype in FLOATS:
            more = [2147483520.0, 2147483648.0, -2147483648.0, 9.2e18, 9.3e18, 1.00390625, 1.01171875, 0.9999]
            values = np.append(values, np.array(more, np.float32).astype(DTYPES[dtype]))
        if dtype in INTS:
            more = [16777217, 16777219, 257, 259, 33554431] + ([2**40 + 1, 2**31, 2**53 + 1] if dtype == "i64" else [])
            values = np.append(values, np.array(more, DTYPES[dtype]))
        for x in [values] + [random(dtype, shape, 9) for shape in ([], [0], [1], [3, 5])]:
            file.add("cast", [x], cast(x, to), to=to)
    file.write()


def movement():
    file = File("movement")
    for dtype in ALL:
        for axis, shape in [(0, [0]), (0, [1]), (0, [7]), (1, [3, 5]), (-1, [2, 3, 5]), (0, [3, 5]), (-3, [2, 3, 5])]:
            if dtype in INTS:
                count = np.arange(shape[axis], dtype=DTYPES[dtype])
                sizes = [1] * len(shape)
                sizes[axis] = shape[axis]
                file.add("iota", [], np.broadcast_to(count.reshape(sizes), shape), axis=axis)
        for shape in SHAPES:
            value = edges(dtype)[-1]
            file.add("full", [], np.full(shape, value, DTYPES[dtype]))
        for a, b in [([], [2, 3]), ([1], [7]), ([7], [7]), ([3, 1], [3, 5]), ([1, 5], [2, 3, 5]), ([0], [3, 0]),
                     ([1], [0]), ([2, 1, 3], [2, 0, 3])]:
            x = random(dtype, a, 10)
            file.add("broadcast", [x], np.broadcast_to(x, b))
        for a, b in [([], [1]), ([1], []), ([0], [2, 0]), ([6], [2, 3]), ([2, 3, 5], [5, 6]), ([3, 5], [15]),
                     ([7], [1, 7, 1])]:
            x = random(dtype, a, 11)
            file.add("reshape", [x], x.reshape(b))
        for shape, order in [([], []), ([7], [0]), ([3, 5], [1, 0]), ([2, 3, 5], [2, 0, 1]), ([2, 0, 3], [1, 2, 0]),
                             ([1, 3], [1, 0]), ([2, 3, 5, 7], [0, 2, 1, 3])]:
            x = random(dtype, shape, 12)
            file.add("transpose", [x], x.transpose(order), order=order)
        for shape, axis, start, stop in [([7], 0, 0, 7), ([7], 0, 2, 3), ([3, 5], 1, 1, 4), ([3, 5], -2, 2, 3),
                                         ([2, 0, 3], 2, 0, 2), ([2, 3, 5], -1, 4, 5), ([1], 0, 0, 1)]:
            x = random(dtype, shape, 13)
            cut = tuple(slice(start, stop) if i == axis % len(shape) else slice(None) for i in range(len(shape)))
            file.add("slice", [x], x[cut], axis=axis, start=start, stop=stop)
        for axis, shapes in [(0, [[7]]), (0, [[2], [3]]), (0, [[0], [3]]), (1, [[3, 2], [3, 5], [3, 1]]),
                             (-1, [[2, 3, 1], [2, 3, 4]]), (0, [[1, 5], [2, 5]]), (-2, [[2, 0], [3, 0]])]:
            parts = [random(dtype, shape, 14 + i) for i, shape in enumerate(shapes)]
            file.add("concat", parts, np.concatenate(parts, axis), axis=axis)
    file.write()


def indexing():
    file = File("indexing")
    rng = np.random.default_rng(20)
    for dtype, ids in itertools.product(ALL, INTS):
        for table, shape in [([5], [4]), ([5, 3], [2, 3]), ([7, 2, 3], []), ([1, 4], [3]), ([5], [0]), ([5, 0], [2]),
                             ([2, 3], [1])]:
            x = random(dtype, table, 21)
            at = np.asarray(rng.integers(0, table[0], shape), DTYPES[ids])
            file.add("index", [x, at], x[at])
        for shape, axis, size in [([5], 0, 4), ([3, 5], 1, 2), ([3, 5], -2, 7), ([3, 5], -1, 0), ([2, 3, 5], 1, 3),
                                  ([1, 1], 0, 1)]:
            x = random(dtype, shape, 22)
            sizes = [size if i == axis % len(shape) else n for i, n in enumerate(shape)]
            at = np.asarray(rng.integers(0, shape[axis], sizes), DTYPES[ids])
            file.add("gather", [x, at], np.take_along_axis(x, at, axis), axis=axis)
        x = edges(dtype)
        at = np.arange(len(x), dtype=DTYPES[ids])[::-1]
        file.add("index", [x, at], x[at])
        file.add("gather", [x, at], x[at], axis=0)
    file.write()


# ---- folds ------------------------------------------------------------------------------------------------


def fold(name, x, axes, keepdims):
    dtype = NAMES[x.dtype]
    options = {"axis": axes, "keepdims": keepdims}
    if name in ("any", "all"):
        return np.asarray(getattr(np, name)(x, **options))
    if dtype in INTS:
        if name in ("sum", "prod"):
            return np.asarray(getattr(np, name)(x, dtype=x.dtype, **options))
        return np.asarray(getattr(np, name)(x, **options))
    values = wide(x)
    if name in ("sum", "prod"):
        return rounded(getattr(np, name)(values, **options), dtype)
    # Of zeros the largest is the positive one.
    sign = 1 if name == "max" else -1
    values = sign * values
    top = np.max(values, **options)
    positive = np.any((values == 0) & ~np.signbit(values), **options)
    top = np.where(top == 0, np.where(positive, 0.0, -0.0), top)
    return rounded(sign * top, dtype)


def folds():
    file = File("reduce")
    cases = [([], [None]), ([0], [None, (0,)]), ([1], [None, (-1,)]), ([7], [None]), ([3, 5], [None, (0,), (-1,)]),
             ([2, 0, 3], [(0,), (1,), (-1, -3), None]), ([2, 3, 5], [None, (1,), (0, 2), (-1, 0)]),
             ([13, 17], [(0,), (1,)]), ([1, 1], [(0,), None]), ([1009], [None]), ([3, 257], [(1,)]), ([5], [()])]
    table = [(name, dtype) for name in ("sum", "max", "min", "prod") for dtype in NUMBERS]
    table += [(name, "bool") for name in ("all", "any")]
    for name, dtype in table:
        for shape, lists in cases:
            x = random(dtype, shape, 30)
            if name == "prod":
                x = random(dtype, shape, 30, 0.97, 1.03)
            for axes in lists:
                folded = range(len(shape)) if axes is None else axes
                if name in ("max", "min") and any(shape[axis] == 0 for axis in folded):
                    continue
                for keepdims in (False, True):
                    written = list(folded)
                    out = fold(name, x, tuple(written), keepdims)
                    file.add("reduce", [x], out, fold=name, axes=written, keepdims=keepdims)
        if dtype in FLOATS:
            special = [[np.nan, 1, 2], [np.nan, np.nan, np.nan], [np.inf, 1, -1], [-np.inf, 1, -1], [-0.0, 0.0, -0.0],
                       [-0.0, -0.0, -0.0], [np.inf, -np.inf, 0], [-np.inf, -np.inf, -np.inf], [3e38, 1, 1]]
            x = np.array(special, np.float32).astype(DTYPES[dtype])
        else:
            x = edges(dtype)[None, :]
        file.add("reduce", [x], fold(name, x, (1,), False), fold=name, axes=[1], keepdims=False)
    file.write()


def products():
    file = File("matmul")
    shapes = [([1, 1], [1, 1]), ([0, 3], [3, 2]), ([2, 0], [0, 3]), ([3, 5], [5, 7]), ([2, 3, 5], [5, 7]),
              ([2, 1, 3, 5], [4, 5, 2]), ([13, 17], [17, 11]), ([1, 31], [31, 1]), ([0, 2, 3], [1, 3, 2]),
              ([37, 67], [67, 41]), ([5, 3], [2, 3, 5])]
    for dtype, out in [("f32", "f32"), ("bf16", "bf16"), ("bf16", "f32"), ("i32", "i32"), ("i64", "i64")]:
        operands = [(random(dtype, a, 40), random(dtype, b, 41)) for a, b in shapes]
        if dtype in FLOATS:
            a = np.array([[np.inf, 1, 0], [np.nan, 1, 2], [-0.0, 0.0, -0.0], [-np.inf, 2, 3]], np.float32)
            b = np.array([[1, 0], [-np.inf, 3], [2, 1]], np.float32)
            operands.append((a.astype(DTYPES[dtype]), b.astype(DTYPES[dtype])))
        else:
            values = edges(dtype)
            operands.append((values[:, None], values[None, :]))
        for a, b in operands:
            if dtype in FLOATS:
                result = rounded(np.matmul(wide(a), wide(b)), out)
            else:
                result = np.matmul(a, b)
            file.add("matmul", [a, b], result)
    file.write()


for make in (unary, binary, where, casts, movement, indexing, folds, products):
    make()
