"""Makes expected.npz: four sentences as tokens and what the sentence encoder says of them, computed in f64.

    SX_MINILM=FOLDER python tests/minilm/expected.py

FOLDER has model.safetensors and tokenizer.json of all-MiniLM-L6-v2 (`make test` brings them)."""

import json
import math
import os
import struct
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

MODEL = Path(os.environ["SX_MINILM"])
SENTENCES = [
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "Tensor compilers lower programs to static graphs.",
]
LAYERS, HEADS = 6, 12


def weights():
    data = (MODEL / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8 : 8 + size])
    found = {}
    for key, entry in head.items():
        if entry.get("dtype") == "F32":
            start, end = (8 + size + at for at in entry["data_offsets"])
            found[key] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"]).astype(np.float64)
    return found


def tokens():
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    rows = [tokenizer.encode(sentence).ids for sentence in SENTENCES]
    longest = max(map(len, rows))
    ids = np.array([row + [0] * (longest - len(row)) for row in rows], np.int32)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], np.int32)
    return ids, mask


def normed(x, w, name):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-12) * w[name + ".weight"] + w[name + ".bias"]


def embed(w, ids, mask):
    b, t = ids.shape
    dense = lambda x, name: x @ w[name + ".weight"].T + w[name + ".bias"]
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:t]
    x = normed(x + w["embeddings.token_type_embeddings.weight"][0], w, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (
            dense(x, f"{at}attention.self.{name}").reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
        scores = np.where(mask[:, None, None, :] > 0, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        heads = (e / e.sum(-1, keepdims=True)) @ v
        attended = heads.transpose(0, 2, 1, 3).reshape(b, t, -1)
        x = normed(x + dense(attended, at + "attention.output.dense"), w, at + "attention.output.LayerNorm")
        h = dense(x, at + "intermediate.dense")
        h = 0.5 * h * (1 + np.vectorize(math.erf)(h / math.sqrt(2)))
        x = normed(x + dense(h, at + "output.dense"), w, at + "output.LayerNorm")
    kept = mask[:, :, None].astype(np.float64)
    mean = (x * kept).sum(1) / kept.sum(1)
    return mean / np.sqrt((mean * mean).sum(-1, keepdims=True))


if __name__ == "__main__":
    ids, mask = tokens()
    out = embed(weights(), ids, mask).astype(np.float32)
    np.savez_compressed(Path(__file__).with_name("expected.npz"), ids=ids, mask=mask, out=out)
    print(np.round(out @ out.T, 4))
