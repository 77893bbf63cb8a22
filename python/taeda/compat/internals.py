"""Names of torch and torch._C that begin with "_" and that packages use all the same; `missing` looks for such names here."""

from .. import _C

_TensorMeta = type(_C.TensorBase)


def _check_with(error_type, cond, message=None):
    """Raises an error of a class, with what `message()` gives, unless `cond`."""
    if not cond:
        standard = ("Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
                    "enhancement request to PyTorch.)")
        raise error_type(standard if message is None else str(message() if callable(message) else message))


def _check(cond, message=None):
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    _check(i >= 0 and (max is None or i <= max), message)


def _check_tensor_all_with(error_type, cond, message=None):
    """Raises an error of a class unless all of a tensor of bools is true."""
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond, message=None):
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input, assert_msg=None):
    """Raises a RuntimeError unless the only element of a tensor is not zero."""
    _check_with(RuntimeError, bool(input), assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of softmax over `dim`, from the gradient of its result and that."""
    product = grad_output * output
    return (product - output * product.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of log_softmax over `dim`, from the gradient of its result and that."""
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


def _shape_as_tensor(self):
    return _C._tensor_from(list(self.shape), _C.int64, None)


def _is_alias_of(a, b):
    """Whether two tensors are of one memory."""
    return a.untyped_storage() == b.untyped_storage()


def _get_accelerator(check=None):
    """The device type of the accelerator, the CPU where there is none."""
    from ..accelerator import current_accelerator
    return current_accelerator() or _C.device("cpu")


def _get_default_device():
    from .._operations.default_device import get_default_device
    return str(get_default_device())


def _get_privateuse1_backend_name():
    return "privateuseone"


def _are_functorch_transforms_active():
    """No: torch.func's transforms are functions over plain tensors."""
    return False


def _is_torch_function_mode_enabled():
    return _C._len_torch_function_stack() > 0


def _cuda_isInBadFork():
    """No: devices may be used in a process that was forked."""
    return False


def _cuda_clearCublasWorkspaces():
    """Nothing to clear: products ask the allocator for what they need."""
