"""Losses of torch.nn.functional."""


from .. import _C
from .._core.warnings import warn

_F = _C._functional

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy", "ctc_loss",
           "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss",
           "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "poisson_nll_loss",
           "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss"]


def named(reduction):
    """The name of a reduction; the library also knows them by number, which programs may not."""
    if not isinstance(reduction, str):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def legacy_reduction(size_average, reduce, reduction):
    """The reduction that two old flags mean; `reduction` where they are not given."""
    if size_average is None and reduce is None:
        if reduction == "elementwise_mean":
            warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
            return "mean"
        return reduction if type(reduction) is str else named(reduction)
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    reduction = "none" if not reduce else "mean" if size_average else "sum"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def _weighted(losses, weight, reduction, by_weight):
    if weight.size() != losses.size():
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "mean":
        return losses.sum() / weight.sum() if by_weight else losses.mean()
    return losses.sum() if reduction == "sum" else losses


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if weight is not None:
        return _weighted(_C.mse_loss(input, target, "none"), weight, reduction, True)
    return _C.mse_loss(input, target, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if weight is not None:
        return _weighted(_C.l1_loss(input, target, "none"), weight, reduction, True)
    return _C.l1_loss(input, target, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return _C.smooth_l1_loss(input, target, legacy_reduction(size_average, reduce, reduction), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    if weight is not None:
        return _weighted(_C.huber_loss(input, target, "none", delta), weight, reduction, False)
    return _C.huber_loss(input, target, named(reduction), delta)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """-log softmax(input)[target] along dimension 1: the negative log-probability of classes, or the cross-entropy of
    distributions over them, by scores that need not be normalized.

    weight: a factor for each class [C]; "mean" divides by the sum of those used
    ignore_index: a target that counts for nothing; -100 unless given
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same
    label_smoothing: in [0, 1], which part of the target is the uniform distribution (arXiv:1512.00567); 0 unless given

    Shapes: input [N, C, *] or [C]; target [N, *] or a scalar, integers in [0, C), else IndexError, or probabilities in the
    input's shape; result a scalar, or the shape without C with "none". Batches of two sizes are a ValueError.

    >>> F.cross_entropy(torch.tensor([[2.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 1]))
    tensor(0.1269)
    """
    return _C.cross_entropy(input, target, weight, legacy_reduction(size_average, reduce, reduction), ignore_index,
                            label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return _C.nll_loss(input, target, weight, legacy_reduction(size_average, reduce, reduction), ignore_index)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if target.shape != input.shape:
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
                         "deprecated. Please ensure they have the same size.")
    if not target.is_floating_point():
        found, expected = (t.type().rpartition(".")[2].removesuffix("Tensor") for t in (target, input))
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    return _C.binary_cross_entropy(input, target, weight, legacy_reduction(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight,
                                               legacy_reduction(size_average, reduce, reduction))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target (log target - input): the Kullback-Leibler divergence of the target from log-probabilities, element by element.

    reduction: "mean" (unless given, with a warning), "sum", "none" or "batchmean", the sum divided by the batch's size, which
        is the divergence's mean; size_average and reduce are old flags for the same
    log_target: whether the target holds log-probabilities, too; False unless given

    Shapes: input and target in one shape [*]; result a scalar, or [*] with "none".

    >>> p = torch.tensor([[0.5, 0.5]])
    >>> F.kl_div(p.log(), p, reduction="batchmean")
    tensor(0.)
    """
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce, reduction)
    elif reduction == "mean":
        warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
             "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to "
             "behave the same as 'batchmean' in the next major release.")
    if reduction == "batchmean":
        made = _C.kl_div(input, target, "sum", log_target)
        return made / input.size(0) if input.dim() else made
    return _C.kl_div(input, target, named(reduction), log_target)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    reduction = legacy_reduction(size_average, reduce, reduction)
    _check(reduction)
    return _C.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def _check(reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log-likelihood under normal distributions: (log max(var, eps) + (input - target)^2 / max(var, eps)) / 2.

    full: whether log(2 pi) / 2 is added; False unless given
    eps: 1e-6 unless given
    reduction: "mean" (unless given), "sum" or "none", else ValueError

    Shapes: input and target [*]; var [*], [*, 1] or a number, not negative, else ValueError; result a scalar, or [*] with
    "none".

    >>> F.gaussian_nll_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = _C.full(input.shape, var, dtype=input.dtype, device=input.device)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return _C.gaussian_nll_loss(input, target, var, full, eps, reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.size()}, input2: {input2.size()}, target: {target.size()} ")
    return _C.margin_ranking_loss(input1, input2, target, margin, reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return _C.hinge_embedding_loss(input, target, margin, legacy_reduction(size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _C.soft_margin_loss(input, target, legacy_reduction(size_average, reduce, reduction))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return _C.cosine_embedding_loss(input1, input2, target, margin, legacy_reduction(size_average, reduce, reduction))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """sum of max(0, 1 - (x[j] - x[i])) over the target's classes j and all others i, divided by the number of classes.

    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input [N, C] or [C]; target of that shape, int64: classes up to the first -1; result a scalar, or [N] with "none".

    >>> F.multilabel_margin_loss(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """
    return _F.multilabel_margin_loss(input, target, legacy_reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """binary_cross_entropy_with_logits averaged over the classes.

    weight: a factor for each class [C]
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input and target [N, C] or [C]; result a scalar, or [N] with "none".

    >>> F.multilabel_soft_margin_loss(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    return _F.multilabel_soft_margin_loss(input, target, weight, legacy_reduction(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """sum of max(0, margin - x[y] + x[i])^p over the classes i other than the target y, divided by the number of classes.

    p: 1 (unless given) or 2, else ValueError
    margin: 1 unless given
    weight: a factor for each class [C]
    reduction: "mean" (unless given), "sum" or "none"; size_average and reduce are old flags for the same

    Shapes: input [N, C] or [C], target [N] or a scalar, integers in [0, C); result a scalar, or [N] with "none".

    >>> F.multi_margin_loss(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([3]))
    tensor(0.3250)
    """
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _F.multi_margin_loss(input, target, p, margin, weight, legacy_reduction(size_average, reduce, reduction))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Connectionist temporal classification: minus the log-probability of target sequences over all their alignments to the
    input (Graves et al. 2006).

    blank: the class that stands for no symbol; 0 unless given
    reduction: "mean" (unless given), which divides by the targets' lengths first, "sum" or "none"
    zero_infinity: whether losses that are infinite, of inputs too short for their targets, count for 0; False unless given

    Shapes: log_probs [T, N, C] or [T, C], log-probabilities; targets [N, S] or one after the other [sum of lengths];
    input_lengths and target_lengths [N] or scalars; result a scalar, or [N] with "none".

    >>> logs = torch.full((4, 1, 2), 0.5).log()
    >>> F.ctc_loss(logs, torch.tensor([[1]]), torch.tensor([4]), torch.tensor([1])).shape
    torch.Size([])
    """
    return _C.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, named(reduction), zero_infinity)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    reduction = legacy_reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _C.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin).

    distance_function: d, a function of two tensors; pairwise_distance unless given
    margin: 1 unless given; positive, else ValueError
    swap: whether the smaller of the negative's distances to anchor and positive is taken; False unless given
    reduction: "mean" (unless given), "sum" or "none", else ValueError

    Shapes: [N, *] each, of as many dimensions, else RuntimeError; result a scalar, or the distances' shape with "none".

    >>> F.triplet_margin_with_distance_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), margin=6.0)
    tensor(1.0000)
    """
    _check(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
                           f"but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D "
                           "inputs")
    distance = distance_function or _C.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _C.minimum(far, distance(positive, negative))
    loss = (margin + near - far).clamp_min(0)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss
