"""Arguments that suit operations which want more than random ones: windows, matrices, indices, recurrent networks.

`of(random, call)` gives what one call's arguments are to be: sizes, dtypes and ranges of tensors, and values of the rest. What it
does not name is random, and so is everything in one call of eight, because errors are compared, too.
"""

import dataclasses
import re

import torch

FLOATS = ["float32", "float64", "float32", "float64", "bfloat16", "float16"]
FACTORED = ["float32", "float64", "float32", "float64", "complex64", "complex128"]  # what LAPACK takes
ANY = FLOATS + ["int64", "int32", "uint8", "complex64", "complex128", "bool"]


SORTED = FLOATS + ["int64", "int32", "uint8"]


@dataclasses.dataclass
class Suit:
    sizes: dict = dataclasses.field(default_factory=dict)   # of a tensor, or of each tensor of a list
    dtypes: dict = dataclasses.field(default_factory=dict)  # "" stands for all others
    ranges: dict = dataclasses.field(default_factory=dict)  # (first, behind the last) of a tensor's integers
    change: dict = dataclasses.field(default_factory=dict)  # what makes a tensor of random numbers a suitable one
    values: dict = dataclasses.field(default_factory=dict)


def some(random, low, high, count):
    """A list for windows: one number for all axes, or one for each."""
    return [random.randint(low, high) for _ in range(random.choice([1, count]))]


def windows(random, axes):
    return {"kernel_size": some(random, 1, 3, axes), "stride": some(random, 1, 3, axes), "padding": some(random, 0, 1, axes),
            "dilation": some(random, 1, 2, axes), "output_padding": [0], "output_size": some(random, 1, 4, axes),
            "divisor_override": random.choice([1, 2, -3]), "groups": 1}


def convolution(random, call):
    axes = int(call.name[-2])
    b, c, k, m, groups = (random.randint(1, 3) for _ in range(5))
    batch = [b] if random.random() < 0.8 else []
    picture = [random.randint(4, 6) for _ in range(axes)]
    kernel = [random.choice([m, random.randint(1, 3)]) for _ in range(axes)]
    channels = [c * groups, k] if "transpose" in call.name else [k * groups, c]
    suit = Suit({"input": batch + [c * groups] + picture, "weight": channels + kernel, "bias": [k * groups]},
                {"": random.choice(ANY if random.random() < 0.3 else FLOATS)}, values=windows(random, axes))
    suit.values["groups"] = groups
    return suit


def pooling(random, call):
    axes = int(re.search(r"(\d)d", call.name)[1])
    batch = [random.randint(1, 3) for _ in range(random.choice([1, 2, 2]))]
    return Suit({"input": batch + [random.randint(4, 7) for _ in range(axes)]},
                {"": random.choice(ANY if random.random() < 0.3 else FLOATS)}, values=windows(random, axes))


def definite(view):
    """Hermitian and positive definite: a matrix of any numbers times its adjoint, and more on the diagonal."""
    n = view.shape[-1]
    view.copy_(view @ view.mH + torch.eye(n, dtype=view.dtype))


def ascending(view):
    view.copy_(view.sort()[0])


def behind(view):
    """Pivots as elimination makes them: each row is swapped with itself or one behind it."""
    view.copy_(view.maximum(torch.arange(1, view.shape[-1] + 1, dtype=view.dtype)))


def symmetric(view):
    view.copy_(view + view.mH)


def dominant(view):
    """Far from singular."""
    view.add_(4 * torch.eye(view.shape[-1], dtype=view.dtype))


def matrices(random, call):
    """Square matrices, what they are solved for, and the factors that other operations made."""
    n, k = random.randint(1, 4), random.randint(1, 3)
    batch = random.choice([[], [], [2], [2, 1]])
    square, right = batch + [n, n], batch + [n, k]
    left = "left" in [a.name for a in call.arguments] and random.random() < 0.3
    name = call.name.removeprefix("linalg.")
    change = dominant
    if "cholesky" in name or name == "logdet":
        change = definite
    elif name in ("ldl_factor", "ldl_factor_ex", "ldl_solve", "eigvalsh"):
        change = symmetric
    elif name in ("matrix_exp", "matrix_power", "cond", "pinv", "matrix_rank", "det", "slogdet"):
        change = None
    squares = ("A", "LU", "L", "LU_data", "LD", "input", "self" if name not in ("triangular_solve", "lu_solve") else "")
    suit = Suit({s: square for s in squares}, {"": random.choice(FACTORED)})
    if change:
        suit.change = {s: change for s in squares}
    suit.sizes["B" if "." in call.name or name == "cholesky_solve" else "self"] = batch + [k, n] if left else right
    if name not in ("triangular_solve", "lu_solve"):
        suit.sizes["self"] = square
    for pivots in ("pivots", "LU_pivots"):
        suit.sizes[pivots], suit.dtypes[pivots], suit.ranges[pivots] = batch + [n], "int32", (1, n + 1)
        suit.change[pivots] = behind
    suit.values = {"left": not left, "n": random.randint(-2, 3), "check_errors": False, "atol": 1e-3, "rtol": 1e-3}
    return suit


def norms(random, call):
    suit = Suit({"A": random.choice([[3, 2], [2, 3, 2], [3, 3]])}, {"": random.choice(FACTORED + FLOATS)})
    kind = next((a.kind for a in call.arguments if a.name in ("ord", "p")), None)
    numbers = [1, -1, 2, -2, float("inf"), float("-inf")]
    suit.values = {"ord": random.choice(["fro", "nuc"] if kind == "word" else numbers), "dim": random.choice([[-2, -1], [0, 1], [1, 0]]),
                   "p": random.choice(["fro", "nuc"] if kind == "word" else numbers), "dtype": None}
    if "cond" in call.name:
        suit.sizes["A"] = [3, 3]
    return suit


def indexing(random, call):
    """index_*, scatter* and their kin: one dimension, and indices within it."""
    shape = [random.randint(1, 4) for _ in range(random.randint(1, 3))]
    dim = random.randrange(len(shape))
    one = call.name.startswith("index_")
    count = random.randint(1, 4)
    index = [count] if one else [random.randint(1, n) for n in shape]
    source = shape[:dim] + [count] + shape[dim + 1:] if one else [n + random.randint(0, 1) for n in index]
    suit = Suit({"self": shape, "index": index, "source": source, "src": source, "value": []}, {"": random.choice(ANY), "index": "int64"},
                {"index": (0, shape[dim])}, values={"dim": dim - random.choice([0, len(shape)])})
    if call.name == "index_reduce":
        suit.values["reduce"] = random.choice(["prod", "mean", "amax", "amin"])
    if call.name == "scatter_reduce":
        suit.values["reduce"] = random.choice(["sum", "prod", "mean", "amax", "amin"])
    if call.name == "scatter":
        suit.values["reduce"] = random.choice(["add", "multiply"])
    return suit


def slices(random, call):
    """What writes into a part of a tensor."""
    shape = [random.randint(2, 4) for _ in range(random.randint(2, 3))]
    dtype = {"": random.choice(ANY)}
    if call.name == "select_scatter":
        dim = random.randrange(len(shape))
        return Suit({"self": shape, "src": shape[:dim] + shape[dim + 1:]}, dtype, values={"dim": dim, "index": random.randrange(-2, 2)})
    if call.name == "diagonal_scatter":
        own = shape[2:] + [min(shape[:2])]
        return Suit({"self": shape, "src": own}, dtype, values={"offset": 0, "dim1": 0, "dim2": 1})
    n, m = random.randint(1, 2), random.randint(1, 2)
    return Suit({"self": [4, 4], "src": [n, m]}, dtype, values={"size": [n, m], "stride": [random.randint(1, 3), 1], "storage_offset": 1})


def normalised(random, call):
    shape = [random.randint(1, 4) for _ in range(random.randint(1, 3))]
    own = shape[random.randrange(len(shape)):]
    return Suit({"input": shape, "weight": own, "bias": own}, {"": random.choice(FLOATS)}, values={"normalized_shape": own, "eps": 1e-5})


def networks(random, call):
    """Recurrent networks of one or two layers, in one direction or both."""
    steps, batch, features, hidden, layers = (random.randint(1, 3) for _ in range(5))
    layers = min(layers, 2)
    both, biases, first = (random.random() < 0.5 for _ in range(3))
    gates = {"lstm": 4, "gru": 3}.get(call.name.removesuffix("_cell"), 1) * hidden
    dtype = {"": random.choice(["float32", "float64"])}
    if call.name.endswith("_cell"):
        state = [[batch, hidden]] * 2 if call.name == "lstm_cell" else [batch, hidden]
        return Suit({"input": [batch, features], "hx": state, "w_ih": [gates, features], "w_hh": [gates, hidden], "b_ih": [gates], "b_hh": [gates]},
                    dtype)
    params = []
    for layer in range(layers):
        for _ in range(1 + both):
            width = features if layer == 0 else hidden * (1 + both)
            params += [[gates, width], [gates, hidden]] + [[gates], [gates]] * biases
    state = [layers * (1 + both), batch, hidden]
    return Suit({"input": [batch, steps, features] if first else [steps, batch, features], "hx": [state] * 2 if call.name == "lstm" else state,
                 "params": params}, dtype, values={"has_biases": biases, "num_layers": layers, "dropout": 0.0, "train": random.random() < 0.5,
                                                   "bidirectional": both, "batch_first": first})


def sequences(random, call):
    """CTC: labels of several sequences in one matrix; the blank is none of them."""
    steps, batch, classes, longest = random.randint(3, 6), random.randint(1, 3), random.randint(2, 4), random.randint(1, 2)
    lengths = [[random.randint(3, steps) for _ in range(batch)], [random.randint(0, longest) for _ in range(batch)]]
    listed = any(a.kind == "list" for a in call.arguments)
    suit = Suit({"log_probs": [steps, batch, classes], "targets": [batch, longest], "input_lengths": [batch], "target_lengths": [batch]},
                {"": random.choice(["float32", "float64"]), "targets": "int64", "input_lengths": "int64", "target_lengths": "int64"},
                {"targets": (1, classes), "input_lengths": (3, steps + 1), "target_lengths": (0, longest + 1)}, values={"blank": 0})
    suit.change["log_probs"] = lambda view: view.copy_(view.log_softmax(-1))
    if listed:
        suit.values |= {"input_lengths": lengths[0], "target_lengths": lengths[1]}
    return suit


def transforms(random, call):
    """Fourier transforms: real or complex numbers, and a result of the other or the same kind."""
    base = call.name.removeprefix("fft.").rstrip("n2")
    wide = random.choice(["float32", "float64"])
    complex_ = "complex64" if wide == "float32" else "complex128"
    suit = Suit({"self": [random.randint(2, 5) for _ in range(random.randint(2, 3))]})
    suit.dtypes[""] = wide if base in ("rfft", "ihfft") else random.choice([wide, complex_])
    suit.dtypes["out"] = wide if base in ("irfft", "hfft") else complex_
    dims = random.choice([None, [-2, -1], [0], [1, 0]])
    if call.name.endswith("2"):
        dims = random.choice([None, [-2, -1], [1, 0]])
    sizes = [random.randint(2, 6) for _ in (dims or [0, 1])] if random.random() < 0.5 else None
    suit.values = {"n": random.choice([None, 2, 3, 6]), "dim": random.choice([-1, 0, 1])}
    if any(a.name == "s" for a in call.arguments):
        suit.values = {"s": sizes, "dim": dims}
    return suit


def words(random, call):
    """einsum, by equations of two operands and of one."""
    equation, sizes = random.choice([("ij,jk->ik", [[2, 3], [3, 4]]), ("bij,bjk->bik", [[2, 2, 3], [2, 3, 1]]), ("ii->i", [[3, 3]]),
                                     ("ij->ji", [[2, 3]]), ("ij,ij->", [[2, 3], [2, 3]]), ("i,j->ij", [[3], [2]]), ("...ij->...ji", [[2, 3, 4]]),
                                     ("...i,i", [[2, 3], [3]]), ("ijk,k", [[2, 1, 3], [3]]), ("ii", [[4, 4]])])
    return Suit({"operands": sizes}, {"": random.choice(ANY)}, values={"equation": equation, "path": None})


def of_kind(sizes, dtypes=ANY, change=None, **values):
    """A recipe without choices but its dtype; sizes are letters, as in inputs.SHAPES; spaces are between tensors of a list."""
    def recipe(random, call):
        letters = {letter: random.randint(1, 4) for letter in "bcdknm"} | {"l": random.randint(4, 6)}
        def read(text):
            return [int(c) if c.isdigit() else letters[c] for c in text]
        made = {name: [read(t) for t in text.split()] if " " in text else read(text) for name, text in sizes.items()}
        chosen = {name: v(random) if callable(v) else v for name, v in values.items()}
        return Suit(made, {"": random.choice(dtypes), "mask": "bool", "tensor_indices_or_sections": "int64"}, change=change or {}, values=chosen)
    return recipe


def unit(view):
    view.copy_(view.abs().clamp(max=9) / 10)


def quantiles(random, call):
    suit = Suit({"self": [2, 4], "q": random.choice([[], [3]]), "out": []}, {"": random.choice(["float32", "float64"])})
    suit.change["q"] = unit
    suit.values = {"dim": random.choice([None, 0, 1, -1]), "q": random.choice([0.0, 0.3, 0.5, 1.0])}
    return suit


def spectra(random, call):
    real, size = random.choice([("float32", "complex64"), ("float64", "complex128")]), random.choice([4, 8])
    if call.name == "istft":
        return Suit({"self": [size // 2 + 1, random.randint(3, 6)], "window": [size]}, {"": real[1], "window": real[0]},
                    values={"n_fft": size, "hop_length": random.choice([None, 1, 2]), "win_length": None, "window": None, "center": True, "return_complex": False,
                                                                            "length": None})
    return Suit({"self": [random.randint(12, 20)], "window": [size]}, {"": real[0]}, values={
        "n_fft": size, "hop_length": random.choice([None, 1, 3]), "win_length": None, "center": random.random() < 0.5, "return_complex": True,
        "pad_mode": random.choice(["reflect", "constant", "replicate"])})


def counted(random, call):
    suit = Suit({"self": [random.randint(1, 6)], "repeats": [random.randint(1, 6)]}, {"": random.choice(ANY), "repeats": "int64"},
                {"self": (0, 5), "repeats": (0, 3)}, values={"output_size": None, "dim": 0})
    if call.name == "bincount":
        suit.dtypes = {"": random.choice(ANY), "self": random.choice(["int64", "int32", "uint8"])}
        suit.sizes["weights"] = suit.sizes["self"]
    elif call.name == "one_hot":
        suit.sizes["classes"], suit.dtypes["classes"], suit.ranges["classes"] = [3], "int64", (0, 4)
        suit.values["num_classes"] = random.choice([-1, 5])
    else:
        suit.sizes["repeats"] = random.choice([suit.sizes["self"], [1], []])
    return suit


def losses(random, call):
    n, c = random.randint(1, 4), random.randint(2, 4)
    suit = Suit({"input": [n, c], "target": [n, c], "input1": [n, c], "input2": [n, c]}, {"": random.choice(FLOATS)})
    if call.name in ("nll_loss", "multi_margin_loss"):
        suit.sizes |= {"target": [n], "weight": [c]}
        suit.dtypes["target"], suit.ranges["target"] = "int64", (0, c)
    elif call.name == "cosine_embedding_loss":
        suit.sizes["target"] = [n]
        suit.change["target"] = lambda view: view.copy_(view.sign())
    elif call.name == "binary_cross_entropy":
        suit.sizes["weight"] = [n, c]
        suit.change = {"input": unit, "target": unit}
    return suit


def attention(random, call):
    b, h, n, m, d = (random.randint(1, 3) for _ in range(5))
    return Suit({"query": [b, h, n, d], "key": [b, h, m, d], "value": [b, h, m, d], "attn_mask": random.choice([[n, m], [b, 1, n, m]])},
                {"": random.choice(FLOATS[:4]), "attn_mask": "bool"}, values={"dropout_p": 0.0, "enable_gqa": False, "scale": random.choice([None, 0.5])})


def spaced(random, call):
    """gradient with coordinates for each dimension."""
    shape = [random.randint(3, 5) for _ in range(2)]
    dims = random.choice([[0], [1], [0, 1]])
    one = next(a.kind for a in call.arguments if a.name == "dim") == "integer"
    dims = dims[:1] if one else dims
    suit = Suit({"self": shape, "spacing": [[shape[d]] for d in dims]}, {"": random.choice(["float32", "float64"])},
                values={"dim": dims[0] if one else dims, "edge_order": random.choice([1, 2])})
    suit.change["spacing"] = lambda view: view.copy_(torch.arange(len(view)).double() ** 1.5)
    return suit


def recipes():
    table = {"einsum": words, "ctc_loss": sequences, "layer_norm": normalised, "rms_norm": normalised, "scaled_dot_product_attention": attention,
             "bincount": counted, "one_hot": counted, "repeat_interleave": counted, "stft": spectra, "istft": spectra}
    groups = {
        convolution: "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
        pooling: "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices avg_pool1d avg_pool2d "
                 "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
        matrices: "linalg.cholesky linalg.cholesky_ex linalg.solve linalg.solve_ex linalg.solve_triangular linalg.lu_solve logdet cholesky "
                  "cholesky_solve cholesky_inverse linalg.ldl_solve linalg.ldl_factor linalg.ldl_factor_ex lu_solve linalg.eigvalsh linalg.inv "
                  "linalg.inv_ex inverse linalg.matrix_exp matrix_exp triangular_solve lu_unpack linalg.matrix_power matrix_power linalg.pinv "
                  "pinverse linalg.matrix_rank linalg.det det linalg.slogdet slogdet linalg.lu_factor linalg.lu_factor_ex linalg.lu",
        norms: "linalg.norm linalg.matrix_norm linalg.cond linalg.vector_norm nuclear_norm",
        indexing: "index_add index_copy index_fill index_reduce scatter scatter_add scatter_reduce gather",
        slices: "select_scatter diagonal_scatter as_strided_scatter",
        networks: "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
        quantiles: "quantile nanquantile",
        losses: "nll_loss multi_margin_loss cosine_embedding_loss binary_cross_entropy kl_div",
        transforms: " ".join(f"fft.{name}{n}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for n in ("", "2", "n")),
    }
    for recipe, names in groups.items():
        table |= {name: recipe for name in names.split()}
    return table | {
        "linalg.tensorsolve": of_kind({"A": "2323", "B": "23"}, FACTORED, dims=None), "linalg.tensorinv": of_kind({"A": "2323"}, FACTORED, ind=2),
        "orgqr": of_kind({"self": "32", "input2": "2"}, FACTORED), "linalg.multi_dot": of_kind({"tensors": "nm mk k"}),
        "tensordot": of_kind({"self": "nm", "other": "mk"}, dims_self=lambda r: [1], dims_other=lambda r: [0]),
        "view_as_complex": of_kind({"self": "nm2"}, FLOATS), "view_as_real": of_kind({"self": "nm"}, FACTORED[4:]),
        "searchsorted": of_kind({"sorted_sequence": "l", "self": "nm", "sorter": "l"}, SORTED, {"sorted_sequence": ascending}, sorter=None, side=None),
        "bucketize": of_kind({"self": "nm", "boundaries": "l"}, SORTED, {"boundaries": ascending}),
        "group_norm": of_kind({"input": "b4l", "weight": "4", "bias": "4"}, FLOATS, num_groups=lambda r: r.choice([1, 2, 4]), eps=1e-5),
        "batch_norm": of_kind({"input": "bcl", "weight": "c", "bias": "c", "running_mean": "c", "running_var": "c"}, FLOATS),
        "channel_shuffle": of_kind({"self": "b4ll"}, groups=lambda r: r.choice([1, 2, 4])), "pdist": of_kind({"self": "lm"}, FLOATS),
        "dsplit": of_kind({"self": "bm4"}, sections=lambda r: r.choice([1, 2, 4])), "cdist": of_kind({"x1": "bnm", "x2": "bkm"}, FLOATS),
        "masked_fill": of_kind({"self": "nm", "mask": "nm", "value": ""}),
        "masked_scatter": of_kind({"self": "nm", "mask": "nm", "source": "ll"}),
        "renorm": of_kind({"self": "nm"}, FLOATS, p=lambda r: r.choice([1, 2, 3.5]), maxnorm=lambda r: r.choice([0.5, 2]), dim=lambda r: r.choice([0, 1])),
        "as_strided": of_kind({"self": "ll"}, size=lambda r: [2, 2], stride=lambda r: [r.randint(1, 3), 1], storage_offset=lambda r: r.choice([None, 1])),
    }


RECIPES = recipes()


def of(random, call):
    if call.name not in RECIPES or random.random() < 0.125:
        return Suit()
    return RECIPES[call.name](random, call)
