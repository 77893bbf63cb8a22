"""Normalization of each channel of each example."""


from .. import functional as F
from .batchnorm import _LazyNorm, _NormBase
from ..._core.warnings import warn


class _InstanceNorm(_NormBase):
    _spatial = 1

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None,
                 *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input):
        allowed = self._spatial + 1, self._spatial + 2
        if input.dim() not in allowed:
            raise ValueError(f"expected {allowed[0]}D or {allowed[1]}D input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        channels = input.dim() - self._spatial - 1
        if input.size(channels) != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={channels} to match num_features ({self.num_features}), but "
                                 f"got: {input.size(channels)}.")
            warn(f"input's size at dim={channels} does not match num_features. You can silence this warning by not "
                 "passing in num_features, which is not used because affine=False")
        alone = channels == 0
        made = F.instance_norm(input.unsqueeze(0) if alone else input, self.running_mean, self.running_var, self.weight,
                               self.bias, self.training or not self.track_running_stats,
                               self.momentum if self.momentum is not None else 0.0, self.eps)
        return made.squeeze(0) if alone else made


class InstanceNorm1d(_InstanceNorm):
    """(x - mean) / sqrt(var + eps), and * weight + bias if affine, with mean and variance of each channel of each sample
    (Ulyanov et al. 2016, arXiv:1607.08022).

    num_features: C
    eps: 1e-5 unless given
    momentum: of running statistics; 0.1 unless given
    affine: whether weight and bias are there; False unless given
    track_running_stats: whether statistics are kept while training and used in evaluation; False unless given

    Shapes: input [N, C, L] or [C, L], which the result has; others, and one place for a channel while training, are a
    ValueError.

    >>> nn.InstanceNorm1d(1)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """


class InstanceNorm2d(_InstanceNorm):
    """InstanceNorm1d of images: over the places of each channel of each one. Arguments as InstanceNorm1d's.

    Shapes: input [N, C, H, W] or [C, H, W], which the result has; others are a ValueError.

    >>> nn.InstanceNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """InstanceNorm1d of volumes: over the places of each channel of each one. Arguments as InstanceNorm1d's.

    Shapes: input [N, C, D, H, W] or [C, D, H, W], which the result has; others are a ValueError.

    >>> nn.InstanceNorm3d(3)(torch.randn(2, 3, 4, 4, 4)).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    _spatial = 3


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An InstanceNorm1d that takes num_features from its first input; from then on it is one, whose other arguments it has.

    Shapes: as InstanceNorm1d's, with a batch.

    >>> nn.LazyInstanceNorm1d()(torch.randn(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An InstanceNorm2d that takes num_features from its first input; from then on it is one, whose other arguments it has.

    Shapes: as InstanceNorm2d's, with a batch.

    >>> nn.LazyInstanceNorm2d()(torch.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An InstanceNorm3d that takes num_features from its first input; from then on it is one, whose other arguments it has.

    Shapes: as InstanceNorm3d's, with a batch.

    >>> nn.LazyInstanceNorm3d()(torch.randn(2, 3, 2, 2, 2)).shape
    torch.Size([2, 3, 2, 2, 2])
    """

    cls_to_become = InstanceNorm3d
