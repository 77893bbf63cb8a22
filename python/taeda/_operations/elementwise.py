"""Functions of torch on each element: arithmetic, their forms in place, and the signatures that PyTorch had before."""

import functools

from .. import _C
from .._core.warnings import warn_once
from .written import NUMBERS, fitting, into, is_tensor, of_methods

# torch.exp_(x) and the like are the methods of tensors of the same name.
_IN_PLACE = of_methods("""
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_ ceil_ clamp_
    clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_ erf_ erfc_ exp_ exp2_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ lcm_
    ldexp_ log_ log10_ log1p_ log2_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ round_ rsqrt_ sigmoid_ sin_
    sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_""".split())
__all__ = ["complex", "conj_physical_", "fill", "i0"]
__all__ += list(_IN_PLACE)
globals().update(_IN_PLACE)
i0 = _C._special.i0


def complex(real, imag, *, out=None):
    """The complex tensor real + i * imag.

    real, imag: float32, float64 or float16, both the same, else RuntimeError

    Shapes: any that broadcast, to the result's.

    >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
    tensor([1.+2.j])
    """
    return into(out, _C.make_complex(real, imag))


def conj_physical_(input):
    """Conjugates a tensor in place.

    >>> torch.conj_physical_(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return input.copy_(input.conj().resolve_conj()) if input.is_complex() else input


def fill(input, value):
    """A tensor in input's shape, full of `value`, a scalar.

    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    return input.clone().fill_(value)


def _copy(input, src=None, non_blocking=False, *, other=None):
    src = other if src is None else src
    return input.fill_(src) if isinstance(src, NUMBERS) else NotImplemented


def _of_numbers(name):
    """Arithmetic of a number first, with a tensor or with another number, of which PyTorch gives a tensor."""
    def call(input, other=None, **options):
        if not isinstance(input, NUMBERS) or not isinstance(other, (*NUMBERS, _C.TensorBase)):
            return NotImplemented
        if not isinstance(options.get("out"), (_C.TensorBase, type(None))):
            return NotImplemented
        like = isinstance(other, _C.TensorBase)
        dtype, device = (_C._result_type(other, input), other.device) if like else (None, None)
        return getattr(_C, name)(_C._tensor_from(input, dtype, device), other, **options)
    return call


def _scaled_first(name, scale):
    """`add_(alpha, other)` and `addcmul_(value, tensor1, tensor2)`: the number, which is named today, before the tensors."""
    count = 1 if scale == "alpha" else 2

    def call(input, number, *tensors, **out):
        if not is_tensor(input) or not isinstance(number, NUMBERS) or len(tensors) != count:
            return NotImplemented
        say_deprecated(name, [scale], ["other"] if count == 1 else ["tensor1", "tensor2"])
        function = getattr(input, name) if name.endswith("_") else functools.partial(getattr(_C, name), input)
        return function(*tensors, **{scale: number}, **out)
    return call


def say_deprecated(name, numbers, tensors, lead=0):
    """Says once that numbers are to be named behind the tensors; `lead`: how many of them stand before `input`."""
    in_place = name.endswith("_")
    out = [] if in_place else ["*", "Tensor out = None"]
    given, rest = [f"Number {n}" for n in numbers], [f"Tensor {t}" for t in tensors]
    former = given[:lead] + ([] if in_place else ["Tensor input"]) + given[lead:] + rest + out
    now = ([] if in_place else ["Tensor input"]) + rest + ["*"] + [f"Number {n} = 1" for n in numbers] + out[1:]
    warn_once(f"This overload of {name} is deprecated:\n\t{name}({', '.join(former)})\nConsider using one of the following "
              f"signatures instead:\n\t{name}({', '.join(now)})")


def _either(first, second):
    """What the first answers, else the second."""
    first, second = fitting(first), fitting(second)

    def call(*args, **kwargs):
        made = first(*args, **kwargs)
        return second(*args, **kwargs) if made is NotImplemented else made
    return call


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def clip(self, min=None, max=None):
        return self.clamp(min, max)

    def clip_(self, min=None, max=None):
        return self.clamp_(min, max)


SIGNATURES = {
    "copy_": _copy,
    **{name: _of_numbers(name) for name in ("mul", "div", "subtract", "multiply", "divide", "true_divide", "floor_divide")},
    **{name: _either(_scaled_first(name, "alpha"), _of_numbers(name)) for name in ("add", "sub")},
    **{name: _scaled_first(name, "alpha") for name in ("add_", "sub_")},
    **{name: _scaled_first(name, "value") for name in ("addcmul", "addcdiv", "addcmul_", "addcdiv_")}}
