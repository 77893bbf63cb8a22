#!/usr/bin/env python3
"""Writes python/taeda/vision/models/weights.json: what is known of the weights that torchvision's models have - how pictures
are prepared for them, which classes they tell apart, how many parameters they are, how well they do.

    python-with-torchvision tools/python/vision_weights.py
"""

import enum
import functools
import json
import pathlib

import torchvision
from torchvision.models import detection, optical_flow, segmentation, video

FILE = pathlib.Path(__file__).resolve().parents[2] / "python" / "taeda" / "vision" / "models" / "weights.json"
ABSENT = ("MViT", "Swin3D")  # networks that Taeda has not
KEPT = ("num_params", "min_size", "min_temporal_size", "keypoint_names", "_metrics", "_ops", "_file_size", "recipe")


def described(weights, lists):
    """Keywords of a member's transforms, and its meta data with the list of classes by its name."""
    made = weights.transforms
    keywords = made.keywords if isinstance(made, functools.partial) else {}
    keywords = {k: v.value if isinstance(v, enum.Enum) else v for k, v in keywords.items()}
    preset = (made.func if isinstance(made, functools.partial) else made).__name__
    meta = {k: weights.meta[k] for k in KEPT if k in weights.meta}
    classes = weights.meta.get("categories")
    if classes is None:
        meta["categories"] = None
    else:
        name = next((n for n, known in lists.items() if known == classes), None)
        if name is None:
            name = f"{len(classes)}_{len(lists)}"
            lists[name] = classes
        meta["categories"] = name
    return {"transforms": [preset, keywords], "meta": meta}


def main():
    lists, made = {}, {}
    for module in (torchvision.models, segmentation, detection, video, optical_flow):
        for name in sorted(dir(module)):
            kind = getattr(module, name)
            if name.endswith("_Weights") and not name.startswith(ABSENT) and isinstance(kind, enum.EnumMeta):
                made.update({f"{name}.{member.name}": described(member, lists) for member in kind})
    rows = [f"{json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in made.items()]
    rows.append(f'"categories": {json.dumps(lists)}')
    FILE.write_text("{" + ",\n".join(rows) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
