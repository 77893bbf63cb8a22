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
        alone = input_.dim() == 1
        if target_.dim() == 0 and alone:
            input_, target_ = input_.unsqueeze(0), target_.unsqueeze(0)
        elif target_.dim() == 1 and input_.dim() == 2:
            if input_.shape[0] != target_.shape[0]:
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported" if target_.dim() > 1 else
                               f"Expected 1D target with 2D input or 0D target with 1D input, got {target_.dim()}D and "
                               f"{input_.dim()}D")
        if target_.numel() and (int(target_.min()) < 0 or int(target_.max()) >= self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{int(target_.min())}, {int(target_.max())}] were found. ")
        head = F.log_softmax(self.head(input_), dim=1)
        output = head.gather(1, target_.clamp_max(self.shortlist_size - 1).unsqueeze(1)).squeeze(1)
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target_ >= low) & (target_ < high)).nonzero().squeeze(1)
            if rows.numel():
                inside = F.log_softmax(cluster(input_.index_select(0, rows)), dim=1)
                values = inside.gather(1, (target_.index_select(0, rows) - low).unsqueeze(1)).squeeze(1)
                output = output.index_copy(0, rows, values + head.index_select(0, rows)[:, self.shortlist_size + i])
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if alone else output, loss)

    def log_prob(self, input):
        """Log-probabilities of all classes, [N, n_classes]."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, :self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            parts.append(F.log_softmax(cluster(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return _C.cat(parts, 1)

    def predict(self, input):
        """The most probable classes, [N]."""
        return self.log_prob(input).argmax(1)
