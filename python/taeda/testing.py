"""Comparisons for tests."""

from . import _C
from ._core.warnings import deprecated

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}


def _as_tensor(value):
    return value if isinstance(value, _C.TensorBase) else _C._tensor_from(value, None, None)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere; containers are compared part by part."""
    if isinstance(expected, dict):
        if set(actual) != set(expected):
            raise AssertionError(f"The keys of the mappings do not match: {sorted(set(actual) ^ set(expected))}")
        for key in expected:
            assert_close(actual[key], expected[key], rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device,
                         check_dtype=check_dtype, check_stride=check_stride, msg=msg)
        return
    if (rtol is None) != (atol is None):
        given, missing = ("atol", "rtol") if rtol is None else ("rtol", "atol")
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    lists = all(isinstance(e, (list, tuple)) for e in (actual, expected))
    if lists and not (actual and expected and all(isinstance(e, (int, float, bool)) for e in expected)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for a, e in zip(actual, expected):
            assert_close(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device,
                         check_dtype=check_dtype, check_stride=check_stride, msg=msg)
        return
    problem = _difference(_as_tensor(actual), _as_tensor(expected), rtol, atol, equal_nan, check_device, check_dtype,
                          check_stride, isinstance(expected, _C.TensorBase))
    if problem:
        raise AssertionError(msg(problem) if callable(msg) else msg or problem)


def _difference(actual, expected, rtol, atol, equal_nan, check_device, check_dtype, check_stride, strict):
    if actual.shape != expected.shape:
        return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
    if strict and check_device and actual.device != expected.device:
        return f"The values for attribute 'device' do not match: {actual.device} != {expected.device}."
    if strict and check_dtype and actual.dtype != expected.dtype:
        return f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}."
    if check_stride and actual.stride() != expected.stride():
        return f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}."
    if rtol is None or atol is None:
        known = [_TOLERANCES.get(repr(t.dtype)[6:], (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(k[i] for k in known) if given is None else given for i, given in enumerate((rtol, atol)))
    dtype = _C.promote_types(actual.dtype, expected.dtype)
    a, e = actual.detach().cpu().to(dtype), expected.detach().cpu().to(dtype)
    a, e = (t if t.layout is _C.strided else t.to_dense() for t in (a, e))
    close = _C.isclose(a, e, rtol, atol, equal_nan)
    if close.all():
        return None
    wrong = int((~close).sum())
    exact = dtype if dtype.is_complex else _C.float64
    distance = (a.to(exact) - e.to(exact)).abs().flatten()
    distance = _C.where(close.flatten(), _C.zeros_like(distance), _C.nan_to_num(distance, nan=float("inf")))
    place = int(distance.argmax())
    index = tuple(int(i) for i in _unravel(place, tuple(a.shape)))
    return (f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {a.numel()} ({100 * wrong / a.numel():.1f}%)\n"
            f"Greatest absolute difference: {float(distance[place])} at index {index} (up to {atol} allowed)\n"
            f"with relative tolerance {rtol}")


def _unravel(place, shape):
    out = []
    for n in reversed(shape):
        out.append(place % n)
        place //= n
    return reversed(out)


@deprecated("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
            "`torch.testing.assert_close()` instead.")
def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """assert_close, whose former name this is, of tensors on any devices and of any dtypes."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=False, check_dtype=False,
                 check_stride=False, msg=msg or None)


def make_tensor(*shape, dtype, device="cpu", low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
                memory_format=None):
    """A tensor of random numbers from low up to high, which are -9 and 9 (integers: 10) unless given, as far as the dtype has
    them; `exclude_zero` makes zeros ones."""
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}")
    if low is not None and high is not None and low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    sizes = shape[:-1] + (2 * shape[-1],) if noncontiguous and shape else shape
    if dtype == _C.bool:
        made = _C.randint(0, 2, sizes, device=device).to(dtype)
    elif dtype.is_floating_point or dtype.is_complex:
        low, high = -9.0 if low is None else low, 9.0 if high is None else high
        parts = [_C.rand(sizes, dtype=_C.float64, device=device) * (high - low) + low for _ in range(1 + dtype.is_complex)]
        made = (_C.view_as_complex(_C.stack(parts, -1)) if dtype.is_complex else parts[0]).to(dtype)
    else:
        low, high = (-9 if dtype.is_signed else 0) if low is None else int(low), 10 if high is None else int(high)
        made = _C.randint(low, high, sizes, device=device).to(dtype)
    if exclude_zero:
        made[made == 0] = 1
    if noncontiguous and shape:
        made = made[..., ::2]
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.requires_grad_(requires_grad)
