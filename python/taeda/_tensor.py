"""torch.Tensor: what Python adds to the class of the extension."""

import collections
import copy
import functools
import itertools

from . import _C, storage
from ._core.warnings import warn
from ._tensors.pickles import _rebuild_from_type_v2, reduce_tensor  # noqa: F401

_handles = itertools.count()


def called_later(hook):
    """The hook; TypeError for what cannot be called."""
    if not callable(hook):
        raise TypeError(f"a hook must be something to call, but got {type(hook).__name__}")
    return hook


class RemovableHandle:
    """Stands for a hook that was added; `remove` takes it away again, and so does the end of a `with`."""

    def __init__(self, hooks):
        self.hooks = hooks
        self.id = next(_handles)

    def remove(self):
        self.hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


COPY_CONSTRUCT = ("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                  "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).")


class Tensor(_C.TensorBase):
    """A multi-dimensional array of numbers of one dtype on one device, with a history if one is recorded."""

    __array_priority__ = 1000
    __module__ = "torch"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Answers for a subclass: the function as for plain tensors, with results of the subclass (torch.overrides)."""
        for other in types:
            if not issubclass(cls, other):
                return NotImplemented
        made = _C._disabled_torch_function_impl(func, types, args, kwargs)
        return made if func in unwrapped_results() else _as_class(made, cls)

    # Automatic differentiation

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Sums gradients of this tensor into `grad` of the leaves that it depends on, or of `inputs` alone.

        `gradient`, of this tensor's shape, weighs it; it may be left out for one element.

        >>> x = torch.ones(2, requires_grad=True)
        >>> (x * 3).sum().backward()
        >>> x.grad
        tensor([3., 3.])
        """
        if inputs is not None:
            inputs = [inputs] if isinstance(inputs, _C.TensorBase) else list(inputs)
            if not inputs:
                raise RuntimeError("'inputs' argument to backward() cannot be empty")
        weights = [gradient] if gradient is None or isinstance(gradient, _C.TensorBase) else list(gradient)
        _C._backward([self], weights, retain_graph, create_graph, inputs)

    def register_hook(self, hook):
        """Has `hook(grad)` called when this tensor's gradient, of its shape, is computed; what it returns takes the gradient's
        place.

        >>> x = torch.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 3)
        >>> x.sum().backward()
        >>> x.grad
        tensor([3., 3.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        handle = RemovableHandle(_C._tensor_hooks(self))
        handle.hooks[handle.id] = called_later(hook)
        return handle

    def register_post_accumulate_grad_hook(self, hook):
        """Has `hook(leaf)` called after a gradient, of the leaf's shape, was added to this leaf's `grad`.

        >>> x = torch.ones(2, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> x.sum().backward()
        tensor([1., 1.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        hooks = self.__dict__.get("_post_accumulate_grad_hooks")
        if hooks is None:
            hooks = self.__dict__["_post_accumulate_grad_hooks"] = collections.OrderedDict()
            _C._add_post_accumulate_hooks(self, hooks)
        handle = RemovableHandle(hooks)
        hooks[handle.id] = called_later(hook)
        return handle

    @property
    def _post_accumulate_grad_hooks(self):
        return self.__dict__.get("_post_accumulate_grad_hooks")

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self, hooks):
        mine = self.__dict__.get("_post_accumulate_grad_hooks")
        if mine is not None:
            mine.clear()
        for hook in (hooks or {}).values():
            self.register_post_accumulate_grad_hook(hook)

    @property
    def volatile(self):
        return _volatile()

    @volatile.setter
    def volatile(self, value):
        _volatile()

    # NumPy, DLPack, Python

    def numpy(self, *, force=False):
        """An array of NumPy over this tensor's memory, of its shape; with `force` a copy where that is not possible.

        >>> torch.ones(2).numpy()
        array([1., 1.], dtype=float32)
        """
        if force:
            return self.detach().cpu()._array()
        if self.requires_grad and _C.is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device.type != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the "
                            "tensor to host memory first.")
        return self._array()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array  # NumPy asks by this name

    def __array_wrap__(self, array, context=None, return_scalar=False):
        if array.dtype == bool:
            array = array.astype("uint8")
        return _C.from_numpy(array)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if stream is not None and type(stream) is not int:
            raise TypeError("stream must be ``int`` or ``none``")
        source = self.clone() if copy else self
        return source._capsule(max_version is not None and max_version[0] >= 1)

    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self):
        return self if self.dim() == 0 else self.flip(0)

    def __format__(self, spec):
        if self.dim() == 0 and type(self) is Tensor:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __complex__(self):
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad:
            float(self.detach().real.requires_grad_())  # which says that a number has no history
        return complex(self.item())

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                               "at the moment.")
        if id(self) in memo:
            return memo[id(self)]
        copied = _copied_with_its_memory(self, memo)
        if type(self) is not Tensor:
            copied = _C._make_subclass(type(self), copied, self.requires_grad)
        elif self.requires_grad:
            copied.requires_grad_()
        if self.grad is not None:
            copied.grad = self.grad.__deepcopy__(memo)
        for name, value in self.__dict__.items():
            if name != "_post_accumulate_grad_hooks":
                copied.__dict__[name] = copy.deepcopy(value, memo)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol):
        return reduce_tensor(self)

    def __copy__(self):
        return self.detach().requires_grad_(self.requires_grad) if type(self) is Tensor else self

    # What has other signatures in Python than in C++

    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        """A new tensor with the data, which gives its shape, of this one's dtype and device unless others are given.

        >>> torch.ones(2).new_tensor([3, 4])
        tensor([3., 4.])
        """
        if isinstance(data, _C.TensorBase):
            warn(COPY_CONSTRUCT)
        out = _C._tensor_from(data, dtype or self.dtype, device or self.device)
        return out.requires_grad_() if requires_grad else out

    def type(self, dtype=None, non_blocking=False):
        """The name "torch.FloatTensor", or this tensor as another dtype.

        >>> torch.ones(2).type(), torch.ones(2).type(torch.int64)
        ('torch.FloatTensor', tensor([1, 1]))
        """
        if dtype is None:
            return type_name(self)
        if isinstance(dtype, (str, type)):
            kind, device = named_type(dtype)
            return self.to(device=device or self.device, dtype=kind, non_blocking=non_blocking)
        if not isinstance(dtype, _C.dtype):
            raise TypeError("dtype must be a type, str, or dtype object")
        return self.to(dtype, non_blocking=non_blocking)

    def resize(self, *sizes):
        """This tensor in another shape of as many elements; deprecated: `reshape`.

        >>> torch.arange(4).resize(2, 2).shape
        torch.Size([2, 2])
        """
        warn("non-inplace resize is deprecated")
        return self.reshape(*sizes)

    def untyped_storage(self):
        """The bytes that the elements of this tensor are in, shared with all of its views.

        >>> torch.ones(2).untyped_storage().nbytes()
        8
        """
        return storage.UntypedStorage._of(self)

    def storage(self):
        """The memory of this tensor as elements of its dtype; deprecated: `untyped_storage`.

        >>> torch.ones(2).storage().tolist()
        [1.0, 1.0]
        """
        storage.warn_of_typed_storage()
        return self._typed_storage()

    def _typed_storage(self):
        return storage.TypedStorage._of(self)

    def storage_type(self):
        """The class of this tensor's storage, whatever its shape.

        >>> torch.ones(2).storage_type() is torch.FloatStorage
        True
        """
        return storage.TYPES[self._typed_storage().pickle_storage_type()]

    def is_distributed(self):
        """False: a tensor lies in one process.

        >>> torch.ones(2).is_distributed()
        False
        """
        return False

    def apply_(self, function):
        """Replaces every element by function(element), whatever the shape; on the CPU, slowly.

        >>> torch.ones(2).apply_(lambda x: x + 1)
        tensor([2., 2.])
        """
        _refuse_history(self, "apply_")
        flat = _C._tensor_from([function(x) for x in self.detach().flatten().tolist()], self.dtype, None)
        return self.detach().copy_(flat.view(self.shape)) is not None and self

    def map_(self, other, function):
        """Replaces every element by function(element, other's element), of shapes that broadcast; on the CPU, slowly.

        >>> torch.ones(2).map_(torch.ones(2), lambda a, b: a + b)
        tensor([2., 2.])
        """
        _refuse_history(self, "map_")
        pairs = zip(self.detach().flatten().tolist(), other.detach().expand_as(self).flatten().tolist())
        flat = _C._tensor_from([function(a, b) for a, b in pairs], self.dtype, None)
        return self.detach().copy_(flat.view(self.shape)) is not None and self

    def __dir__(self):
        return sorted(set(dir(type(self))) | set(self.__dict__))

    @property
    def __cuda_array_interface__(self):
        if not self.is_cuda:
            raise AttributeError("Can't get __cuda_array_interface__ on non-CUDA tensor type: " + self.type())
        codes = {"float16": "<f2", "float32": "<f4", "float64": "<f8", "uint8": "|u1", "int8": "|i1", "int16": "<i2",
                 "int32": "<i4", "int64": "<i8", "bool": "|b1", "complex64": "<c8", "complex128": "<c16"}
        size = self.element_size()
        return {"typestr": codes[repr(self.dtype)[6:]], "shape": tuple(self.shape), "version": 2,
                "strides": None if self.is_contiguous() else tuple(s * size for s in self.stride()),
                "data": (self.data_ptr(), False)}


def _refuse_history(tensor, name):
    """What changes elements one by one in Python can be no part of a graph."""
    if tensor.requires_grad:
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


def _as_class(made, cls):
    """The tensor, or those in a list or tuple, as objects of a subclass."""
    if isinstance(made, Tensor):
        return made if isinstance(made, cls) else made.as_subclass(cls)
    if isinstance(made, (tuple, list)) and not isinstance(made, _C.Size) and cls is not Tensor:
        converted = [_as_class(part, cls) for part in made]
        return type(made)._make(converted) if hasattr(type(made), "_make") else type(made)(converted)
    return made


@functools.lru_cache(maxsize=None)
def unwrapped_results():
    """Getters whose results keep the class that they have."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


_CLASS_NAMES = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte",
                "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool",
                "complex64": "ComplexFloat", "complex128": "ComplexDouble", "uint16": "UInt16", "uint32": "UInt32",
                "uint64": "UInt64", **{f"float8_{kind}": f"Float8_{kind}" for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz",
                                                                                   "e8m0fnu")}}
_DTYPES = {name: getattr(_C, dtype) for dtype, name in _CLASS_NAMES.items()}


def type_name(tensor):
    """ "torch.FloatTensor", "torch.cuda.LongTensor"."""
    where = "" if tensor.device.type == "cpu" else tensor.device.type + "."
    return f"torch.{where}{_CLASS_NAMES[repr(tensor.dtype)[6:]]}Tensor"


def _copied_with_its_memory(tensor, memo):
    """A copy whose memory is shared by copies of all that share the tensor's."""
    if tensor.is_sparse or tensor.is_sparse_csr or not tensor._storage_nbytes():
        return tensor.detach().clone()
    memory = storage.tensor_over(storage._copied(tensor.untyped_storage(), memo), tensor.dtype)
    made = _C.empty(0, dtype=tensor.dtype, device=tensor.device)
    return made.set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())


def _volatile():
    """False, with a warning: what it was for is torch.no_grad()."""
    warn("volatile was removed (Variable.volatile is always False)")
    return False


def named_type(name):
    """dtype and device type of such a name, or of a class like torch.FloatTensor."""
    if isinstance(name, type):
        if hasattr(name, "device_type"):
            return name.dtype, None if name.device_type == "cpu" else name.device_type
        if name is Tensor:
            return _C.get_default_dtype(), None
        raise ValueError(f"invalid type: '{name.__name__}'")
    parts = name.split(".")
    if parts[0] not in ("torch", "taeda") or not parts[-1].endswith("Tensor") or parts[-1][:-6] not in _DTYPES:
        raise ValueError(f"invalid type: '{name}'")
    return _DTYPES[parts[-1][:-6]], parts[1] if len(parts) == 3 else None


_C._set_tensor_class(Tensor)
storage.Tensor = Tensor
