"""Distances and similarities of rows."""

from .. import functional as F
from .module import Module


class PairwiseDistance(Module):
    """|x1 - x2 + eps|_p, the p-norm of differences along the last dimension.

    p: of the norm; 2 unless given
    eps: is added so that nothing is divided by 0; 1e-6 unless given
    keepdim: whether the last dimension stays, with size 1; False unless given

    Shapes: inputs [N, D] or [D], which broadcast; result [N] or a scalar.

    >>> nn.PairwiseDistance()(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1 . x2 / max(|x1| |x2|, eps): the cosine of the angle between vectors along `dim`.

    dim: along which vectors lie; 1 unless given
    eps: 1e-8 unless given

    Shapes: inputs [*, D, *], which broadcast; the result is without dimension `dim`.

    >>> nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """

    __constants__ = ["dim", "eps"]

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
