"""Functions of torch that make tensors of data or of sizes, and the classes that do so as torch.FloatTensor."""

import builtins

from .. import _C
from .._core.warnings import warn, warn_once
from .._tensor import COPY_CONSTRUCT, Tensor, named_type
from ..autograd.modes import no_grad
from ..storage import _Storage, tensor_over
from .written import into, sizes

__all__ = ["as_tensor", "asarray", "empty_permuted", "full", "range", "scalar_tensor", "set_default_tensor_type", "tensor"]


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with the numbers of nested lists, of an array or of a tensor.

    data: a number, nested lists or tuples of numbers, an array, or a tensor, which is copied
    dtype: int64 for ints, bool for bools, the default dtype for floats, its complex one for complex numbers, unless given
    device: the default one unless given
    requires_grad, pin_memory: False unless given

    Shapes: that of the nested lists; lists of unequal lengths are a ValueError.

    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> torch.tensor(0.5, dtype=torch.float64)
    tensor(0.5000, dtype=torch.float64)
    """
    if isinstance(data, _C.TensorBase):
        warn(COPY_CONSTRUCT)
    out = _C._tensor_from(data, dtype, device if device is not None else default_device())
    if pin_memory:
        out = out.pin_memory()
    return out.requires_grad_() if requires_grad else out


def as_tensor(data, dtype=None, device=None):
    """A tensor over the same data where that is possible, else with a copy.

    data: as tensor's
    dtype, device: the data's unless given

    Shapes: the data's.

    >>> x = torch.tensor([1, 2])
    >>> torch.as_tensor(x) is x
    True
    """
    if isinstance(data, _C.TensorBase):
        return data.to(device=device or data.device, dtype=dtype or data.dtype)
    if type(data).__module__ == "numpy" and hasattr(data, "__array_interface__") and data.ndim:
        shared = _C.from_numpy(data if data.flags.aligned else data.copy())
        return shared.to(device=device or shared.device, dtype=dtype or shared.dtype)
    return _C._tensor_from(data, dtype, device if device is not None else default_device())


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A tensor over the same data where that is possible, else with a copy.

    obj: a tensor, an array, an object with the buffer protocol or by DLPack, or nested lists of numbers
    copy: True forces a copy, False refuses one (ValueError); None unless given
    dtype, device: the data's unless given
    requires_grad: False unless given

    Shapes: the data's.

    >>> torch.asarray([1, 2])
    tensor([1, 2])
    """
    if copy and not isinstance(obj, _C.TensorBase):
        out = _C._tensor_from(obj, dtype, device if device is not None else default_device())
        return out.requires_grad_() if requires_grad else out
    out = as_tensor(obj, dtype, device)
    shares = isinstance(obj, _C.TensorBase) and out is obj or type(obj).__module__ == "numpy" and (
        out.device.type == "cpu" and (dtype is None or dtype == out.dtype))
    if copy is False and not shares:
        raise ValueError("cannot alias the data of the object: a copy would be needed")
    if copy and shares:
        out = out.clone()
    return out.requires_grad_() if requires_grad else out


def range(*args, **kwargs):
    """A vector of start, start + step, ... up to end, which is among them. PyTorch gives it up for arange, and so it warns.

    start, end, step: scalars; 0 and 1 in the places of the first and last unless given

    >>> torch.range(1, 3)
    tensor([1., 2., 3.])
    """
    warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's "
         "range builtin. Instead, use torch.arange, which produces values in [start, end).")
    return _C.range(*args, **kwargs)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of that size with one value everywhere.

    size: sizes
    fill_value: a number; it gives the dtype: int64, bool, the default dtype or its complex one
    out, dtype, layout, device, requires_grad, pin_memory: as zeros'

    Shapes: `size`.

    >>> torch.full((2, 2), 3.5)
    tensor([[3.5000, 3.5000],
            [3.5000, 3.5000]])
    """
    if isinstance(fill_value, _C.TensorBase):
        fill_value = fill_value.item()
    if out is not None:
        return into(out, _C.full(sizes("full", size), fill_value, dtype=out.dtype, device=out.device), silently=True)
    return _C.full(size, fill_value, dtype=dtype, device=device if device is not None else default_device(),
                   requires_grad=requires_grad, pin_memory=pin_memory)


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    return _C.scalar_tensor(s, dtype=dtype, device=device, requires_grad=requires_grad)


_default_device = None


def default_device():
    return _default_device


class _LegacyType(type):
    """Classes like torch.FloatTensor: they make tensors, and tensors of their dtype are their instances."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.device.type == cls.device_type

    @property
    def is_cuda(cls):
        return cls.device_type == "cuda"

    @property
    def is_sparse(cls):
        return False

    @property
    def is_xpu(cls):
        return False

    @property
    def layout(cls):
        return _C.strided

    def __call__(cls, *args):
        if not args:
            return _C.empty(0, dtype=cls.dtype, device=cls.device_type)
        first = args[0]
        if isinstance(first, _Storage):
            return tensor_over(first, cls.dtype)
        if isinstance(first, int):
            return _C.empty(args, dtype=cls.dtype, device=cls.device_type)
        if len(args) > 1:
            raise TypeError(f"{cls.__name__} takes sizes, a torch.Size, a tensor or values, but got "
                            f"({', '.join(type(a).__name__ for a in args)})")
        if isinstance(first, _C.TensorBase):
            if not isinstance(first, cls):
                raise TypeError(f"expected {cls.__name__} (got {first.type()})")
            return first.alias()
        if isinstance(first, _C.Size):
            return _C.empty(first, dtype=cls.dtype, device=cls.device_type)
        if isinstance(first, float):
            raise TypeError("new(): data must be a sequence (got float)")
        return _C._tensor_from(first, cls.dtype, cls.device_type)


def _said(name, device_type):
    full, is_default = (name, name == "FloatTensor") if device_type == "cpu" else (f"{device_type}.{name}", False)
    return f"""Makes a tensor of that dtype of a shape, or of values; deprecated: torch.tensor and torch.empty.

    >>> isinstance(torch.zeros(2), torch.{full})
    {is_default}
    """


def legacy_types(device_type):
    """{name: class} of the legacy classes of a device type."""
    kinds = {"Float": _C.float32, "Double": _C.float64, "Half": _C.float16, "BFloat16": _C.bfloat16, "Byte": _C.uint8,
             "Char": _C.int8, "Short": _C.int16, "Int": _C.int32, "Long": _C.int64, "Bool": _C.bool}
    module = "torch" if device_type == "cpu" else f"torch.{device_type}"
    return {f"{name}Tensor": _LegacyType(f"{name}Tensor", (), {"dtype": dtype, "device_type": device_type,
                                                              "__module__": module,
                                                              "__doc__": _said(f"{name}Tensor", device_type)})
            for name, dtype in kinds.items()}


globals().update(legacy_types("cpu"))
__all__ += list(legacy_types("cpu"))


def empty_permuted(size, physical_layout, **options):
    """A tensor without values: `physical_layout` names the dimensions from the one that lies furthest apart to the closest.

    Shapes: `size`.

    >>> torch.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
    (12, 1, 3)
    """
    order = [int(d) for d in physical_layout]
    if sorted(order) != list(builtins.range(len(size))):
        raise RuntimeError(f"physical_layout is no permutation of the {len(size)} dimensions: {order}")
    return _C.empty([size[d] for d in order], **options).permute([order.index(d) for d in builtins.range(len(order))])


def set_default_tensor_type(t):
    """Makes the dtype of a class like torch.DoubleTensor, or of its name, a text, the default. PyTorch gives it up for
    set_default_dtype.

    >>> torch.set_default_tensor_type(torch.FloatTensor)
    >>> torch.get_default_dtype()
    torch.float32
    """
    warn_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
              "torch.set_default_device() as alternatives.")
    if isinstance(t, str):
        name = t.rpartition(".")[2]
        if name not in globals():
            raise AttributeError(f"module 'torch' has no attribute '{name}'")
        t = globals()[name]
    _C.set_default_dtype(named_type(t)[0])


def _creating(name):
    """What makes tensors, with `out`."""
    def call(*args, out=None, **options):
        if not isinstance(out, _C.TensorBase):
            return NotImplemented
        options.setdefault("dtype", out.dtype)
        options.setdefault("device", out.device)
        made = getattr(_C, name)(*args, **options)
        with no_grad():
            return into(out, made, name if name in ("arange", "linspace", "logspace", "range") else "", silently=True)
    return call


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def new(self, *args, device=None):
        """A tensor of the same dtype and device, of a shape or of data.

        >>> torch.ones(2).new([1, 2])
        tensor([1., 2.])
        """
        where = device if device is not None else self.device
        if not args:
            return _C.empty(0, dtype=self.dtype, device=where)
        if len(args) > 1 and not all(isinstance(a, int) for a in args):
            raise TypeError(f"new() takes sizes, a torch.Size, a tensor or values, but got "
                            f"({', '.join(type(a).__name__ for a in args)})")
        if isinstance(args[0], _Storage):
            return tensor_over(args[0], self.dtype)
        if isinstance(args[0], _C.Size) or all(isinstance(a, int) for a in args):
            return _C.empty(args[0] if isinstance(args[0], _C.Size) else args, dtype=self.dtype, device=where)
        return _C._tensor_from(args[0], self.dtype, where)


SIGNATURES = {
    name: _creating(name) for name in ("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randint",
                                          "randn", "randperm", "range", "zeros")}
