"""Arguments with which every operation of the table can be called, found by trying a few worlds of tensors, and a function
written in Python."""

import itertools

import taeda as torch

# Tensors of one world fit each other; an operation's sample is the first world in which it works.
WORLDS = {
    "matrix": lambda: torch.tensor([[0.5, -0.25, 0.75], [0.125, 0.625, -0.5]]),
    "square": lambda: torch.tensor([[2.0, 0.5, 0.25], [0.5, 3.0, 0.75], [0.25, 0.75, 4.0]]),
    "vector": lambda: torch.tensor([0.5, 0.25, 0.75]),
    "integers": lambda: torch.tensor([[1, 2, 3], [4, 5, 6]]),
    "places": lambda: torch.tensor([0, 1, 1]),
    "batch": lambda: torch.linspace(-1, 1, 18).view(2, 3, 3),
    "images": lambda: torch.linspace(-1, 1, 64).view(1, 4, 4, 4),
    "volumes": lambda: torch.linspace(-1, 1, 256).view(1, 4, 4, 4, 4),
    "complex": lambda: torch.tensor([[1 + 2j, 2 - 1j], [0.5j, 1.0]]),
    "truths": lambda: torch.tensor([[True, False], [False, True]]),
    "number": lambda: torch.tensor(0.5),
}
# Names of parameters say what belongs there.
TENSORS = {
    "index": lambda x: torch.zeros(x.shape, dtype=torch.int64), "indices": lambda x: torch.zeros(2, dtype=torch.int64),
    "mask": lambda x: torch.ones(x.shape, dtype=torch.bool), "condition": lambda x: torch.ones(x.shape, dtype=torch.bool),
}
VALUES = {
    "int": [1, 0, 2], "float": [0.5, 1.0], "Number": [2, 1], "bool": [False], "str": ["mean", "reflect", "fro", "L"],
    "tuple of ints": [[1], [0], [1, 1], [2, 3], [3, 2], [0, 1], [1, 1, 1], [2, 2, 2], [1, 1, 1, 1]],
    "tuple of floats": [[0.5], [0.5, 0.5]], "tuple of Numbers": [[1, 2]], "torch.dtype": [torch.float64],
    "torch.memory_format": [torch.contiguous_format], "torch.Generator": [torch.default_generator],
    "torch.device": [torch.device("cpu")],
}


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 2 * x * grad


def _zeros(*shape):
    return torch.zeros(*shape, dtype=torch.int64)


# What no world gives: {name: [arguments of one signature, ...]}.
def by_hand():
    x, square, vector = WORLDS["matrix"](), WORLDS["square"](), WORLDS["vector"]()
    index, signal = _zeros(2, 3), torch.linspace(-1, 1, 32)
    sparse = torch.zeros(2, 3).index_fill_(1, torch.tensor([1]), 2.0).to_sparse()
    cells = [torch.zeros(2, 4), [torch.ones(8, 3), torch.ones(8, 2), torch.ones(8), torch.ones(8)]]
    return {
        "conv_transpose1d": [[torch.ones(1, 2, 4), torch.ones(2, 3, 2)]],
        "conv_transpose2d": [[torch.ones(1, 2, 4, 4), torch.ones(2, 3, 2, 2)]],
        "conv_transpose3d": [[torch.ones(1, 2, 3, 3, 3), torch.ones(2, 3, 2, 2, 2)]],
        "einsum": [["ij,kj->ik", [x, x]]],
        "scatter": [[x, 0, index, x], [x, 0, index, 2.0], [x, 0, index, x, "add"], [x, 0, index, 2.0, "multiply"]],
        "scatter_": [[x, 0, index, x], [x, 0, index, 2.0], [x, 0, index, x, "add"], [x, 0, index, 2.0, "multiply"]],
        "narrow": [[x, 1, 0, 2], [x, 1, torch.tensor(0), 2]],
        "addmv": [[vector[:2], x, vector]], "addmv_": [[vector[:2], x, vector]], "addr_": [[x, vector[:2], vector]],
        "addbmm": [[square, torch.ones(2, 3, 3), torch.ones(2, 3, 3)]],
        "addbmm_": [[square, torch.ones(2, 3, 3), torch.ones(2, 3, 3)]],
        "select_scatter": [[x, vector[:2], 1, 0]], "diagonal_scatter": [[square, vector]],
        "batch_norm": [[x, vector, vector, vector, vector, True]],
        "coalesce": [[sparse]], "is_coalesced": [[sparse]], "indices": [[sparse]], "values": [[sparse]], "_indices": [[sparse]],
        "_values": [[sparse]], "_nnz": [[sparse]], "sparse_mask": [[x, sparse]], "smm": [[sparse, x.t()]],
        "sspaddmm": [[torch.zeros(2, 2).to_sparse(), sparse, x.t().contiguous()]], "hspmm": [[sparse, x.t()]],
        "crow_indices": [[sparse.to_sparse_csr()]], "col_indices": [[sparse.to_sparse_csr()]],
        "sampled_addmm": [[sparse.to_sparse_csr(), torch.ones(2, 2), torch.ones(2, 3)]],
        "sparse_csr_tensor": [[torch.tensor([0, 1, 2]), _zeros(2), vector[:2]],
                              [torch.tensor([0, 1, 2]), _zeros(2), vector[:2], [2, 4]]],
        "softmax": [[sparse, 1]], "log_softmax": [[sparse, 1]],
        "sparse_coo_tensor": [[_zeros(1, 2), vector[:2]], [_zeros(1, 2), vector[:2], [4]], [[2, 3]]],
        "stft": [[signal, 8], [signal, 8, 4, 8, torch.ones(8), False, True]],
        "istft": [[torch.ones(5, 9, dtype=torch.complex64), 8]],
        "view_as_complex": [[torch.ones(3, 2)]], "float_power_": [[x.double(), x.double()], [x.double(), 2]],
        "gradient": [[x, [1.0, 2.0]], [x, [1.0, 2.0], [0, 1]]],
        "lstm_cell": [[torch.ones(2, 3), [torch.zeros(2, 2), torch.zeros(2, 2)], *cells[1]]],
        "lu_solve": [[*torch._C._linalg.lu_factor(square), square]], "tensorinv": [[torch.eye(4).view(2, 2, 4)]],
        "as_strided_scatter": [[x, vector, [3], [1]]],
        "ctc_loss": [[torch.zeros(5, 1, 3), torch.ones(1, 2, dtype=torch.int64), [5], [2]],
                     [torch.zeros(5, 1, 3), torch.ones(1, 2, dtype=torch.int64), torch.tensor([5]), torch.tensor([2])]],
    }


def choices(parameter, world):
    name, kind, *_ = parameter
    if kind == "Tensor":
        made = [WORLDS[world]()]
        if name in TENSORS:
            made.insert(0, TENSORS[name](made[0]))
        elif name in ("target", "labels"):
            made.append(torch.zeros(made[0].shape[:1], dtype=torch.int64))
        elif name in ("weight", "mat2", "vec2"):
            made.append(made[0].clone().t() if made[0].dim() == 2 else made[0].clone())
        elif name in ("vec",):
            made.append(made[0].reshape(-1)[:3].clone())
        return made
    if kind == "tuple of Tensors":
        return [[WORLDS[world]() for _ in range(2)]]
    return VALUES[kind]


def fits(parameter, value):
    """Whether a value is of the parameter's own type, so that no other signature takes it first."""
    kind = parameter[1]
    return isinstance(value, torch.Tensor) == (kind == "Tensor") and (kind != "tuple of ints" or all(
        isinstance(v, int) for v in value))


def required(signature):
    """Parameters that must be given by position, the receiver first."""
    receiver, _, parameters = signature
    order = sorted(range(len(parameters)), key=lambda i: i != receiver)
    return [parameters[i] for i in order if parameters[i][2] is None and not parameters[i][3]]


def equal(a, b):
    if isinstance(a, torch.Tensor):
        a, b = (t if t.layout is torch.strided else t.to_dense() for t in (a, b))
        return a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a, b, equal_nan=True)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    return a == b or a != a


def detached(value):
    """A value that nobody else changes, of the same kind."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [detached(v) for v in value] if isinstance(value, list) else value


def call(function, positional, named):
    """The operation on copies of its arguments, from the same random numbers."""
    torch.manual_seed(1)
    return function(*(detached(a) for a in positional), **{k: detached(v) for k, v in named.items()})


def find(name, function, signature):
    """[(parameter, value), ...] for the arguments that must be given, or None."""
    parameters = required(signature)
    must = [p for p in signature[2] if p[2] is None and p[3]]
    for values in by_hand().get(name, []):
        if len(values) == len(parameters) and all(map(fits, parameters, values)) and works(function, values, {}):
            return list(zip(parameters, values))
    for world in WORLDS:
        options = [choices(p, world) for p in parameters + must]
        for values in itertools.islice(itertools.product(*options), 60):
            if works(function, values[:len(parameters)], {p[0]: v for p, v in zip(must, values[len(parameters):])}):
                return list(zip(parameters + must, values))
    return None


def works(function, positional, named):
    try:
        call(function, positional, named)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return False
    return True
