"""torch.vmap: a function of one sample as one of many, for arguments and results that are nested containers."""

from .. import _C
from .._core.pytree import tree_flatten, tree_unflatten
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


def _name(func):
    return getattr(func, "__name__", repr(func))


def _mapped(func, in_dims, args):
    """The leaves of the arguments, the structure of the arguments, and the mapped dimension of each leaf."""
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
    if all(d is None for d in dims):
        raise ValueError(f"{said}at least one input must have a mapped dimension")
    return leaves, structure, dims


def _results(func, result, out_dims):
    """The tensors of a result, where the samples shall be in each, and its structure."""
    parts, structure = tree_flatten(result)
    for part in parts:
        if not is_tensor(part):
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(part)}.")
    places = _dims_of_leaves(out_dims, result)
    said = f"vmap({_name(func)}, ..., out_dims={out_dims})"
    if _UNLIKE in places:
        raise ValueError(f"{said}(<inputs>): out_dims is not compatible with the structure of `outputs`.")
    if not all(d is None or isinstance(d, int) for d in places):
        raise ValueError(f"{said}: `out_dims` must be an int, None or a python collection of ints representing where in the "
                         "outputs the vmapped dimension should appear.")
    return parts, places, structure


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls `func`, of one sample, once for all samples along a dimension of its arguments.

    in_dims: which dimension, of all tensors or in the structure of the arguments; None for what every sample sees
    out_dims: where the samples are in the results; 0 unless given
    randomness: "error", "different" or "same": what random operations are, or which numbers samples draw
    chunk_size: how many samples are computed at once; all unless given

    Keyword arguments are every sample's, as they are. What depends on a sample's values (`item`, `nonzero`, `if x:`) is a
    RuntimeError, as is a change in place of a tensor that is not mapped by one that is.
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def call(*args, **kwargs):
        leaves, structure, dims = _mapped(func, in_dims, args)
        tensors = [v for v in leaves if is_tensor(v)]
        structures = []

        def one(samples):
            rest = iter(samples)
            given = tree_unflatten([next(rest) if is_tensor(v) else v for v in leaves], structure)
            parts, places, made = _results(func, func(*given, **kwargs), out_dims)
            structures[:] = [made]
            return parts, places
        found = _C._map_samples(one, tensors, [d for v, d in zip(leaves, dims) if is_tensor(v)], randomness, chunk_size,
                                _name(func))
        return tree_unflatten(found, structures[0])
    return call
