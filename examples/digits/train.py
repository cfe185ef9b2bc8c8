"""Trains the digits' classifier and writes what the example needs: digits.safetensors (the weights) and
test.npz (images it has not seen, with their digits). NumPy and scikit-learn (for its 8x8 digits).

    python train.py"""

import json
import struct
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
HIDDEN, STEPS, BATCH, RATE = 64, 3000, 64, 2e-3


def forward(w, x):
    hidden = np.maximum(x @ w["hidden.weight"] + w["hidden.bias"], 0)
    scores = hidden @ w["out.weight"] + w["out.bias"]
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return hidden, e / e.sum(-1, keepdims=True)


def gradient(w, x, digits):
    hidden, p = forward(w, x)
    d = p.copy()
    d[np.arange(len(x)), digits] -= 1
    d /= len(x)
    dh = (d @ w["out.weight"].T) * (hidden > 0)
    return {"hidden.weight": x.T @ dh, "hidden.bias": dh.sum(0), "out.weight": hidden.T @ d, "out.bias": d.sum(0)}


def train(x, digits, rng):
    w = {"hidden.weight": rng.normal(0, (2 / 64) ** 0.5, (64, HIDDEN)), "hidden.bias": np.zeros(HIDDEN),
         "out.weight": rng.normal(0, (1 / HIDDEN) ** 0.5, (HIDDEN, 10)), "out.bias": np.zeros(10)}
    m = {k: np.zeros_like(v) for k, v in w.items()}
    s = {k: np.zeros_like(v) for k, v in w.items()}
    for step in range(1, STEPS + 1):
        rows = rng.integers(0, len(x), BATCH)
        for k, g in gradient(w, x[rows], digits[rows]).items():
            g = g + 1e-4 * w[k]
            m[k] = 0.9 * m[k] + 0.1 * g
            s[k] = 0.999 * s[k] + 0.001 * g * g
            w[k] -= RATE * (m[k] / (1 - 0.9**step)) / (np.sqrt(s[k] / (1 - 0.999**step)) + 1e-8)
    return {k: v.astype(np.float32) for k, v in w.items()}


def write_safetensors(path, tensors):
    head, at = {}, 0
    for k, v in sorted(tensors.items()):
        head[k] = {"dtype": "F32", "shape": list(v.shape), "data_offsets": [at, at + v.nbytes]}
        at += v.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(v.tobytes() for _, v in sorted(tensors.items())))


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    data = load_digits()
    images, digits = (data.images / 16).astype(np.float32), data.target.astype(np.int32)
    order = rng.permutation(len(images))
    seen, unseen = order[256:], order[:256]
    w = train(images[seen].reshape(-1, 64), digits[seen], rng)
    write_safetensors(HERE / "digits.safetensors", w)
    np.savez_compressed(HERE / "test.npz", images=images[unseen], digits=digits[unseen])
    guesses = forward(w, images[unseen].reshape(-1, 64))[1].argmax(-1)
    print(f"{(guesses == digits[unseen]).sum()} of {len(unseen)} unseen images are told right")
