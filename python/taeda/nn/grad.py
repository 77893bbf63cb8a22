"""torch.nn.grad: gradients of convolutions by themselves."""

from .. import _C, autograd
from ..autograd.modes import enable_grad
from . import functional as F

_KINDS = {1: (F.conv1d, F.conv_transpose1d), 2: (F.conv2d, F.conv_transpose2d), 3: (F.conv3d, F.conv_transpose3d)}


def _each(value, dims):
    return (value,) * dims if isinstance(value, int) else tuple(value)


def _for_input(dims, input_size, weight, grad_output, stride, padding, dilation, groups):
    """The transposed convolution, whose result is made as large as the input was: ends that no window reached are zero."""
    stride, padding, dilation = (_each(value, dims) for value in (stride, padding, dilation))
    shape = zip(input_size[-dims:], grad_output.shape[-dims:], weight.shape[-dims:], stride, padding, dilation)
    missing = [size - ((out - 1) * s - 2 * p + d * (kernel - 1) + 1) for size, out, kernel, s, p, d in shape]
    return _KINDS[dims][1](grad_output, weight, None, stride, padding, missing, groups, dilation)


def _for_weight(dims, input, weight_size, grad_output, stride, padding, dilation, groups):
    with enable_grad():
        weight = _C.zeros(weight_size, dtype=input.dtype, device=input.device, requires_grad=True)
        out = _KINDS[dims][0](input, weight, None, stride, padding, dilation, groups)
    again = _C.is_grad_enabled() and (input.requires_grad or grad_output.requires_grad)
    return autograd.grad(out, weight, grad_output, create_graph=again)[0]


def _gradients(dims):
    def for_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return _for_input(dims, input_size, weight, grad_output, stride, padding, dilation, groups)

    def for_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return _for_weight(dims, input, weight_size, grad_output, stride, padding, dilation, groups)
    for function, of in ((for_input, "input"), (for_weight, "weight")):
        function.__name__ = function.__qualname__ = f"conv{dims}d_{of}"
        function.__doc__ = f"The gradient of conv{dims}d in its {of}."
    return for_input, for_weight


conv1d_input, conv1d_weight = _gradients(1)
conv2d_input, conv2d_weight = _gradients(2)
conv3d_input, conv3d_weight = _gradients(3)
