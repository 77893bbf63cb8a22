"""Writes tests/nn/golden_images.inc: printed layers and values of functions over images and losses, from PyTorch 1.13.

Run: python3 -P tests/golden/nn_images.py | clang-format --assume-filename=x.h > tests/nn/golden_images.inc
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import randn

PRINTS = {
    "constant_pad1d": nn.ConstantPad1d(2, 3.5),
    "constant_pad3d": nn.ConstantPad3d((1, 2, 3, 4, 5, 6), 2.5),
    "zero_pad2d": nn.ZeroPad2d(1),
    "reflection_pad1d": nn.ReflectionPad1d((1, 2)),
    "replication_pad3d": nn.ReplicationPad3d(2),
    "softmax2d": nn.Softmax2d(),
    "cosine_similarity": nn.CosineSimilarity(),
    "pairwise_distance": nn.PairwiseDistance(),
    "upsample_size": nn.Upsample(size=(3, 4), mode="bilinear"),
    "upsample_factor": nn.Upsample(scale_factor=(2.0, 1.5), mode="bicubic", align_corners=True),
    "pixel_shuffle": nn.PixelShuffle(2),
    "pixel_unshuffle": nn.PixelUnshuffle(2),
    "unfold": nn.Unfold((2, 3), padding=1),
    "fold": nn.Fold((4, 5), 2),
    "lp_pool1d": nn.LPPool1d(2.0, 3, 3),
    "lp_pool2d": nn.LPPool2d(1.5, (3, 2), stride=2),
    "local_response_norm": nn.LocalResponseNorm(2),
    "cross_map_lrn2d": nn.CrossMapLRN2d(2),
    "dropout3d": nn.Dropout3d(),
    "feature_alpha_dropout": nn.FeatureAlphaDropout(),
    "rrelu": nn.RReLU(0.1, 0.3, True),
    "avg_pool3d": nn.AvgPool3d(2),
    "max_pool3d": nn.MaxPool3d(2, padding=1),
    "adaptive_avg_pool3d": nn.AdaptiveAvgPool3d((1, 2, 3)),
    "adaptive_max_pool3d": nn.AdaptiveMaxPool3d(2),
    "instance_norm3d": nn.InstanceNorm3d(3),
    "max_unpool1d": nn.MaxUnpool1d(2),
    "max_unpool2d": nn.MaxUnpool2d((2, 3)),
    "multi_margin_loss": nn.MultiMarginLoss(),
}


def image():
    return randn(1, 2, 4, 5)


def sampled(**options):
    return F.grid_sample(randn(2, 2, 4, 5), randn(2, 3, 2, 2) * 1.5, **options)


def unpooled(pool, unpool, *size):
    return unpool(*pool(randn(*size)))


def labels(*rows):
    return torch.tensor(rows)


VALUES = {
    "nearest": lambda: F.interpolate(image(), (7, 3)),
    "nearest_factor": lambda: F.interpolate(image(), scale_factor=(1.5, 2.3)),
    "nearest_exact": lambda: F.interpolate(image(), (7, 3), mode="nearest-exact"),
    "linear": lambda: F.interpolate(randn(1, 2, 5), 8, mode="linear"),
    "bilinear": lambda: F.interpolate(image(), (7, 3), mode="bilinear"),
    "bilinear_corners": lambda: F.interpolate(image(), (7, 1), mode="bilinear", align_corners=True),
    "bilinear_factor": lambda: F.interpolate(image(), scale_factor=(1.7, 0.6), mode="bilinear"),
    "bilinear_recomputed": lambda: F.interpolate(image(), scale_factor=(1.7, 0.6), mode="bilinear",
                                                 recompute_scale_factor=True),
    "bicubic": lambda: F.interpolate(image(), (6, 4), mode="bicubic"),
    "bicubic_corners": lambda: F.interpolate(image(), (6, 4), mode="bicubic", align_corners=True),
    "trilinear": lambda: F.interpolate(randn(1, 1, 2, 3, 2), (3, 2, 5), mode="trilinear"),
    "area": lambda: F.interpolate(image(), (2, 3), mode="area"),
    "unfold": lambda: F.unfold(randn(1, 2, 5, 4), (2, 3), dilation=(2, 1), padding=1, stride=2),
    "fold": lambda: F.fold(randn(2, 12, 6), (5, 4), (2, 3), dilation=(2, 1), padding=1, stride=2),
    "grid_zeros": lambda: sampled(align_corners=False),
    "grid_border": lambda: sampled(align_corners=True, padding_mode="border"),
    "grid_reflection": lambda: sampled(align_corners=False, padding_mode="reflection"),
    "grid_reflection_corners": lambda: sampled(align_corners=True, padding_mode="reflection"),
    "grid_nearest": lambda: sampled(align_corners=False, mode="nearest"),
    "grid_volume": lambda: F.grid_sample(randn(1, 1, 2, 3, 4), randn(1, 2, 1, 3, 3), align_corners=False),
    "affine": lambda: F.affine_grid(randn(2, 2, 3), (2, 1, 2, 3), align_corners=False),
    "affine_volume": lambda: F.affine_grid(randn(1, 3, 4), (1, 1, 2, 1, 3), align_corners=True),
    "unpool1d": lambda: unpooled(nn.MaxPool1d(2, 2, return_indices=True),
                                 lambda x, i: F.max_unpool1d(x, i, 2, 2, output_size=(7,)), 1, 2, 7),
    "unpool2d": lambda: unpooled(nn.MaxPool2d(3, 2, 1, return_indices=True), nn.MaxUnpool2d(3, 2, 1), 2, 5, 7),
    "unpool3d": lambda: unpooled(nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2), 1, 1, 2, 4, 2),
    "lp_pool1d": lambda: F.lp_pool1d(randn(1, 2, 7), 2.0, 3, 2, True),
    "lp_pool2d": lambda: F.lp_pool2d(randn(1, 2, 5, 4).abs(), 1.5, (3, 2)),
    "lrn3": lambda: F.local_response_norm(randn(2, 5, 3), 3, 0.5, 0.75, 2.0),
    "lrn4": lambda: F.local_response_norm(randn(1, 5, 2, 2), 4, 0.5),
    "cross3": lambda: nn.CrossMapLRN2d(3, 0.5)(randn(1, 5, 2, 2)),
    "cross4": lambda: nn.CrossMapLRN2d(4, 0.5, 0.6, 2)(randn(1, 5, 2, 2)),
    "multi_margin": lambda: F.multi_margin_loss(randn(3, 4), labels(1, 3, 0), reduction="none"),
    "multi_margin_square": lambda: F.multi_margin_loss(randn(3, 4), labels(1, 3, 0), 2, 0.5, randn(4).abs()),
    "multilabel_margin": lambda: F.multilabel_margin_loss(
        randn(3, 4), labels([3, 0, -1, 1], [-1, 0, 0, 0], [1, 1, 2, 0]), reduction="none"),
    "multilabel_soft_margin": lambda: F.multilabel_soft_margin_loss(
        randn(2, 3), labels([1.0, 0.0, 1.0], [0.0, 0.0, 1.0]), randn(3).abs(), reduction="none"),
    "triplet": lambda: F.triplet_margin_with_distance_loss(
        randn(3, 4), randn(3, 4), randn(3, 4), distance_function=lambda a, b: (a - b).abs().sum(1), margin=2.0,
        swap=True, reduction="none"),
    "pdist": lambda: F.pdist(randn(4, 3)),
    "pdist1": lambda: F.pdist(randn(4, 3), 1),
    "rrelu": lambda: F.rrelu(randn(6)),
    "gumbel": lambda: F.gumbel_softmax(randn(2, 4), 0.7),
    "gumbel_hard": lambda: F.gumbel_softmax(randn(3, 4), 0.7, hard=True),
}

print("// Written by tests/golden/nn_images.py from PyTorch", torch.__version__.split("a")[0] + ".")
print("inline const std::map<std::string, std::string> golden_image_prints = {")
for name, module in PRINTS.items():
    print(f'    {{"{name}", "{module!r}"}},')
print("};")
print("inline const std::map<std::string, std::vector<double>> golden_images = {")
for name, make in VALUES.items():
    torch.manual_seed(0)
    numbers = ", ".join(f"{float(v):.7g}" for v in make().flatten())
    print(f'    {{"{name}", {{{numbers}}}}},')
print("};")
