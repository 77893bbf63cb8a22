"""Functions of torch that draw numbers."""

from .. import _C
from .written import into, sizes

__all__ = ["normal"]


def normal(mean, std=None, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           pin_memory=False, requires_grad=False):
    """Random numbers of normal distributions.

    mean, std: tensors of as many elements, or numbers; not negative deviations, else RuntimeError
    size: of numbers
    generator: draws; the device's default one unless given

    Shapes: the tensors', or `size`.

    >>> torch.normal(torch.zeros(3), 1.0).shape
    torch.Size([3])
    >>> torch.normal(0.0, 1.0, size=(2, 3)).shape
    torch.Size([2, 3])
    """
    if isinstance(std, (int, float)) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if size is not None:
        made = _C.randn(sizes("normal", size), generator=generator, dtype=dtype, layout=layout, device=device)
        made = made * (1.0 if std is None else std) + mean
        made = made.requires_grad_() if requires_grad else made
    elif isinstance(mean, _C.TensorBase):
        made = _C.normal(mean, 1.0 if std is None else std, generator=generator)
    else:
        made = _C.normal(mean, std, generator=generator)
    return into(out, made)


def _bernoulli(input, p=None, *, generator=None, out=None):
    if not isinstance(out, _C.TensorBase):
        return NotImplemented
    return into(out, _C.bernoulli(input, *(() if p is None else (p,)), generator=generator), silently=True)


def _multinomial(input, num_samples, replacement=False, *, generator=None, **out):
    if set(out) != {"out"}:
        return NotImplemented
    return into(out["out"], _C.multinomial(input, num_samples, replacement, generator=generator), silently=True)


def _random_like(name):
    """`rand_like` and its kin from a generator."""
    def call(input, *bounds, generator=None, **options):
        if not isinstance(generator, (_C.Generator, type(None))) or not isinstance(input, _C.TensorBase):
            return NotImplemented
        bounds += tuple(options.pop(bound) for bound in ("low", "high") if bound in options)
        options.pop("memory_format", None)
        options.setdefault("dtype", input.dtype)
        options.setdefault("device", input.device)
        return getattr(_C, name)(*bounds, input.shape, generator=generator, **options)
    return call


SIGNATURES = {"bernoulli": _bernoulli, "multinomial": _multinomial,
              **{f"{name}_like": _random_like(name) for name in ("rand", "randn", "randint")}}
