"""Makes the files of this folder with NumPy, and `expected.json`: what reading each of them should give.

Run it with a Python that has numpy and ml_dtypes:  python make.py
"""

import json
import pathlib
import struct

import ml_dtypes
import numpy as np

HERE = pathlib.Path(__file__).parent
expected = []


def expect(file, key, dtype, array=None, error=None, rounding=False):
    """Reading `key` of `file` as `dtype` gives `array`, or an error with this text."""
    case = {"file": file, "key": key, "dtype": dtype, "round": rounding}
    if error is not None:
        case["error"] = error
        case["shape"] = [2, 3]
    else:
        case["shape"] = list(array.shape)
        # Bits, so that every value is told exactly: floats as those of float32, the rest as integers.
        flat = np.ascontiguousarray(array).reshape(-1)
        if dtype in ("f32", "bf16"):
            case["values"] = [int(x) for x in flat.astype(np.float32).view(np.uint32)]
        else:
            case["values"] = [int(x) for x in flat]
    expected.append(case)


def npy(name, stored, dtype, version=(1, 0), **more):
    with open(HERE / name, "wb") as file:
        np.lib.format.write_array(file, stored, version=version)
    expect(name, None, dtype, **({"array": stored} | more))


floats = np.array([[0.5, -1.25, np.inf], [np.nan, -0.0, 3e-40]], np.float32)
ints = np.array([[0, 1, 2], [100, 126, 127]])

npy("f32.npy", floats, "f32")
npy("f32-big.npy", floats.astype(">f4"), "f32")
npy("f32-fortran.npy", np.asfortranarray(floats), "f32")
npy("f32-rank4-fortran.npy", np.asfortranarray(np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)), "f32")
npy("f32-scalar.npy", np.float32(2.5).reshape(()), "f32")
npy("f32-empty.npy", np.zeros((0, 3), np.float32), "f32")
npy("f32-v2.npy", floats, "f32", version=(2, 0))
npy("f32-v3-big-fortran.npy", np.asfortranarray(floats.astype(">f4")), "f32", version=(3, 0))
npy("f16.npy", np.array([[0.5, 65504, -6e-8]], np.float16), "f32")
npy("f64.npy", np.array([[0.5, 0.1, 2], [3, 4, 5]]), "f32", error="--round-inputs")
expect("f64.npy", None, "f32", array=np.array([[0.5, 0.1, 2], [3, 4, 5]]), rounding=True)
for code in ["i1", "<i2", ">i4", "<i8", "u1", ">u2", "<u4", ">u8"]:
    name = "int-%s.npy" % code.replace("<", "little-").replace(">", "big-")
    npy(name, ints.astype(code), "i32")
    expect(name, None, "i64", array=ints)
    expect(name, None, "f32", error="takes f32 and is given")
wide = np.array([[0, -1, 2**31], [2**40, 4, 5]])
npy("int-wide.npy", wide, "i64")
expect("int-wide.npy", None, "i32", error="has 2147483648 at [0, 2]")
npy("bool.npy", np.array([[True, False, True], [False, False, True]]), "bool")
expect("bool.npy", None, "i32", error="takes i32 and is given bool")
expect("int-i1.npy", None, "bool", error="takes bool and is given i8")
brain = floats.astype(ml_dtypes.bfloat16)
npy("bf16-void.npy", brain.view("V2"), "bf16", array=brain)
exact = np.array([[0.5, 1.5, -2], [1.0078125, 0, 3]], np.float32)
npy("f32-exact.npy", exact, "bf16")
inexact = np.array([[0.5, 0.1, 1.00390625], [1.01171875, 1e-40, 3.4e38]], np.float32)
npy("f32-inexact.npy", inexact, "bf16", error="has 0.1 at [0, 1]")
expect("f32-inexact.npy", None, "bf16", array=inexact.astype(ml_dtypes.bfloat16), rounding=True)

# Refused.
with open(HERE / "object.npy", "wb") as file:
    np.lib.format.write_array(file, np.array([[1, "x", None], [2, 3, 4]], object), allow_pickle=True)
expect("object.npy", None, "f32", error="Python objects")
np.save(HERE / "structured.npy", np.zeros((2, 3), [("a", "<f4"), ("b", "<i4")]))
expect("structured.npy", None, "f32", error="structured")
np.save(HERE / "complex.npy", np.zeros((2, 3), np.complex64))
expect("complex.npy", None, "f32", error="`<c8`")
(HERE / "cut.npy").write_bytes((HERE / "f32.npy").read_bytes()[:-1])
expect("cut.npy", None, "f32", error="and 23 bytes follow")
(HERE / "text.npy").write_bytes(b"1 2 3\n")
expect("text.npy", None, "f32", error="not a NumPy file")
(HERE / "empty.npy").write_bytes(b"")
expect("empty.npy", None, "f32", error="not a NumPy file")

# Several tensors in a file.
np.savez(HERE / "stored.npz", x=floats, ids=ints)
np.savez_compressed(HERE / "deflated.npz", x=floats, ids=ints)
for name in ["stored.npz", "deflated.npz"]:
    expect(name, "x", "f32", array=floats)
    expect(name, "ids", "i64", array=ints)
    expect(name, "y", "f32", error="has no tensor `y`; it has `x`, `ids`")
(HERE / "cut.npz").write_bytes((HERE / "stored.npz").read_bytes()[:200])
expect("cut.npz", "x", "f32", error="not an npz file")

tensors = {"w": ("F32", floats), "b": ("BF16", brain), "h": ("F16", floats.astype(np.float16)), "i": ("I32", ints.astype("<i4"))}
header, data = {"__metadata__": {"made by": "make.py"}}, b""
for key, (dtype, array) in tensors.items():
    raw = array.tobytes()
    header[key] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
(HERE / "some.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
expect("some.safetensors", "w", "f32", array=floats)
expect("some.safetensors", "b", "bf16", array=brain)
expect("some.safetensors", "b", "f32", array=brain)
expect("some.safetensors", "h", "f32", array=floats.astype(np.float16))
expect("some.safetensors", "i", "i64", array=ints)
expect("some.safetensors", "v", "f32", error="has no tensor `v`; it has `b`, `h`, `i`, `w`")
(HERE / "cut.safetensors").write_bytes((HERE / "some.safetensors").read_bytes()[:-4])
expect("cut.safetensors", "w", "f32", error="not a safetensors file")

(HERE / "expected.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in expected) + "\n]\n")
