"""Measures sx against its peers and against what the machine can do, in turns within one run.

    make bench                        everything on the CPU
    .venv-bench/bin/python bench/run.py --only block --device cpu --device llvmpipe

Of each case every contender is run once a round, in a new order each round, so that what else the machine does
meets all of them alike. A ratio is a median over rounds of ratios within a round: how many times as fast as the peer
(or the ceiling) sx is. Raw figures go to bench/results/.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

# A kernel choice made for old versions of OpenBLAS would slow NumPy down.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import numpy as np  # noqa: E402

import cases  # noqa: E402
import peers  # noqa: E402

ROOT = cases.ROOT
BIN = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"


class Server:
    """sx-bench: sx and the ceilings, in a process of their own."""

    def __init__(self):
        self.process = subprocess.Popen([BIN / "sx-bench"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request, default=str) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "sx-bench ended"}
        if "error" in answer:
            raise peers.Absent(answer["error"])
        return answer

    def runner(self, **request):
        """A function that runs what was made so many times in a row and gives the last one's seconds; its number."""
        number = self.ask(**request)["id"]
        return (lambda calls=1: self.ask(run=number, calls=calls)["ns"] / 1e9), number


def timed(call):
    def run(calls=1):
        for _ in range(calls):
            start = time.perf_counter()
            call()
        return time.perf_counter() - start

    return run


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, x in arrays.items():
        header[name] = {"dtype": "F32", "shape": x.shape, "data_offsets": [offset, offset + x.nbytes]}
        offset += x.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for x in arrays.values():
            file.write(np.ascontiguousarray(x).tobytes())


def build(case, folder, sizes=True):
    """The case's artifact, and how long `sxc build` took."""
    weights = case.weights_file
    if weights is None and case.weights:
        weights = folder / f"{case.source.stem}.safetensors"
        write_safetensors(weights, case.weights)
    artifact = folder / f"{case.source.stem}.sxa"
    command = [BIN / "sxc", "build", case.source, "-o", artifact]
    command += ["--weights", weights] if weights else []
    for name, size in case.dims.items():
        command += ["--dim", f"{name}={size}"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise peers.Absent(f"sxc build: {done.stderr.strip()}")
    return artifact, time.perf_counter() - start


NUMPY_TYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def input_files(case, artifact, folder):
    """The case's inputs as raw files, in the dtypes that the artifact takes."""
    manifest = json.loads(zipfile.ZipFile(artifact).read("manifest.json"))
    graph = next(g for g in manifest["graphs"] if g["name"] == case.graph)
    files = {}
    for port in graph["inputs"]:
        x = case.inputs[port["name"]].astype(NUMPY_TYPES[port["dtype"]])
        files[port["name"]] = folder / f"{case.name}.{port['name']}.bin"
        files[port["name"]].write_bytes(np.ascontiguousarray(x).tobytes())
    return files, [port["name"] for port in graph["outputs"]]


def contenders(case, server, devices, folder, log):
    """Everything that can run the case: name -> function that runs it `calls` times and gives the last one's seconds."""
    running = {}
    reference = None
    makers = dict(peers.CPU) if "cpu" in devices else {}
    if any(device != "cpu" for device in devices):
        makers |= peers.VULKAN
    for name, make in makers.items():
        try:
            call = make(case)
            outputs = [np.asarray(y) for y in peers.as_list(call())]
        except Exception as error:  # Whatever a peer may raise, the others are still compared.
            log(f"  {name}: absent, {str(error).strip().splitlines()[0][:120] if str(error) else type(error).__name__}")
            continue
        if reference is None:
            reference = outputs
        check(name, outputs, reference, case.tolerance, log)
        running[name] = timed(call)
    seconds, _ = server.runner(**case.ceiling)
    running["ceiling"] = lambda calls=1: seconds(calls) * case.ceiling_times
    try:
        artifact, took = build(case, folder)
        log(f"  sxc build: {took:.2f} s")
        files, outputs = input_files(case, artifact, folder)
        for device in devices:
            name = "sx" if device == "cpu" else f"sx-{device}"
            run, number = server.runner(artifact=artifact, graph=case.graph, device=device, inputs=files)
            run()
            got = []
            for output, want in zip(outputs, reference or []):
                server.ask(output=number, name=output, file=folder / "output.bin")
                got.append(np.fromfile(folder / "output.bin", np.float32).reshape(want.shape))
            check(name, got, reference or [], case.tolerance, log)
            running[name] = run
    except peers.Absent as error:
        log(f"  sx: absent, {error}")
    return running


def check(name, outputs, reference, tolerance, log):
    for i, (got, want) in enumerate(zip(outputs, reference)):
        worst = float(np.max(np.abs(got - want))) / max(float(np.max(np.abs(want))), 1e-30)
        if not worst <= tolerance:
            log(f"  {name}: output {i} is {worst:.1e} of the largest value away from the first peer's")


#: Seconds between two contenders.
PAUSE = 0.15


def measure(running, budget):
    """Rounds of all contenders in turns, for about `budget` seconds: name -> times, one a round."""
    for run in running.values():
        run()
    one = sum(PAUSE + 2 * run() for run in running.values())
    rounds = max(7, min(101, int(budget / max(one, 1e-6))))
    times = {name: [] for name in running}
    order = list(running)
    shuffle = random.Random(1).shuffle
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            # The threads of the one before may still wait busily (onnxruntime's do for some 50 ms); and everybody's own are awake after a first call.
            time.sleep(PAUSE)
            times[name].append(running[name](2))
    return times


def ratio(times, other, ours):
    return statistics.median(b / a for a, b in zip(times[ours], times[other]))


def summary(case, times):
    """A line of the table, and its figures."""
    median = {name: statistics.median(t) for name, t in times.items()}
    row = {"case": case.name, "median_ms": {name: t * 1e3 for name, t in median.items()}}
    for ours in (name for name in times if name.startswith("sx")):
        rivals = [n for n in times if not n.startswith("sx") and n != "ceiling" and n.endswith("-vulkan") == (ours != "sx")]
        if rivals:
            best = min(rivals, key=median.get)
            row[ours] = {"best_peer": best, "over_best_peer": ratio(times, best, ours)}
        row.setdefault(ours, {})["over_ceiling"] = ratio(times, "ceiling", ours)
    return row


def table(rows):
    names = []
    for row in rows:
        names += [n for n in row["median_ms"] if n not in names]
    all_ours = [n for n in names if n.startswith("sx")]
    heads = [f"{n}, ms" for n in names] + [f"{n} / {what}" for n in all_ours for what in ("best peer", "ceiling")]
    lines = ["| case | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for row in rows:
        cells = [f"{row['median_ms'][n]:.3g}" if n in row["median_ms"] else "–" for n in names]
        for ours in (row.get(n, {}) for n in all_ours):
            cells.append(f"{ours['over_best_peer']:.2f} ({ours['best_peer']})" if "best_peer" in ours else "–")
            cells.append(f"{ours['over_ceiling']:.2f}" if "over_ceiling" in ours else "–")
        lines.append(f"| {row['case']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


COLD_PEER = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
session.run(None, dict(numpy.load(sys.argv[2])))
"""


def cold_start(case, folder, log, rounds=7):
    """From the start of a process to the answer, ours and onnxruntime's in turns; the files are in the page cache."""
    try:
        artifact, took = build(case, folder)
        model = folder / "cold.onnx"
        model.write_bytes(peers.onnx_model(case, fused=False).SerializeToString())
    except Exception as error:
        log(f"cold start: absent, {error}")
        return None
    manifest = json.loads(zipfile.ZipFile(artifact).read("manifest.json"))
    graph = next(g for g in manifest["graphs"] if g["name"] == case.graph)
    np.savez(folder / "cold.npz", **case.inputs)
    typed = {p["name"]: case.inputs[p["name"]].astype(NUMPY_TYPES[p["dtype"]]) for p in graph["inputs"]}
    np.savez(folder / "cold-sx.npz", **typed)
    commands = {
        "sx": [BIN / "sxrun", "run", artifact, case.graph, "--device", "cpu", "--inputs", folder / "cold-sx.npz"],
        "onnxruntime": [sys.executable, "-c", COLD_PEER, model, folder / "cold.npz"],
    }
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True)
            times[name].append(time.perf_counter() - start)
            if done.returncode:
                log(f"cold start: {name} failed, {done.stderr.strip()[:200]}")
                return None
    row = {name: statistics.median(t) for name, t in times.items()}
    row["over_onnxruntime"] = ratio(times, "onnxruntime", "sx")
    row["build_s"] = took
    return row


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    versions = {}
    for name in ("numpy", "onnxruntime", "jax", "iree.compiler.version"):
        try:
            module = __import__(name, fromlist=["x"])
            versions[name] = getattr(module, "__version__", None) or getattr(module, "VERSION", "?")
        except ImportError:
            versions[name] = None
    return {"cpu": model or platform.processor(), "cores": os.cpu_count(), "load": os.getloadavg(), "versions": versions}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a case, by name (repeatable)")
    parser.add_argument("--device", action="append", default=[], help="cpu (the default), or a Vulkan device's name")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds a case")
    parser.add_argument("--no-build", action="store_true", help="use the release binaries that are there")
    options = parser.parse_args()
    devices = options.device or ["cpu"]

    def log(text):
        print(text, file=sys.stderr, flush=True)

    if not options.no_build:
        build_all = ["cargo", "build", "--release", "--quiet", "-p", "sx-bench", "-p", "sx-compiler", "-p", "sx-runtime", "--features", "sx-runtime/cli"]
        subprocess.run(build_all, cwd=ROOT, check=True)
    chosen = cases.all_cases(pathlib.Path(os.environ.get("SX_MINILM", ROOT / ".cache/minilm")))
    unknown = set(options.only) - {case.name for case in chosen}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(c.name for c in chosen)}")
    if options.only:
        chosen = [case for case in chosen if case.name in options.only]
    result = {"machine": machine(), "devices": devices, "cases": [], "raw_s": {}}
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in chosen:
            log(case.name)
            times = measure(contenders(case, server, devices, folder, log), options.budget)
            result["raw_s"][case.name] = times
            result["cases"].append(summary(case, times))
            if case.name == "minilm":
                result["cold_start_s"] = cold_start(case, folder, log)
    print(table(result["cases"]))
    cold = result.get("cold_start_s")
    if cold:
        print(f"\ncold start of MiniLM: {cold['sx']:.3f} s, onnxruntime {cold['onnxruntime']:.3f} s", end=" ")
        print(f"({cold['over_onnxruntime']:.2f} times as fast); sxc build {cold['build_s']:.2f} s")
    out = ROOT / "bench/results" / f"{datetime.datetime.now():%Y-%m-%d-%H%M%S}.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    out.with_suffix(".md").write_text(table(result["cases"]) + "\n")
    log(f"wrote {out.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
