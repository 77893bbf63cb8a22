"""torch.vmap: a function of one sample as one of many."""

from .. import _C
from .._core.pytree import tree_flatten, tree_leaves, tree_unflatten
from .written import is_tensor

__all__ = ["vmap"]


def _dims_of_leaves(dims, value):
    """The mapped dimension of each leaf of `value`, where `dims` may say one for a whole container; `_UNLIKE` where it is of
    another structure."""
    if isinstance(value, dict):
        alike = isinstance(dims, dict)
        if alike and dims.keys() != value.keys() or isinstance(dims, (tuple, list)):
            return [_UNLIKE]
        return [d for k, v in value.items() for d in _dims_of_leaves(dims[k] if alike else dims, v)]
    if isinstance(value, (tuple, list)):
        alike = isinstance(dims, (tuple, list))
        if alike and len(dims) != len(value) or isinstance(dims, dict):
            return [_UNLIKE]
        return [d for p, v in zip(dims if alike else [dims] * len(value), value) for d in _dims_of_leaves(p, v)]
    return [_UNLIKE if isinstance(dims, (tuple, list, dict)) else dims]


_UNLIKE = object()
_REFUSED = ("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap")


def _name(func):
    return getattr(func, "__name__", repr(func))


def _mapped(func, in_dims, args):
    """The leaves of the arguments, the structure of the arguments, the mapped dimension of each leaf, and the samples."""
    said = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"{said}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                         f"inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                         "vmap over a function with no inputs. The latter is unsupported.")
    leaves, structure = tree_flatten(args)
    dims = _dims_of_leaves(in_dims, args)
    if _UNLIKE in dims:
        raise ValueError(f"{said}in_dims is not compatible with the structure of `inputs`.")
    for v, d in zip(leaves, dims):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(f"{said}Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
        if not is_tensor(v):
            raise ValueError(f"{said}Got in_dim={d} for an input but the input is of type {type(v)}. We cannot vmap over "
                             "non-Tensor arguments, please use None as the respective in_dim")
        if not -v.dim() <= d < v.dim():
            raise ValueError(f"{said}Got in_dim={d} for some input, but that input is a Tensor of dimensionality {v.dim()} so "
                             f"expected in_dim to satisfy -{v.dim()} <= in_dim < {v.dim()}.")
    sizes = {v.size(d) for v, d in zip(leaves, dims) if d is not None}
    if not sizes:
        raise ValueError(f"{said}at least one input must have a mapped dimension")
    if len(sizes) != 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sorted(sizes)} for the mapped dimension")
    return leaves, structure, dims, sizes.pop()


class _Unmapped:
    """Tensors that all samples see: what one sample did to them the next ones would find."""

    def __init__(self, func, tensors):
        cells = getattr(func, "__closure__", None) or ()
        closed = []
        for cell in cells:
            try:
                closed += tree_leaves(cell.cell_contents)
            except ValueError:  # an empty cell
                continue
        self.seen = [(x, x._version) for x in (*tensors, *closed) if is_tensor(x) and not x.is_inference()]

    def check(self, func):
        for x, version in self.seen:
            if x._version != version:
                raise RuntimeError(f"vmap: {_name(func)} changed a tensor of shape {list(x.shape)} in place that is not "
                                   "mapped, though each sample would change it. Please use operators that are not in place, "
                                   "or map over the tensor, too.")


class _Randomness:
    """What random operations may do while the samples are gone through."""

    def __init__(self, kind, tensors):
        if kind not in ("error", "different", "same"):
            raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {kind}")
        self.kind = kind
        self.states = []
        if kind == "same":
            places = {x.device for x in tensors if is_tensor(x) and x.device.type not in ("cpu", "meta")}
            generators = [_C.default_generator, *(_C._device.default_generator(p) for p in places)]
            self.states = [(g, g.get_state()) for g in generators]

    def __enter__(self):
        self.before = _C._refuse_draws(_REFUSED if self.kind == "error" else "")
        return self

    def next_sample(self):
        for generator, state in self.states:
            generator.set_state(state)

    def __exit__(self, *error):
        _C._refuse_draws(self.before)


def _stacked(func, results, out_dims, samples):
    """The samples' results as one; without samples there is one result, for its shapes."""
    outputs = []
    for result in results:
        parts, structure = tree_flatten(result)
        for part in parts:
            if not is_tensor(part):
                raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(part)}.")
        outputs.append(parts)
    places = _dims_of_leaves(out_dims, results[0])
    said = f"vmap({_name(func)}, ..., out_dims={out_dims})"
    if _UNLIKE in places:
        raise ValueError(f"{said}(<inputs>): out_dims is not compatible with the structure of `outputs`.")
    if not all(d is None or isinstance(d, int) for d in places):
        raise ValueError(f"{said}: `out_dims` must be an int, None or a python collection of ints representing where in the "
                         "outputs the vmapped dimension should appear.")
    made = []
    for each, d in zip(zip(*outputs), places):
        if d is None and any(x is not each[0] for x in each):
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None")
        made.append(each[0] if d is None else _C.stack(list(each), d).narrow(d, 0, samples))
    return tree_unflatten(made, structure)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Applies `func` along a dimension of every tensor in its arguments: slice by slice, and stacked again.

    Keyword arguments are every sample's, as they are. Random operations are errors, or give each sample its own numbers
    ("different") or all of them the same ("same").
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def call(*args, **kwargs):
        leaves, structure, dims, samples = _mapped(func, in_dims, args)
        draws = _Randomness(randomness, leaves)
        unmapped = _Unmapped(func, [*tree_leaves(kwargs), *(v for v, d in zip(leaves, dims) if d is None)])
        results = []
        with draws:
            for i in range(max(samples, 1)):
                draws.next_sample()
                sample = [v if d is None else v.select(d, i) if samples else v.sum(d) for v, d in zip(leaves, dims)]
                results.append(func(*tree_unflatten(sample, structure), **kwargs))
                if i in (0, samples - 1):
                    unmapped.check(func)
        return _stacked(func, results, out_dims, samples)
    return call
