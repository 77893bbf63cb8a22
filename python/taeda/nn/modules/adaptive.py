"""Softmax over very many classes."""

import collections

from ... import _C
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = collections.namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of very many classes: frequent ones and clusters of rarer ones share a first softmax, each cluster's
    classes have another one, of a smaller projection of the input (Grave et al. 2017, arXiv:1609.04309).

    in_features: size of the input
    n_classes: how many classes there are, the frequent ones first
    cutoffs: ascending numbers of the classes at which clusters begin; others than that are a ValueError
    div_value: by which factor the projection of each next cluster is smaller; 4 unless given
    head_bias: whether the first softmax has a bias; False unless given

    Shapes: input [N, in_features] (or [in_features]) and target [N] (or a scalar) give a pair (`output` [N], the
    log-probability of each target, and `loss`, minus their mean).

    >>> layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[4, 10])
    >>> layer(torch.randn(3, 8), torch.tensor([0, 5, 19])).output.shape
    torch.Size([3])
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or len(set(cutoffs)) != len(cutoffs)
                or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where "
                             "each value is between 1 and n_classes-1")
        options = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            size = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, size, bias=False, **options),
                                        Linear(size, self.cutoffs[i + 1] - self.cutoffs[i], bias=False, **options)))

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        """The targets' log-probabilities and the mean of their negatives; input [N, in_features] or [in_features]."""
        output = _C._functional.adaptive_log_softmax(input_, target_, self.cutoffs, self._first, self._inside)
        return _ASMoutput(output, (-output).mean())

    def _first(self, input):
        return F.log_softmax(self.head(input), dim=1)

    def _inside(self, i, input):
        return F.log_softmax(self.tail[i](input), dim=1)

    def log_prob(self, input):
        """Log-probabilities of all classes, [N, n_classes]."""
        head = self._first(input)
        parts = [head[:, :self.shortlist_size]]
        for i in range(self.n_clusters):
            parts.append(self._inside(i, input) + head[:, self.shortlist_size + i].unsqueeze(1))
        return _C.cat(parts, 1)

    def predict(self, input):
        """The most probable classes, [N]."""
        return self.log_prob(input).argmax(1)
