"""MNASNet (Tan et al., arXiv:1807.11626)."""

from ... import nn
from ._weights import defined

__all__ = ["MNASNet"]

_MOMENTUM = 1 - 0.9997


class _InvertedResidual(nn.Module):
    """A wide convolution by channels between two narrow ends."""

    def __init__(self, in_ch, out_ch, kernel_size, stride, expansion_factor, bn_momentum=_MOMENTUM):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        if kernel_size not in (3, 5):
            raise ValueError(f"kernel_size should be 3 or 5 instead of {kernel_size}")
        wide = in_ch * expansion_factor
        self.apply_residual = in_ch == out_ch and stride == 1
        self.layers = nn.Sequential(
            nn.Conv2d(in_ch, wide, 1, bias=False), nn.BatchNorm2d(wide, momentum=bn_momentum), nn.ReLU(inplace=True),
            nn.Conv2d(wide, wide, kernel_size, padding=kernel_size // 2, stride=stride, groups=wide, bias=False),
            nn.BatchNorm2d(wide, momentum=bn_momentum), nn.ReLU(inplace=True),
            nn.Conv2d(wide, out_ch, 1, bias=False), nn.BatchNorm2d(out_ch, momentum=bn_momentum))

    def forward(self, input):
        return self.layers(input) + input if self.apply_residual else self.layers(input)


def _stack(in_ch, out_ch, kernel_size, stride, expansion, repeats):
    first = _InvertedResidual(in_ch, out_ch, kernel_size, stride, expansion)
    return nn.Sequential(first, *(_InvertedResidual(out_ch, out_ch, kernel_size, 1, expansion) for _ in range(1, repeats)))


def _rounded(value, divisor=8):
    """The nearest multiple of the divisor that is not smaller by more than a tenth."""
    new = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return new if new >= 0.9 * value else new + divisor


class MNASNet(nn.Module):
    """`alpha` times the channels of the one that was found first."""

    _version = 2

    def __init__(self, alpha, num_classes=1000, dropout=0.2):
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha, self.num_classes = alpha, num_classes
        d = [_rounded(width * alpha) for width in (32, 16, 24, 40, 80, 96, 192, 320)]
        self.layers = nn.Sequential(
            nn.Conv2d(3, d[0], 3, padding=1, stride=2, bias=False), nn.BatchNorm2d(d[0], momentum=_MOMENTUM),
            nn.ReLU(inplace=True),
            nn.Conv2d(d[0], d[0], 3, padding=1, stride=1, groups=d[0], bias=False), nn.BatchNorm2d(d[0], momentum=_MOMENTUM),
            nn.ReLU(inplace=True),
            nn.Conv2d(d[0], d[1], 1, padding=0, stride=1, bias=False), nn.BatchNorm2d(d[1], momentum=_MOMENTUM),
            _stack(d[1], d[2], 3, 2, 3, 3), _stack(d[2], d[3], 5, 2, 3, 3), _stack(d[3], d[4], 5, 2, 6, 3),
            _stack(d[4], d[5], 3, 1, 6, 2), _stack(d[5], d[6], 5, 2, 6, 4), _stack(d[6], d[7], 3, 1, 6, 1),
            nn.Conv2d(d[7], 1280, 1, padding=0, stride=1, bias=False), nn.BatchNorm2d(1280, momentum=_MOMENTUM),
            nn.ReLU(inplace=True))
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(1280, num_classes))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.ones_(m.weight)
                nn.init.zeros_(m.bias)
            elif isinstance(m, nn.Linear):
                nn.init.kaiming_uniform_(m.weight, mode="fan_out", nonlinearity="sigmoid")
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.classifier(self.layers(x).mean([2, 3]))


def _define(size, alpha, url):
    name, weights = f"mnasnet{size}", f"MNASNet{size}_Weights"
    @defined(name, weights, f"MNASNet with {alpha} times the channels.", {"IMAGENET1K_V1": url})
    def build(**kwargs):
        return MNASNet(alpha, **kwargs)


_define("0_5", 0.5, "mnasnet0.5_top1_67.823-3ffadce67e.pth")
_define("0_75", 0.75, "mnasnet0_75-7090bc5f.pth")
_define("1_0", 1.0, "mnasnet1.0_top1_73.512-f206786ef8.pth")
_define("1_3", 1.3, "mnasnet1_3-a4c69d6f.pth")
