"""The cases: for each its sx program, its inputs, the same mathematics over a peer's operations, and what bounds it.

A model is written once against a small set of operations (`peers.py` has them for NumPy, JAX and ONNX), so that
every contender computes the same thing from the same numbers.
"""

import pathlib
from dataclasses import dataclass, field

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass
class Case:
    name: str
    source: pathlib.Path
    graph: str
    inputs: dict
    #: (operations, inputs, weights) -> outputs
    model: object
    #: What the machine could do at best: a request to sx-bench, and how often it fits into one call.
    ceiling: dict
    ceiling_times: float = 1.0
    weights: dict = field(default_factory=dict)
    weights_file: pathlib.Path | None = None
    dims: dict = field(default_factory=dict)
    #: Which peers can say it at all; NumPy has no erf, so it sits the models out.
    numpy: bool = True
    #: How far the outputs of two contenders may be apart, as a part of the largest value.
    tolerance: float = 1e-4


def normal(rng, *shape, scale=1.0):
    return (rng.standard_normal(shape, dtype=np.float32) * np.float32(scale)).astype(np.float32)


def gemm_ceiling(flops):
    """The time of `flops` at the rate of a 1024-cubed product."""
    return {"ceiling": {"ceiling": "gemm", "sizes": [1024, 1024, 1024]}, "ceiling_times": flops / (2 * 1024**3)}


def copy_ceiling(*arrays):
    return {"ceiling": {"ceiling": "copy", "bytes": int(sum(arrays))}}


def matmul(name, n, rng):
    return Case(
        name,
        HERE / "cases/matmul.sx",
        "large" if n == 1024 else "small",
        {"a": normal(rng, n, n), "b": normal(rng, n, n)},
        lambda o, x, w: [o.matmul(x["a"], x["b"])],
        ceiling={"ceiling": "gemm", "sizes": [n, n, n]},
    )


def elementwise(rng):
    n = 1 << 24
    return Case(
        "map-16m",
        HERE / "cases/map.sx",
        "map",
        {"x": normal(rng, n)},
        lambda o, x, w: [o.tanh(x["x"] * o.number(1.3) + o.number(0.2)) * o.sigmoid(x["x"] * o.number(0.7))],
        ceiling={"ceiling": "map", "len": n},
    )


def rows(rng):
    x, scale = normal(rng, 4096, 1024), normal(rng, 1024)
    table, ids = normal(rng, 30522, 256), rng.integers(0, 30522, 8192, dtype=np.int32)
    yield Case(
        "softmax",
        HERE / "cases/rows.sx",
        "softmax-rows",
        {"x": x},
        lambda o, x, w: [o.softmax(x["x"])],
        **copy_ceiling(2 * x.nbytes),
    )
    yield Case(
        "rms-norm",
        HERE / "cases/rows.sx",
        "rms-norm-rows",
        {"x": x, "scale": scale},
        lambda o, x, w: [o.rms_norm(x["x"], x["scale"])],
        **copy_ceiling(2 * x.nbytes),
    )
    yield Case(
        "gather",
        HERE / "cases/rows.sx",
        "gather-rows",
        {"table": table, "ids": ids},
        lambda o, x, w: [o.take(x["table"], x["ids"])],
        **copy_ceiling(2 * 8192 * 256 * 4),
    )


def block_weights(rng):
    w = {}
    for name, (i, j) in dict(q=(512, 512), k=(512, 512), v=(512, 512), o=(512, 512), up=(512, 2048), down=(2048, 512)).items():
        w[f"{name}.weight"] = normal(rng, i, j, scale=i**-0.5)
        w[f"{name}.bias"] = normal(rng, j, scale=0.1)
    for name in ("norm1", "norm2"):
        w[f"{name}.scale"] = 1 + normal(rng, 512, scale=0.1)
        w[f"{name}.shift"] = normal(rng, 512, scale=0.1)
    return w


def dense(o, x, w, name):
    return o.matmul(x, w[f"{name}.weight"]) + w[f"{name}.bias"]


def norm(o, x, w, name):
    return o.layer_norm(x, w[f"{name}.scale"], w[f"{name}.shift"], 1e-5)


def feed_forward(o, x, w):
    return x + dense(o, o.gelu(dense(o, norm(o, x, w, "norm2"), w, "up")), w, "down")


def block(o, x, w):
    h = norm(o, x["x"], w, "norm1")
    q, k, v = (dense(o, h, w, name) for name in "qkv")
    a = o.attention(q, k, v, shape=(4, 256, 8, 64), causal=True)
    return [feed_forward(o, x["x"] + dense(o, a, w, "o"), w)]


def decode(o, x, w):
    h = norm(o, x["x"], w, "norm1")
    q, k, v = (o.transpose(o.reshape(dense(o, h, w, name), (1, 1, 8, 64)), (0, 2, 1, 3)) for name in "qkv")
    keys, vals = o.concat([x["keys"], k], 2), o.concat([x["vals"], v], 2)
    scores = o.matmul(q, o.transpose(keys, (0, 1, 3, 2))) * o.number(64**-0.5)
    a = o.matmul(o.softmax(scores), vals)
    a = o.reshape(o.transpose(a, (0, 2, 1, 3)), (1, 1, 512))
    return [feed_forward(o, x["x"] + dense(o, a, w, "o"), w), k, v]


def transformer(rng):
    weights = block_weights(rng)
    tokens, width = 4 * 256, 512
    flops = 2 * tokens * width * (4 * width + 8 * width) + 2 * 2 * 4 * 8 * 256 * 256 * 64 / 2
    yield Case(
        "block",
        HERE / "cases/block.sx",
        "block",
        {"x": normal(rng, 4, 256, 512)},
        block,
        weights=weights,
        numpy=False,
        **gemm_ceiling(flops),
    )
    keys, vals = normal(rng, 1, 8, 512, 64), normal(rng, 1, 8, 512, 64)
    # One pass over the weights and the cache; a copy moves each byte twice.
    moved = sum(v.nbytes for v in weights.values()) + keys.nbytes + vals.nbytes
    yield Case(
        "decode",
        HERE / "cases/block.sx",
        "decode",
        {"x": normal(rng, 1, 1, 512), "keys": keys, "vals": vals},
        decode,
        weights=weights,
        numpy=False,
        **copy_ceiling(moved),
    )


LAYERS, HEADS, WIDTH = 6, 12, 384


def minilm(o, x, w):
    b, t = 8, 128

    def linear(h, name):
        # The weights of this model are stored with the output first.
        return o.matmul(h, o.transpose(w[f"{name}.weight"], (1, 0))) + w[f"{name}.bias"]

    def layer_norm(h, name):
        return o.layer_norm(h, w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    h = o.take(w["embeddings.word_embeddings.weight"], x["ids"])
    h = h + w["embeddings.position_embeddings.weight"][:t] + w["embeddings.token_type_embeddings.weight"][0]
    h = layer_norm(h, "embeddings.LayerNorm")
    keep = o.cast(x["mask"])
    for i in range(LAYERS):
        p = f"encoder.layer.{i}."
        q, k, v = (linear(h, f"{p}attention.self.{n}") for n in ("query", "key", "value"))
        a = o.attention(q, k, v, shape=(b, t, HEADS, WIDTH // HEADS), keep=keep)
        h = layer_norm(h + linear(a, f"{p}attention.output.dense"), f"{p}attention.output.LayerNorm")
        f = o.gelu(linear(h, f"{p}intermediate.dense"))
        h = layer_norm(h + linear(f, f"{p}output.dense"), f"{p}output.LayerNorm")
    e = o.sum(h * o.reshape(keep, (b, t, 1)), 1, False) / o.sum(keep, 1, True)
    return [e / o.sqrt(o.sum(e * e, 1, True))]


def encoder(rng, folder):
    from safetensors.numpy import load_file

    file = folder / "model.safetensors"
    weights = {k: v for k, v in load_file(file).items() if v.dtype == np.float32}
    lengths = rng.integers(64, 129, 8)
    mask = np.arange(128)[None, :] < lengths[:, None]
    ids = np.where(mask, rng.integers(1000, 30000, (8, 128)), 0).astype(np.int32)
    tokens = 8 * 128
    flops = LAYERS * (2 * tokens * WIDTH * 12 * WIDTH + 2 * 2 * 8 * HEADS * 128 * 128 * 32)
    return Case(
        "minilm",
        ROOT / "examples/minilm/minilm.sx",
        "embed",
        {"ids": ids, "mask": mask},
        minilm,
        weights=weights,
        weights_file=file,
        dims={"b": 8, "t": 128},
        numpy=False,
        **gemm_ceiling(flops),
    )


def all_cases(minilm_folder):
    rng = np.random.default_rng(7)
    cases = [matmul("matmul-1024", 1024, rng), matmul("matmul-256", 256, rng), elementwise(rng)]
    cases += [*rows(rng), *transformer(rng)]
    if (minilm_folder / "model.safetensors").exists():
        cases.append(encoder(rng, minilm_folder))
    return cases
