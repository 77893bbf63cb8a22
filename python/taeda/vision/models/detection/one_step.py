"""What detectors share that make of each place of each map classes and boxes at once."""

from .... import _C, nn
from ...ops import boxes as box_ops
from .anchor_utils import AnchorGenerator
from .generalized_rcnn import as_dict, prepared
from .rpn import permute_and_flatten
from .transform import GeneralizedRCNNTransform

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def check_parts(backbone, anchor_generator):
    if not hasattr(backbone, "out_channels"):
        raise ValueError("backbone should contain an attribute out_channels specifying the number of output channels (assumed "
                         "to be the same for all the levels)")
    if not isinstance(anchor_generator, (AnchorGenerator, type(None))):
        raise TypeError(f"anchor_generator should be of type AnchorGenerator or None instead of {type(anchor_generator)}")


def in_rows(x, columns):
    """[N, A * columns, H, W] as [N, H * W * A, columns]."""
    return permute_and_flatten(x, x.shape[0], None, columns, *x.shape[2:])


def in_normal(layers):
    """Small normal weights and no biases, of the convolutions among layers."""
    for layer in layers:
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, std=0.01)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


class OneStep(nn.Module):
    """A head over the maps of a backbone. A class of it matches anchors and true boxes, gives losses, says what is found."""

    def _prepare(self, backbone, anchor_generator, head, box_coder, proposal_matcher):
        self.backbone, self.anchor_generator, self.head = backbone, anchor_generator, head
        self.proposal_matcher, self.box_coder = proposal_matcher, box_coder

    def _resize(self, min_size, max_size, image_mean, image_std, **options):
        self.transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **options)

    def _limit(self, score_thresh, nms_thresh, detections_per_img, topk_candidates):
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def _match(self, targets, anchors):
        """The numbers of the true boxes of each picture's anchors, -1 for background."""
        return [self.proposal_matcher(box_ops.box_iou(target["boxes"], boxes)) if target["boxes"].numel() else
                _C.full((len(boxes),), -1, dtype=_C.int64, device=boxes.device) for boxes, target in zip(anchors, targets)]

    def _best(self, boxes, scores, labels):
        """What stays of candidates: those that are no doubles, the best first."""
        boxes, scores, labels = _C.cat(boxes), _C.cat(scores), _C.cat(labels)
        kept = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)[:self.detections_per_img]
        return {"boxes": boxes[kept], "scores": scores[kept], "labels": labels[kept]}

    def _by_level(self, outputs, anchors, image_shapes, counts, score, decode):
        """For each picture the best places of each map; score(outputs) gives [places, classes], decode(codes, anchors)
        boxes."""
        found = []
        parts = {name: out.split(counts, 1) for name, out in outputs.items()}
        for i, shape in enumerate(image_shapes):
            kept = [], [], []
            for level, boxes in enumerate(anchors[i].split(counts)):
                here = {name: out[level][i] for name, out in parts.items()}
                scores = score(here)
                classes, scores = scores.shape[-1], scores.flatten()
                places = _C.where(scores > self.score_thresh)[0]
                scores, order = scores[places].topk(min(self.topk_candidates, len(places)))
                places = places[order]
                at = places.div(classes, rounding_mode="floor")
                boxes = box_ops.clip_boxes_to_image(decode(here["bbox_regression"][at], boxes[at]), shape)
                for many, few in zip(kept, (boxes, scores, places % classes)):
                    many.append(few)
            found.append(self._best(*kept))
        return found

    def forward(self, images, targets=None):
        originals, images, targets = prepared(self, images, targets)
        features = list(as_dict(self.backbone(images.tensors)).values())
        outputs = self.head(features)
        anchors = self.anchor_generator(images, features)
        places = [f.shape[2] * f.shape[3] for f in features]
        if self.training:
            return self._losses(targets, outputs, anchors, places)
        found = self._found(outputs, anchors, images.image_sizes, places)
        return self.transform.postprocess(found, images.image_sizes, originals)
