"""The peers: the operations of `cases.py` for each, and how a case becomes something that can be called.

Every `make_*` function takes a case and gives a function of no arguments that computes it once and returns when the
answer is there, or raises `Absent` with the reason why this peer cannot take part.
"""

import os

import numpy as np


class Absent(Exception):
    """This peer cannot run this case; the text says why."""


def split_heads(o, x, shape):
    return o.transpose(o.reshape(x, shape), (0, 2, 1, 3))


class Plain:
    """What NumPy-like modules have in common."""

    def __init__(self, xp):
        self.xp = xp

    def number(self, x):
        return np.float32(x)

    def matmul(self, a, b):
        return a @ b

    def tanh(self, x):
        return self.xp.tanh(x)

    def sqrt(self, x):
        return self.xp.sqrt(x)

    def sum(self, x, axis, keepdims):
        return self.xp.sum(x, axis=axis, keepdims=keepdims)

    def sigmoid(self, x):
        return 1 / (1 + self.xp.exp(-x))

    def softmax(self, x):
        e = self.xp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def layer_norm(self, x, scale, shift, eps):
        d = x - x.mean(-1, keepdims=True)
        return d / self.xp.sqrt((d * d).mean(-1, keepdims=True) + np.float32(eps)) * scale + shift

    def rms_norm(self, x, scale):
        return x / self.xp.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)) * scale

    def take(self, table, ids):
        return self.xp.take(table, ids, axis=0)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def transpose(self, x, axes):
        return x.transpose(axes)

    def concat(self, parts, axis):
        return self.xp.concatenate(parts, axis)

    def cast(self, x):
        return x.astype(np.float32)

    def attention(self, q, k, v, shape, causal=False, keep=None):
        b, t, heads, width = shape
        q, k, v = (split_heads(self, x, shape) for x in (q, k, v))
        scores = q @ k.transpose((0, 1, 3, 2)) * np.float32(width**-0.5)
        if causal:
            scores = self.xp.where(self.xp.tril(self.xp.ones((t, t), bool)), scores, np.float32(-np.inf))
        if keep is not None:
            scores = self.xp.where(keep[:, None, None, :] > 0, scores, np.float32(-np.inf))
        return (self.softmax(scores) @ v).transpose((0, 2, 1, 3)).reshape(b, t, heads * width)


def make_numpy(case):
    if not case.numpy:
        raise Absent("not written for NumPy")
    o = Plain(np)
    return lambda: case.model(o, case.inputs, case.weights)


class Jax(Plain):
    def __init__(self):
        import jax.numpy

        super().__init__(jax.numpy)

    def gelu(self, x):
        import jax

        return jax.nn.gelu(x, approximate=False)

    def take(self, table, ids):
        # Out-of-range indices are not what is measured.
        return self.xp.take(table, ids, axis=0, mode="clip")


def jax_parts(case):
    """The case as a function of two dictionaries, and its arguments on JAX's device."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    o = Jax()
    used = jax.tree.map(jax.numpy.asarray, (case.inputs, case.weights))
    return lambda x, w: case.model(o, x, w), used


def make_jax(case):
    import jax

    f, args = jax_parts(case)
    compiled = jax.jit(f).lower(*args).compile()
    return lambda: jax.block_until_ready(compiled(*args))


def make_iree(case, target="llvm-cpu"):
    """IREE from the StableHLO that JAX exports, with the flags its documentation gives for speed."""
    try:
        import iree.compiler
        import iree.runtime
        import jax
    except ImportError as error:
        raise Absent(str(error)) from error
    f, args = jax_parts(case)
    leaves, tree = jax.tree.flatten(args)

    def flat(*leaves):
        return f(*jax.tree.unflatten(tree, leaves))

    exported = jax.export.export(jax.jit(flat))(*leaves)
    text = str(exported.mlir_module())
    # Weights that the case does not use are no arguments of the program.
    leaves = [leaves[i] for i in exported.module_kept_var_idx]
    flags = ["--iree-opt-level=O3"]
    if target == "llvm-cpu":
        # Half the time for products; and a norm whose rows it keeps on the stack is over a limit that only guards.
        flags += ["--iree-llvmcpu-target-cpu=host", "--iree-dispatch-creation-data-tiling"]
        flags += ["--iree-llvmcpu-fail-on-out-of-bounds-stack-allocation=false"]
    binary = iree.compiler.compile_str(text, input_type="stablehlo", target_backends=[target], extra_args=flags)
    config = iree.runtime.Config("local-task" if target == "llvm-cpu" else "vulkan")
    module = iree.runtime.VmModule.copy_buffer(config.vm_instance, binary)
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(module)
    main = context.modules[module.name]["main"]
    held = [iree.runtime.asdevicearray(config.device, np.asarray(leaf)) for leaf in leaves]
    if target == "llvm-cpu":
        return lambda: main(*held)
    # On a GPU the answer counts when it is back.
    return lambda: [to_host(config.device, y) for y in as_list(main(*held))]


def make_iree_vulkan(case):
    if case.name == "block":
        raise Absent("lavapipe cannot compile its code and ends the process (a local variable exceeds the stack)")
    return make_iree(case, "vulkan-spirv")


def to_host(device, y):
    """The array's elements, through a buffer that the host maps: its own way imports memory that lavapipe refuses."""
    from iree.runtime import BufferUsage, HalFence, MemoryType

    view = y._buffer_view
    source = view.get_buffer()
    staging = device.allocator.allocate_buffer(
        memory_type=int(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length(),
    )
    done = device.create_semaphore(0)
    device.queue_copy(
        source, staging, wait_semaphores=HalFence.create_at(done, 0), signal_semaphores=HalFence.create_at(done, 1)
    )
    HalFence.create_at(done, 1).wait()
    return staging.map().asarray(view.shape, y._get_raw_dtype())


def as_list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


class Node:
    """A value of an ONNX graph."""

    def __init__(self, o, name):
        self.o, self.name = o, name

    def __add__(self, other):
        return self.o.node("Add", self, other)

    __radd__ = __add__

    def __sub__(self, other):
        return self.o.node("Sub", self, other)

    def __mul__(self, other):
        return self.o.node("Mul", self, other)

    def __truediv__(self, other):
        return self.o.node("Div", self, other)


class Onnx:
    """Writes an ONNX model; with `fused`, attention is one of onnxruntime's own operators."""

    def __init__(self, fused):
        self.fused, self.nodes, self.constants, self.count = fused, [], {}, 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def value(self, x):
        if isinstance(x, Node):
            return x.name
        x = np.asarray(x)
        # A weight used twice is stored once.
        known = self.constants.get(id(x))
        if known is None:
            known = self.constants[id(x)] = (self.name(), x)
        return known[0]

    def node(self, op, *inputs, domain="", **attributes):
        import onnx.helper

        out = self.name()
        names = ["" if x is None else self.value(x) for x in inputs]
        self.nodes.append(onnx.helper.make_node(op, names, [out], domain=domain, **attributes))
        return Node(self, out)

    def number(self, x):
        return np.float32(x)

    def matmul(self, a, b):
        return self.node("MatMul", a, b)

    def tanh(self, x):
        return self.node("Tanh", x)

    def sigmoid(self, x):
        return self.node("Sigmoid", x)

    def sqrt(self, x):
        return self.node("Sqrt", x)

    def sum(self, x, axis, keepdims):
        return self.node("ReduceSum", x, np.array([axis], np.int64), keepdims=int(keepdims))

    def softmax(self, x):
        return self.node("Softmax", x, axis=-1)

    def gelu(self, x):
        return self.node("Gelu", x)

    def layer_norm(self, x, scale, shift, eps):
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=eps)

    def rms_norm(self, x, scale):
        return self.node("SimplifiedLayerNormalization", x, scale, axis=-1, epsilon=1e-6)

    def take(self, table, ids):
        return self.node("Gather", table, ids, axis=0)

    def reshape(self, x, shape):
        return self.node("Reshape", x, np.array(shape, np.int64))

    def transpose(self, x, axes):
        if not isinstance(x, Node):
            return np.ascontiguousarray(np.transpose(x, axes))
        return self.node("Transpose", x, perm=list(axes))

    def concat(self, parts, axis):
        return self.node("Concat", *parts, axis=axis)

    def cast(self, x):
        import onnx

        return self.node("Cast", x, to=onnx.TensorProto.FLOAT)

    def attention(self, q, k, v, shape, causal=False, keep=None):
        import onnx

        b, t, heads, width = shape
        if self.fused:
            mask = None if keep is None else self.node("Cast", keep, to=onnx.TensorProto.INT32)
            options = dict(num_heads=heads, unidirectional=int(causal))
            return self.node("MultiHeadAttention", q, k, v, None, mask, domain="com.microsoft", **options)
        q, k, v = (split_heads(self, x, shape) for x in (q, k, v))
        scores = self.matmul(q, self.transpose(k, (0, 1, 3, 2))) * np.float32(width**-0.5)
        if causal:
            scores = scores + np.where(np.tril(np.ones((t, t), bool)), 0, -np.inf).astype(np.float32)
        if keep is not None:
            hidden = self.node("Log", self.reshape(keep, (b, 1, 1, t)))
            scores = scores + hidden
        return self.reshape(self.transpose(self.matmul(self.softmax(scores), v), (0, 2, 1, 3)), (b, t, heads * width))


def onnx_model(case, fused):
    import onnx
    import onnx.helper
    import onnx.numpy_helper

    o = Onnx(fused)
    inputs = {name: Node(o, name) for name in case.inputs}
    outputs = case.model(o, inputs, case.weights)
    infos = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in case.inputs.items()
    ]
    results = [onnx.helper.make_tensor_value_info(y.name, onnx.TensorProto.FLOAT, None) for y in outputs]
    stored = [onnx.numpy_helper.from_array(x, name) for name, x in o.constants.values()]
    graph = onnx.helper.make_graph(o.nodes, case.name, infos, results, stored)
    sets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("com.microsoft", 1)]
    return onnx.helper.make_model(graph, opset_imports=sets, ir_version=10)


def make_onnxruntime(case, fused=False):
    import onnxruntime

    if fused and case.name not in ("block", "minilm"):
        raise Absent("nothing to fuse")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = os.cpu_count() or 1
    session = onnxruntime.InferenceSession(
        onnx_model(case, fused).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, case.inputs)


#: What is compared on the CPU, and on a Vulkan device.
CPU = {
    "numpy": make_numpy,
    "onnxruntime": make_onnxruntime,
    "onnxruntime-fused": lambda case: make_onnxruntime(case, fused=True),
    "jax": make_jax,
    "iree": make_iree,
}
VULKAN = {"iree-vulkan": make_iree_vulkan}
