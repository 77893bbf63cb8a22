"""The classes that weights tell apart."""

from ._weights import _known

_NAMES = {"_IMAGENET_CATEGORIES": "ResNet18_Weights.IMAGENET1K_V1", "_VOC_CATEGORIES":
          "FCN_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1", "_COCO_CATEGORIES": "FasterRCNN_ResNet50_FPN_Weights.COCO_V1",
          "_COCO_PERSON_CATEGORIES": "KeypointRCNN_ResNet50_FPN_Weights.COCO_V1"}


def __getattr__(name):
    if name in _NAMES:
        return _known()[_NAMES[name]]["meta"]["categories"]
    if name == "_COCO_PERSON_KEYPOINT_NAMES":
        return _known()[_NAMES["_COCO_PERSON_CATEGORIES"]]["meta"]["keypoint_names"]
    raise AttributeError(f"module 'torchvision.models._meta' has no attribute '{name}'")
