"""Convolutions whose places are moved by what another layer says (arXiv:1703.06211, arXiv:1811.11168)."""

import math

from ... import _C
from ...nn import Module, init
from ...nn import functional as F
from ...nn.modules.utils import _pair
from ..._tensors.parameter import Parameter


def deform_conv2d(input, offset, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mask=None):
    """A convolution of [N, C, H, W] whose element (i, j) looks `offset` [N, 2 * groups * kh * kw, oh, ow] (down, right) pixels
    away from its place, and counts `mask` [N, groups * kh * kw, oh, ow] times."""
    stride, padding, dilation, kernel = (_pair(v) for v in (stride, padding, dilation, weight.shape[-2:]))
    count, (n, channels, height, width) = kernel[0] * kernel[1], input.shape
    groups = offset.size(1) // (2 * count)
    if groups == 0:
        raise RuntimeError("the shape of the offset tensor at dimension 1 is not valid. It should be a multiple of 2 * "
                           "weight.size[2] * weight.size[3].\n"
                           f"Got offset.shape[1]={offset.size(1)}, while 2 * weight.size[2] * weight.size[3]={2 * count}")
    out = tuple((size + 2 * p - d * (k - 1) - 1) // s + 1
                for size, p, d, k, s in zip((height, width), padding, dilation, kernel, stride))
    if tuple(offset.shape[2:]) != out:
        raise RuntimeError(f"offset output dims: ({offset.size(2)}, {offset.size(3)}) - "
                           f"expected output dims: ({out[0]}, {out[1]})")
    moved = offset.reshape(n * groups, count, 2, *out)
    grid = []
    for axis, size in ((1, width), (0, height)):
        at = _C.arange(out[axis], dtype=input.dtype, device=input.device) * stride[axis] - padding[axis]
        taps = _C.arange(kernel[axis], dtype=input.dtype, device=input.device) * dilation[axis]
        at = at.view(1, -1) if axis else at.view(-1, 1)
        taps = taps.repeat(kernel[0]) if axis else taps.repeat_interleave(kernel[1])
        places = moved[:, :, axis] + at + taps.view(-1, 1, 1)
        grid.append((2 * places + 1) / size - 1)  # as grid_sample counts
    grid = _C.stack(grid, -1).view(n * groups, count * out[0], out[1], 2)
    seen = F.grid_sample(input.reshape(n * groups, channels // groups, height, width), grid, padding_mode="zeros",
                         align_corners=False)
    seen = seen.view(n, groups, channels // groups, count, *out)
    if mask is not None:
        seen = seen * mask.view(n, groups, 1, count, *out)
    parts = channels // weight.size(1)
    seen = seen.view(n, parts, weight.size(1) * count, out[0] * out[1])
    made = _C.matmul(weight.view(1, parts, weight.size(0) // parts, -1), seen).view(n, weight.size(0), *out)
    return made if bias is None else made + bias.view(1, -1, 1, 1)


class DeformConv2d(Module):
    """deform_conv2d with weights of its own."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
        super().__init__()
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding, self.dilation = map(_pair, (kernel_size, stride, padding, dilation))
        self.weight = Parameter(_C.empty(out_channels, in_channels // groups, *self.kernel_size))
        self.register_parameter("bias", Parameter(_C.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(init._calculate_fan_in_and_fan_out(self.weight)[0])
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input, offset, mask=None):
        return deform_conv2d(input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask)

    def __repr__(self):
        text = (f"{type(self).__name__}({self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}")
        for name, usual in (("padding", (0, 0)), ("dilation", (1, 1)), ("groups", 1)):
            text += f", {name}={getattr(self, name)}" if getattr(self, name) != usual else ""
        return text + (", bias=False)" if self.bias is None else ")")
