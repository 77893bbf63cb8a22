"""Random tensors and arguments for calls: every dtype, no dimensions, no elements, broadcast shapes, strides of all kinds, and
the values that formulas stumble over."""

import math

import torch

FLOATS = ["float32", "float32", "float64", "float16", "bfloat16"]
INTEGERS = ["int64", "int64", "int32", "int16", "int8", "uint8"]
DTYPES = FLOATS + INTEGERS + ["bool", "bool", "complex64", "complex128"]

# Shapes of the tensor arguments of operations that want more than broadcasting: a letter is a size.
SHAPES = {
    "mm": ["nm", "mk"], "bmm": ["bnm", "bmk"], "mv": ["nm", "m"], "dot": ["n", "n"], "vdot": ["n", "n"], "inner": ["bn", "mn"],
    "addmm": ["nk", "nm", "mk"], "addmv": ["n", "nm", "m"], "addr": ["nm", "n", "m"], "outer": ["n", "m"], "ger": ["n", "m"],
    "baddbmm": ["bnk", "bnm", "bmk"], "addbmm": ["nk", "bnm", "bmk"], "linear": ["bn", "mn", "m"], "bilinear": ["bn", "bm", "knm", "k"],
    "matmul": ["bnm", "mk"], "conv1d": ["bcl", "kcm", "k"], "conv2d": ["bcll", "kcmm", "k"], "cdist": ["nm", "km"],
    "embedding": ["nm", "b"], "cross": ["n3", "n3"], "linalg.cross": ["n3", "n3"], "kron": ["nm", "k"], "trace": ["nm"], "diag": ["nn"],
    "tril": ["nm"], "triu": ["nm"], "diagonal": ["nm"], "max_pool2d": ["bcll"], "avg_pool2d": ["bcll"], "max_pool1d": ["bcl"],
    "adaptive_avg_pool2d": ["bcll"], "pixel_shuffle": ["b4ll"], "batch_norm": ["bcl", "c", "c", "c", "c"], "layer_norm": ["bn", "n", "n"],
    "group_norm": ["b4l", "4", "4"], "nll_loss": ["bn", "b", "n"], "cross_entropy": ["bn", "b", "n"], "cosine_similarity": ["nm", "nm"],
    "linalg.det": ["nn"], "linalg.inv": ["nn"], "linalg.matrix_power": ["nn"], "linalg.norm": ["nm"], "linalg.matrix_norm": ["nm"],
    "linalg.solve": ["nn", "nm"], "matrix_exp": ["nn"], "searchsorted": ["bn", "bm"], "bucketize": ["m", "n"], "tensordot": ["nm", "mk"],
}

# Arguments that name dimensions, and those that are one of a few words.
DIMS = {"dim", "dim0", "dim1", "dims", "axis", "axis0", "axis1", "start_dim", "end_dim", "source", "destination", "dim2"}
WORDS = {
    "rounding_mode": ["floor", "trunc"], "reduce": ["sum", "prod", "mean", "amax", "amin", "add", "multiply"],
    "interpolation": ["linear", "lower", "higher", "nearest", "midpoint"], "side": ["left", "right"], "indexing": ["ij", "xy"],
    "UPLO": ["L", "U"], "norm": ["backward", "ortho", "forward"], "approximate": ["none", "tanh"], "mode": ["reduced", "complete"],
    "ord": ["fro", "nuc"],
}


class Tensors:
    """Makes tensors of one program, whose shapes suit each other."""

    def __init__(self, random, finite=False):
        self.random = random
        self.shape = random.choice([[], [0], [1], [3], [7], [2, 3], [3, 3], [1, 4], [2, 0], [2, 3, 4], [2, 4, 3, 3], [40], [5, 1, 2]])
        self.dtype = random.choice(DTYPES)
        self.sizes = {letter: random.choice([1, 2, 3, 3, 5]) for letter in "bcknm"} | {"l": random.choice([3, 4, 6])}
        self.special = random.random() < 0.25 and not finite
        self.all_special = self.special and random.random() < 0.3  # nothing but the points that formulas stumble over

    def shape_for(self, name, place):
        random = self.random
        if name in SHAPES and place < len(SHAPES[name]) and random.random() < 0.95:
            sizes = [int(c) if c.isdigit() else self.sizes[c] for c in SHAPES[name][place]]
            if random.random() < 0.03 and sizes:
                sizes[random.randrange(len(sizes))] = random.choice([0, 1, 2, 4])
            return sizes
        roll = random.random()
        if roll < 0.7:
            return list(self.shape)
        if roll < 0.8:
            return []
        if roll < 0.97:
            cut = random.randrange(len(self.shape) + 1)
            return [1 if random.random() < 0.3 else n for n in self.shape[cut:]]
        return random.choice([[2], [3, 1], [4, 4], [0]])

    def dtype_for(self, name, argument):
        random = self.random
        if argument in ("index", "indices", "target", "sorter") and random.random() < 0.95:
            return random.choice(["int64", "int64", "int64", "int32"])
        if argument in ("mask", "condition") and random.random() < 0.95:
            return "bool"
        if random.random() < 0.75:
            return self.dtype
        return random.choice(DTYPES)

    def number(self, dtype, argument, bounds=None):
        random = self.random
        if bounds and dtype in INTEGERS:
            return random.randrange(*bounds)
        if dtype == "bool":
            return random.random() < 0.5
        if argument in ("index", "indices", "target", "sorter"):
            return random.randrange(3) if random.random() < 0.98 else random.choice([-1, 5])
        if dtype in INTEGERS:
            if self.special and random.random() < (0.5 if self.all_special else 0.1):
                info = torch.iinfo(getattr(torch, dtype))
                return random.choice([info.min, info.max])
            return random.randint(0, 9) if dtype == "uint8" else random.randint(-9, 9)
        if dtype.startswith("complex"):
            return complex(self.number("float32", argument), self.number("float32", argument))
        if self.special and (self.all_special or random.random() < 0.2):
            return random.choice([math.nan, math.inf, -math.inf, 0.0, -0.0, *self.points(dtype)])
        if random.random() < 0.3:
            return random.choice([0.5, 1.0, 1.5, 2.0, -1.0, -2.5, 3.0, 0.0, -3.0, 6.0])
        return random.gauss(0, 2)

    def points(self, dtype):
        """The ends of a dtype's numbers: the largest, the smallest, one that is subnormal, and 1 with its neighbours."""
        info = torch.finfo(getattr(torch, dtype))
        sign = self.random.choice([1, -1])
        return [sign * x for x in (info.max, info.smallest_normal, info.smallest_normal / 8, 1.0, 1.0 + info.eps, 1.0 - info.eps / 2)]

    def make(self, name, argument, place, suit, i=None):
        """A tensor as the driver reads it: (dtype, sizes, strides, offset, flat tensor of its storage). `i` counts those of a list."""
        sizes = suit.sizes.get(argument)
        sizes = self.shape_for(name, place) if sizes is None else sizes if i is None else sizes[i]
        dtype = suit.dtypes.get(argument) or suit.dtypes.get("") or self.dtype_for(name, argument)
        strides, offset, count = self.layout(sizes, argument not in suit.change)
        numbers = [self.number(dtype, argument, suit.ranges.get(argument)) for _ in range(count)]
        flat = torch.tensor(numbers, dtype=getattr(torch, dtype))
        if argument in suit.change:
            suit.change[argument](flat.as_strided(sizes, strides, offset))
        return dtype, sizes, strides, offset, flat

    def layout(self, sizes, may_repeat):
        """(strides, offset, elements of the storage): row-major, permuted, with gaps, repeated, channels-last."""
        random = self.random
        order = list(range(len(sizes)))
        roll = random.random()
        if roll < 0.2:
            random.shuffle(order)
        elif roll < 0.3 and len(sizes) == 4:
            order = [0, 2, 3, 1]
        step = 2 if 0.3 <= roll < 0.4 else 1
        strides, running = [0] * len(sizes), step
        for d in reversed(order):
            strides[d] = running
            running *= max(sizes[d], 1)
        offset = 1 if 0.4 <= roll < 0.45 else 0
        if 0.45 <= roll < 0.48 and sizes and may_repeat:
            strides[random.randrange(len(sizes))] = 0
        if 0 in sizes:
            return strides, 0, 0
        return strides, offset, offset + 1 + sum((n - 1) * s for n, s in zip(sizes, strides))


DIVISIONS = {"lcm", "gcd", "div", "divide", "floor_divide", "fmod", "remainder"}


def fatal(call, values):
    """Whether PyTorch would not come back: polynomials take as many steps as the degree has, the minimum of integers traps where it is
    divided, LAPACK follows any pivot, and goes by the strides even of dimensions of one."""
    named = {a.name: v for a, v in zip(call.arguments, values)}
    order = max((named[n].shape[-1] for n in ("LU", "LU_data", "LD") if n in named and named[n].ndim), default=0)
    for a, v in zip(call.arguments, values):
        if a.name == "n" and "polynomial" in call.name:
            numbers = v.double() if isinstance(v, torch.Tensor) else torch.tensor(float(getattr(v, "real", v)))
            if bool((numbers.abs() > 1e6).any()):
                return True
        if "pivots" in a.name and isinstance(v, torch.Tensor) and not v.is_complex() and (
                bool(((v < 1) | (v > order)).any()) or v.stride() != torch.empty(v.shape).stride()):
            return True
        if call.name in DIVISIONS and isinstance(v, torch.Tensor) and v.dtype in (torch.int32, torch.int64) and bool((v.double() < -1e9).any()):
            return True
    return False


def bytes_of(flat):
    return flat.clone().view(torch.uint8).numpy().tobytes().hex() if flat.numel() else ""


def argument(random, tensors, call, a):
    """The value of an argument that is no tensor, as Python has it."""
    ndim = len(tensors.shape)
    if a.kind == "flag":
        return random.random() < 0.5
    if a.kind == "dtype":
        return getattr(torch, random.choice(DTYPES))
    if a.kind == "word":
        return random.choice(WORDS[a.name]) if a.name in WORDS else None
    if a.kind == "integer":
        if a.name in DIMS:
            return random.randint(-ndim, max(ndim - 1, 0)) if random.random() < 0.95 else random.randint(-5, 5)
        return random.choice([0, 1, 1, 2, 2, 3, -1, -2])
    if a.kind == "list":
        if a.name in DIMS:
            return random.sample(range(ndim), random.randint(0, min(ndim, 2))) if random.random() < 0.9 else [random.randint(-4, 4)]
        return [random.choice([1, 1, 2, 2, 3, 0, -1]) for _ in range(random.choice([0, 1, 1, 2, 2, 3]))]
    if a.kind == "real":
        return random.choice([0.0, 0.5, 1.0, 2.0, -1.0, 1e-5, 0.1, 3.0])
    roll = random.random()  # a scalar
    if roll < 0.4:
        return random.choice([0, 1, 2, 3, -1, -2, 5])
    if roll < 0.8:
        return random.choice([0.5, 2.0, -1.5, 0.0, 3.0, -0.25, 0.1] + ([math.nan, math.inf, -math.inf] if tensors.special else []))
    if roll < 0.92:
        return random.random() < 0.5
    return complex(random.choice([0, 1, 0.5]), random.choice([0, 2, -1]))


def written(value):
    """As the driver reads it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return f"b{int(value)}"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return f"f{value!r}"
    if isinstance(value, complex):
        return f"c{value.real!r},{value.imag!r}"
    if isinstance(value, torch.dtype):
        return "d" + str(value).removeprefix("torch.")
    if isinstance(value, list):
        return "l" + ",".join(map(str, value))
    return "w" + value
