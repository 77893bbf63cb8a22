"""Losses."""

from ... import _C
from ..._core.documented import with_text_of
from ..._core.warnings import deprecated
from .. import functional as F
from .._losses import legacy_reduction, named
from .module import Module

# Others, if a program puts them there, are called.
_mse_loss, _nll_loss, _cross_entropy, _ctc_loss = F.mse_loss, F.nll_loss, F.cross_entropy, F.ctc_loss


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        old = size_average is not None or reduce is not None or reduction == "elementwise_mean"
        self.reduction = legacy_reduction(size_average, reduce, reduction) if old else reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """|input - target|.

    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(1.)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(input - target)^2.

    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        if F.mse_loss is not _mse_loss:
            return F.mse_loss(input, target, reduction=self.reduction)
        reduction = self.reduction if type(self.reduction) is str else named(self.reduction)
        return _C.mse_loss(input, target, reduction)


class SmoothL1Loss(_Loss):
    """With d = |input - target|: d^2 / (2 beta) where d < beta, d - beta / 2 elsewhere.

    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same
    beta: 1 unless given; 0 is L1Loss, a negative one a RuntimeError of the call

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.SmoothL1Loss(reduction="none")(torch.tensor([0.5, 3.0]), torch.zeros(2))
    tensor([0.1250, 2.5000])
    """

    __constants__ = ["reduction"]

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """With d = |input - target|: d^2 / 2 where d <= delta, delta (d - delta / 2) elsewhere.

    reduction: "mean" (unless given), "sum" or "none"
    delta: 1 unless given; a number, else TypeError; one that is not positive is a RuntimeError of the call

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.HuberLoss(reduction="none")(torch.tensor([0.5, 3.0]), torch.zeros(2))
    tensor([0.1250, 2.5000])
    """

    __constants__ = ["reduction", "delta"]

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        if not isinstance(delta, (int, float)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """-input[target], for log-probabilities of classes: the negative log-likelihood of the target's class.

    weight: a factor for each class [C]; "mean" divides by the sum of those used
    ignore_index: a target that counts for nothing; -100 unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input [N, C, *] or [C] and target [N, *] or a scalar, integers in [0, C), else IndexError; result a scalar, or the
    target's shape with "none".

    >>> nn.NLLLoss()(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """

    __constants__ = ["ignore_index", "reduction"]

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        if F.nll_loss is not _nll_loss:
            return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)
        reduction = self.reduction if type(self.reduction) is str else named(self.reduction)
        return _C.nll_loss(input, target, self.weight, reduction, self.ignore_index)


@deprecated("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement.")
class NLLLoss2d(NLLLoss):
    """NLLLoss under an old name; making one warns.

    Shapes: as NLLLoss's.

    >>> issubclass(nn.NLLLoss2d, nn.NLLLoss)
    True
    """


@with_text_of(F.cross_entropy)
class CrossEntropyLoss(_WeightedLoss):
    """>>> nn.CrossEntropyLoss()(torch.tensor([[2.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 1]))
    tensor(0.1269)
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        if F.cross_entropy is not _cross_entropy:
            return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
                                   label_smoothing=self.label_smoothing)
        reduction = self.reduction if type(self.reduction) is str else named(self.reduction)
        return _C.cross_entropy(input, target, self.weight, reduction, self.ignore_index, self.label_smoothing)


class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts under Poisson distributions without its constant: exp(x) - t x.

    log_input: whether inputs are logarithms of rates (unless given True); else x - t log(x + eps)
    full: whether Stirling's approximation of log(t!) is added where t > 1; False unless given
    eps: 1e-8 unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]))
    tensor(1.)
    """

    __constants__ = ["log_input", "full", "eps", "reduction"]

    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


@with_text_of(F.gaussian_nll_loss)
class GaussianNLLLoss(_Loss):
    """>>> nn.GaussianNLLLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """

    __constants__ = ["full", "eps", "reduction"]

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


@with_text_of(F.kl_div)
class KLDivLoss(_Loss):
    """>>> p = torch.tensor([[0.5, 0.5]])
    >>> nn.KLDivLoss(reduction="batchmean")(p.log(), p)
    tensor(0.)
    """

    __constants__ = ["reduction"]

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """-w (t log x + (1 - t) log(1 - x)) for probabilities x; logarithms count as -100 at least.

    weight: w, which broadcasts to the input
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input in [0, 1] and target of one shape [*], else ValueError; result a scalar, or [*] with "none".

    >>> nn.BCELoss()(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(x), without overflow.

    weight: a factor, which broadcasts to the input
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same
    pos_weight: a factor of the positive term for each class, which broadcasts to the input

    Shapes: input and target of one shape [*], else ValueError; result a scalar, or [*] with "none".

    >>> nn.BCEWithLogitsLoss()(torch.zeros(2), torch.tensor([1.0, 0.0]))
    tensor(0.6931)
    """

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, self.weight, reduction=self.reduction,
                                                  pos_weight=self.pos_weight)


class HingeEmbeddingLoss(_Loss):
    """x where the target is 1, max(0, margin - x) where it is -1.

    margin: 1 unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.HingeEmbeddingLoss()(torch.tensor([0.2, 0.4]), torch.tensor([1.0, -1.0]))
    tensor(0.4000)
    """

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input, target):
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


@with_text_of(F.multilabel_margin_loss)
class MultiLabelMarginLoss(_Loss):
    """>>> nn.MultiLabelMarginLoss()(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-y x)) for targets y of 1 or -1.

    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> nn.SoftMarginLoss()(torch.zeros(2), torch.tensor([1.0, -1.0]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.soft_margin_loss(input, target, reduction=self.reduction)


@with_text_of(F.multilabel_soft_margin_loss)
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """>>> nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    __constants__ = ["reduction"]

    def forward(self, input, target):
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - margin) where it is -1.

    margin: 0 unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: inputs [N, D] or [D], target [N] or a scalar; result a scalar, or [N] with "none".

    >>> nn.CosineEmbeddingLoss()(torch.eye(2), torch.eye(2), torch.tensor([1.0, 1.0]))
    tensor(0.)
    """

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -y (x1 - x2) + margin): y is 1 where x1 should be the larger one, -1 where x2.

    margin: 0 unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: both inputs and the target [N] or scalars, of as many dimensions each, else RuntimeError; result a scalar, or [N]
    with "none".

    >>> nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([1.0]))
    tensor(1.)
    """

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


@with_text_of(F.multi_margin_loss)
class MultiMarginLoss(_WeightedLoss):
    """>>> nn.MultiMarginLoss()(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([3]))
    tensor(0.3250)
    """

    __constants__ = ["p", "margin", "reduction"]

    def __init__(self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError("weight must be None or 1-dimensional")
        self.p, self.margin = p, margin

    def forward(self, input, target):
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with d(a, b) = |a - b + eps|_p (Balntas et al. 2016).

    margin: 1 unless given; positive, else ValueError
    p, eps: of the distance; 2 and 1e-6 unless given
    swap: whether the smaller of the negative's distances to anchor and positive is taken; False unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: [N, D] or [D] each; result a scalar, or [N] with "none".

    >>> nn.TripletMarginLoss()(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[0.3, 0.4]]))
    tensor(0.5000)
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap,
                                     reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with any distance.

    distance_function: a function of two tensors; PairwiseDistance unless given
    margin: 1 unless given; positive, else ValueError
    swap: whether the smaller of the negative's distances to anchor and positive is taken; False unless given
    reduction: "mean" (unless given), "sum" or "none"

    Shapes: [N, *] each, as the distance takes them; result a scalar, or the distances' shape with "none".

    >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))
    >>> loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[0.25, 0.25]]))
    tensor(0.5000)
    """

    __constants__ = ["margin", "swap", "reduction"]

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead")
        from .distance import PairwiseDistance
        self.distance_function = distance_function if distance_function is not None else PairwiseDistance()
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                   margin=self.margin, swap=self.swap, reduction=self.reduction)


@with_text_of(F.ctc_loss)
class CTCLoss(_Loss):
    """>>> logs = torch.full((4, 1, 2), 0.5).log()
    >>> nn.CTCLoss()(logs, torch.tensor([[1]]), torch.tensor([4]), torch.tensor([1])).shape
    torch.Size([])
    """

    __constants__ = ["blank", "reduction"]

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        if F.ctc_loss is not _ctc_loss:
            return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, named(self.reduction),
                           self.zero_infinity)
        return _C.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, named(self.reduction),
                           self.zero_infinity)
