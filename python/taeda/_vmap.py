"""vmap, and the few words about nested containers that it and torch.func need."""

from . import _C


def flatten(value, leaves):
    """Appends the leaves of nested tuples, lists and dicts, and returns a function that builds the same from an iterator."""
    if isinstance(value, dict):
        parts = [(k, flatten(v, leaves)) for k, v in value.items()]
        return lambda it: type(value)((k, build(it)) for k, build in parts)
    if isinstance(value, (tuple, list)):
        builds = [flatten(v, leaves) for v in value]
        if hasattr(value, "_fields"):
            return lambda it: type(value)(*[build(it) for build in builds])
        return lambda it: type(value)([build(it) for build in builds])
    leaves.append(value)
    return next


def _spread(dims, value):
    """The mapped dimension of each leaf of `value`, where `dims` may say one number for a whole container."""
    if isinstance(value, dict):
        return [d for k, v in value.items() for d in _spread(dims[k] if isinstance(dims, dict) else dims, v)]
    if isinstance(value, (tuple, list)):
        parts = dims if isinstance(dims, (tuple, list)) else [dims] * len(value)
        return [d for p, v in zip(parts, value) for d in _spread(p, v)]
    return [dims if isinstance(value, _C.TensorBase) else None]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Applies `func` along a dimension of every tensor in its arguments: slice by slice, and stacked again."""
    def call(*args, **kwargs):
        leaves = []
        build = flatten(args, leaves)
        dims = _spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args)
        named = []
        build_named = flatten(kwargs, named)
        leaves += named
        dims += [0 if isinstance(v, _C.TensorBase) else None for v in named]
        for v, d in zip(leaves, dims):
            if d is not None and not -v.dim() <= d < v.dim():
                raise ValueError(f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} "
                                 f"for some input, but that input is a Tensor of dimensionality {v.dim()} so expected in_dim "
                                 f"to satisfy -{v.dim()} <= in_dim < {v.dim()}.")
        sizes = {v.size(d) for v, d in zip(leaves, dims) if d is not None}
        if not sizes:
            raise ValueError("vmap: at least one input must have a mapped dimension")
        if len(sizes) != 1:
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                             f"{sorted(sizes)} for the mapped dimension")
        results = []
        for i in range(sizes.pop()):
            at = iter([v if d is None else v.select(d, i) for v, d in zip(leaves, dims)])
            results.append(func(*build(at), **build_named(at)))
        outputs = []
        rebuild = None
        for result in results:
            parts = []
            rebuild = flatten(result, parts)
            for part in parts:
                if not isinstance(part, _C.TensorBase):
                    name = getattr(func, "__name__", func)
                    raise ValueError(f"vmap({name}, ...): {name} must only return Tensors, got type {type(part)}.")
            outputs.append(parts)
        places = _spread(out_dims, results[0])
        return rebuild(iter([_C.stack(list(each), 0 if d is None else d) for each, d in zip(zip(*outputs), places)]))
    return call
