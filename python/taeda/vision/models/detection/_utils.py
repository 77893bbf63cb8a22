"""What detectors share: boxes as differences from other boxes, which box is whose, and samples of both kinds."""

import math

from .... import _C
from ....autograd.modes import no_grad
from ....nn import functional as F
from ...ops.losses import complete_box_iou_loss, distance_box_iou_loss, generalized_box_iou_loss
from ...ops.misc import FrozenBatchNorm2d


def middles_and_sides(boxes):
    """[N, 2] each, of corners [N, 4]."""
    sides = boxes[..., 2:] - boxes[..., :2]
    return boxes[..., :2] + 0.5 * sides, sides


def only(kept, *parts):
    """The rows `kept` of each tensor."""
    return [part[kept] for part in parts]


class BalancedPositiveNegativeSampler:
    """At most `positive_fraction` of a sample of objects, and background for the rest."""

    def __init__(self, batch_size_per_image, positive_fraction):
        self.batch_size_per_image, self.positive_fraction = batch_size_per_image, positive_fraction

    def __call__(self, matched_idxs):
        """Two lists of masks of uint8, for matches that are at least 1 for objects and 0 for background."""
        chosen = [], []
        for matches in matched_idxs:
            wanted = int(self.batch_size_per_image * self.positive_fraction)
            for masks, places in zip(chosen, (_C.where(matches >= 1)[0], _C.where(matches == 0)[0])):
                taken = places[_C.randperm(places.numel(), device=places.device)[:wanted]]
                mask = _C.zeros_like(matches, dtype=_C.uint8)
                mask[taken] = 1
                masks.append(mask)
                wanted = self.batch_size_per_image - min(places.numel(), wanted)
        return chosen


class BoxCoder:
    """Boxes as the moves of middles, in sides, and the logarithms of how sides change, times `weights`."""

    def __init__(self, weights, bbox_xform_clip=math.log(1000.0 / 16)):
        self.weights, self.bbox_xform_clip = weights, bbox_xform_clip

    def encode(self, reference_boxes, proposals):
        """For lists of boxes and of proposals, picture by picture."""
        codes = self.encode_single(_C.cat(list(reference_boxes)), _C.cat(list(proposals)))
        return codes.split([len(b) for b in reference_boxes])

    def encode_single(self, reference_boxes, proposals):
        weights = _C._tensor_from(list(self.weights), reference_boxes.dtype, reference_boxes.device)
        (middle, sides), (start, size) = middles_and_sides(reference_boxes), middles_and_sides(proposals)
        return _C.cat((weights[:2] * (middle - start) / size, weights[2:] * (sides / size).log()), 1)

    def decode(self, rel_codes, boxes):
        """[N, codes, 4] of codes [N, 4 * codes], boxes listed picture by picture."""
        if not isinstance(boxes, (list, tuple)):
            raise AssertionError("This function expects boxes of type list or tuple.")
        if not isinstance(rel_codes, _C.TensorBase):
            raise AssertionError("This function expects rel_codes of type torch.Tensor.")
        total = sum(len(b) for b in boxes)
        made = self.decode_single(rel_codes.reshape(total, -1) if total else rel_codes, _C.cat(list(boxes)))
        return made.reshape(total, -1, 4) if total else made

    def decode_single(self, rel_codes, boxes):
        middle, sides = middles_and_sides(boxes.to(rel_codes.dtype))
        weights = _C._tensor_from(list(self.weights), rel_codes.dtype, rel_codes.device)
        codes = rel_codes.unflatten(1, (-1, 4)) / weights
        middle = codes[..., :2] * sides[:, None] + middle[:, None]
        half = 0.5 * (codes[..., 2:].clamp(max=self.bbox_xform_clip).exp() * sides[:, None])
        return _C.cat((middle - half, middle + half), 2).flatten(1)


class BoxLinearCoder:
    """Boxes as the distances of their sides from the middles of others, in these' sides."""

    def __init__(self, normalize_by_size=True):
        self.normalize_by_size = normalize_by_size

    def _middles(self, boxes):
        middles, sides = 0.5 * (boxes[..., :2] + boxes[..., 2:]), boxes[..., 2:] - boxes[..., :2]
        return middles, _C.cat((sides, sides), -1)

    def encode(self, reference_boxes, proposals):
        middles, sides = self._middles(reference_boxes)
        distances = _C.cat((middles - proposals[..., :2], proposals[..., 2:] - middles), -1)
        return distances / sides if self.normalize_by_size else distances

    def decode(self, rel_codes, boxes):
        middles, sides = self._middles(boxes.to(rel_codes.dtype))
        codes = rel_codes * sides if self.normalize_by_size else rel_codes
        return _C.cat((middles - codes[..., :2], middles + codes[..., 2:]), -1)


class Matcher:
    """The true box of each proposal: the best one, if both share enough; -1 for background, -2 for what is neither."""

    BELOW_LOW_THRESHOLD = -1
    BETWEEN_THRESHOLDS = -2

    def __init__(self, high_threshold, low_threshold, allow_low_quality_matches=False):
        if low_threshold > high_threshold:
            raise AssertionError("low_threshold should be <= high_threshold")
        self.high_threshold, self.low_threshold = high_threshold, low_threshold
        self.allow_low_quality_matches = allow_low_quality_matches

    def __call__(self, match_quality_matrix):
        """[N] of qualities [M, N]. With `allow_low_quality_matches` the best proposals of a box are its own in any case."""
        if match_quality_matrix.numel() == 0:
            missing = "proposal" if match_quality_matrix.shape[0] else "ground-truth"
            raise ValueError(f"No {missing} boxes available for one of the images during training")
        values, best = match_quality_matrix.max(0)
        matches = best.masked_fill(values < self.high_threshold, self.BETWEEN_THRESHOLDS)
        matches = matches.masked_fill(values < self.low_threshold, self.BELOW_LOW_THRESHOLD)
        if self.allow_low_quality_matches:
            highest = match_quality_matrix.max(1, keepdim=True)[0]
            matches = _C.where((match_quality_matrix == highest).any(0), best, matches)
        return matches


class SSDMatcher(Matcher):
    """A Matcher that gives each true box the proposal that fits it best."""

    def __init__(self, threshold):
        super().__init__(threshold, threshold, allow_low_quality_matches=False)

    def __call__(self, match_quality_matrix):
        matches = super().__call__(match_quality_matrix)
        best = match_quality_matrix.max(1)[1]
        matches[best] = _C.arange(len(best), dtype=_C.int64, device=best.device)
        return matches


def overwrite_eps(model, eps):
    """Sets `eps` of frozen batch norms; weights of old were trained with 0."""
    for module in model.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.eps = eps


def retrieve_out_channels(model, size):
    """The channels of each of a network's outputs for a picture of (width, height)."""
    training = model.training
    model.eval()
    with no_grad():
        device = next(model.parameters()).device
        features = model(_C.zeros((1, 3, size[1], size[0]), device=device))
    model.train(training)
    return [features.size(1)] if isinstance(features, _C.TensorBase) else [x.size(1) for x in features.values()]


def box_loss(type, box_coder, anchors, matched_boxes, regression, cnf=None):
    """The sum of one of several losses of boxes."""
    cnf = cnf or {}
    if type in ("l1", "smooth_l1"):
        wanted = box_coder.encode_single(matched_boxes, anchors)
        if type == "l1":
            return F.l1_loss(regression, wanted, reduction="sum")
        return F.smooth_l1_loss(regression, wanted, reduction="sum", beta=cnf.get("beta", 1.0))
    losses = {"ciou": complete_box_iou_loss, "diou": distance_box_iou_loss, "giou": generalized_box_iou_loss}
    if type not in losses:
        raise AssertionError(f"Unsupported loss: {type}")
    return losses[type](box_coder.decode_single(regression, anchors), matched_boxes, reduction="sum", eps=cnf.get("eps", 1e-7))
