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
    """Zero mean and unit variance of each row of [N, C, L] or [C, L] (arXiv:1607.08022)."""


class InstanceNorm2d(_InstanceNorm):
    """Zero mean and unit variance of each channel of each image."""

    _spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """Zero mean and unit variance of each channel of each volume."""

    _spatial = 3


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    cls_to_become = InstanceNorm3d
