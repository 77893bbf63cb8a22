"""Normalization over batches and over instances."""

from ... import _C
from .. import functional as F
from .. import init
from ..._tensors.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

_batch_norm = F.batch_norm  # another, if a program puts one there, is called


class _NormBase(Module):
    """Scale, shift and running statistics of each channel."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
                 bias=True):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._init_parameters(num_features, bias, options)
        if track_running_stats:
            self.register_buffer("running_mean", _C.zeros(num_features, **options))
            self.register_buffer("running_var", _C.ones(num_features, **options))
            self.register_buffer("num_batches_tracked", _C.zeros((), dtype=_C.int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def _init_parameters(self, num_features, bias, options):
        for name, wanted in (("weight", self.affine), ("bias", self.affine and bias)):
            self.register_parameter(name, Parameter(_C.empty(num_features, **options)) if wanted else None)

    def reset_running_stats(self):
        """Mean 0 and variance 1 of no batches."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 0) < 2 and self.track_running_stats and key not in state_dict:
            known = self.num_batches_tracked
            state_dict[key] = (known if known is not None and not known.is_meta else _C.zeros((), dtype=_C.int64))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


def _dims(*allowed):
    """A check that the input has one of these numbers of dimensions."""
    text = " or ".join(f"{n}D" for n in allowed)

    def check(self, input):
        if input.dim() not in allowed:
            raise ValueError(f"expected {text} input (got {input.dim()}D input)")
    return check


class _BatchNorm(_NormBase):
    def _count_batch(self):
        """Counts a batch in training; its weight in the running statistics, without a momentum as of all batches' mean."""
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum

    def forward(self, input):
        self._check_input_dim(input)
        training, factor = self.training, self._count_batch()
        if not training and self.running_mean is None and self.running_var is None:
            return F.batch_norm(input, None, None, self.weight, self.bias, True, factor, self.eps)
        tracked = not training or self.track_running_stats
        if F.batch_norm is not _batch_norm:
            means, variances = (self.running_mean, self.running_var) if tracked else (None, None)
            return F.batch_norm(input, means, variances, self.weight, self.bias, training, factor, self.eps)
        if training:
            F._check_statistics(input)
            if self.eps <= 0:
                F._check_eps(self.eps)
        return _C.batch_norm(input, self.weight, self.bias, self.running_mean if tracked else None,
                             self.running_var if tracked else None, training, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias, with mean and variance of each channel over the batch (Ioffe and Szegedy
    2015, arXiv:1502.03167). While training those are the batch's, with the biased variance, and the running statistics follow
    them: running = (1 - momentum) running + momentum new, with the unbiased variance. In evaluation they are the running
    ones.

    num_features: C
    eps: 1e-5 unless given
    momentum: 0.1 unless given; None means the mean over all batches so far
    affine: whether weight and bias are there; True unless given
    track_running_stats: whether running statistics are kept; without them the batch's are used in evaluation, too; True
        unless given
    bias: whether a bias is there; True unless given

    Shapes: input [N, C] or [N, C, L], which the result has; others, and one value for a channel while training, are a
    ValueError. `weight` (ones), `bias` (zeros), `running_mean` and `running_var` [C].

    >>> nn.BatchNorm1d(1)(torch.tensor([[1.0], [3.0]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    _check_input_dim = _dims(2, 3)


class BatchNorm2d(_BatchNorm):
    """BatchNorm1d of images: over the batch and all places. Arguments as BatchNorm1d's.

    Shapes: input [N, C, H, W], which the result has; others are a ValueError.

    >>> nn.BatchNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _check_input_dim = _dims(4)


class BatchNorm3d(_BatchNorm):
    """BatchNorm1d of volumes: over the batch and all places. Arguments as BatchNorm1d's.

    Shapes: input [N, C, D, H, W], which the result has; others are a ValueError.

    >>> nn.BatchNorm3d(3)(torch.randn(2, 3, 4, 4, 4)).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    _check_input_dim = _dims(5)


class SyncBatchNorm(_BatchNorm):
    """BatchNorm1d over the batches of all processes of a group, while training; without such a group, over its own.

    num_features, eps, momentum, affine, track_running_stats, bias: as BatchNorm1d's
    process_group: the processes; all unless given

    Shapes: input [N, C, *], which the result has; fewer than two dimensions are a ValueError.

    >>> nn.SyncBatchNorm(3)(torch.randn(4, 3, 2)).shape
    torch.Size([4, 3, 2])
    """

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None, dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _synchronized(self):
        """The processes to share statistics with, or None outside of them."""
        import sys
        distributed = sys.modules.get("taeda.distributed")
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return None
        group = self.process_group or distributed.group.WORLD
        return group if distributed.get_world_size(group) > 1 else None

    def forward(self, input):
        use_batch = self.training or (self.running_mean is None and self.running_var is None)
        group = self._synchronized() if self.training and use_batch else None
        if group is None:
            return super().forward(input)
        self._check_input_dim(input)
        return _C._distributed.sync_batch_norm(input, self.weight, self.bias, self.running_mean, self.running_var,
                                               self._count_batch(), self.eps, group)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with every BatchNorm in it replaced by a SyncBatchNorm that has its parameters and statistics.

        process_group: of the new modules

        >>> type(nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))[0]).__name__
        'SyncBatchNorm'
        """
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                            process_group, bias=module.bias is not None)
            converted.weight, converted.bias = module.weight, module.bias
            converted.running_mean, converted.running_var = module.running_mean, module.running_var
            converted.num_batches_tracked, converted.training = module.num_batches_tracked, module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _LazyNorm(LazyModuleMixin):
    """A norm that takes num_features from its first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__(0, eps, momentum, False, False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _C.zeros((), dtype=_C.int64, device=device)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for name in ("weight", "bias") if self.affine else ():
            if getattr(self, name) is not None:
                getattr(self, name).materialize((self.num_features,))
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))
            self.running_var.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A BatchNorm1d that takes num_features from its first input; from then on it is a BatchNorm1d, whose other arguments it
    has.

    Shapes: as BatchNorm1d's.

    >>> nn.LazyBatchNorm1d()(torch.randn(4, 3)).shape
    torch.Size([4, 3])
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A BatchNorm2d that takes num_features from its first input; from then on it is a BatchNorm2d, whose other arguments it
    has.

    Shapes: as BatchNorm2d's.

    >>> nn.LazyBatchNorm2d()(torch.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A BatchNorm3d that takes num_features from its first input; from then on it is a BatchNorm3d, whose other arguments it
    has.

    Shapes: as BatchNorm3d's.

    >>> nn.LazyBatchNorm3d()(torch.randn(2, 3, 2, 2, 2)).shape
    torch.Size([2, 3, 2, 2, 2])
    """

    cls_to_become = BatchNorm3d
