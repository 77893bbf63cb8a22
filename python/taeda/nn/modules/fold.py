"""Windows of images as columns, and back."""

from .. import functional as F
from .module import Module


class Unfold(Module):
    """Windows of images as columns.

    kernel_size: of a window, an int or (k_h, k_w)
    dilation: how far elements of a window are apart; 1 unless given
    padding: zeros around the image; 0 unless given
    stride: how far windows are apart; 1 unless given

    Shapes: input [N, C, H, W], result [N, C k_h k_w, L] with the number of windows L.

    >>> nn.Unfold(2)(torch.ones(1, 3, 4, 4)).shape
    torch.Size([1, 12, 9])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Unfold):
    """Sums columns back into images at the places from which Unfold took them.

    output_size: (H, W) of the images
    kernel_size, dilation, padding, stride: as Unfold's

    Shapes: input [N, C k_h k_w, L] with the number of windows L, result [N, C, H, W]; or both without N. A number of columns
    that does not fit is a RuntimeError.

    >>> nn.Fold((4, 4), 2, stride=2)(torch.ones(1, 4, 4)).shape
    torch.Size([1, 1, 4, 4])
    """

    __constants__ = ["output_size", *Unfold.__constants__]

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"output_size={self.output_size}, {super().extra_repr()}"
