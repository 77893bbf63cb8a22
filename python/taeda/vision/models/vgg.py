"""VGG (Simonyan, Zisserman, arXiv:1409.1556)."""

from ... import _C, nn
from ._weights import defined

__all__ = ["VGG"]


class VGG(nn.Module):
    """Convolutions of 3 x 3 in `features`, three linear layers in `classifier`."""

    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(p=dropout),
                                        nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(p=dropout),
                                        nn.Linear(4096, num_classes))
        if init_weights:
            for m in self.modules():
                if isinstance(m, nn.Conv2d):
                    nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                    if m.bias is not None:
                        nn.init.constant_(m.bias, 0)
                elif isinstance(m, nn.BatchNorm2d):
                    nn.init.constant_(m.weight, 1)
                    nn.init.constant_(m.bias, 0)
                elif isinstance(m, nn.Linear):
                    nn.init.normal_(m.weight, 0, 0.01)
                    nn.init.constant_(m.bias, 0)

    def forward(self, x):
        return self.classifier(_C.flatten(self.avgpool(self.features(x)), 1))


_LAYERS = {"11": [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
           "13": [64, 64, "M", 128, 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
           "16": [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"],
           "19": [64, 64, "M", 128, 128, "M", 256, 256, 256, 256, "M", 512, 512, 512, 512, "M", 512, 512, 512, 512, "M"]}


def make_layers(cfg, batch_norm=False):
    """The convolutions of a list of widths, where "M" stands for pooling."""
    layers, width = [], 3
    for v in cfg:
        if v == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2d(width, v, kernel_size=3, padding=1))
        layers += [nn.BatchNorm2d(v)] if batch_norm else []
        layers.append(nn.ReLU(inplace=True))
        width = v
    return nn.Sequential(*layers)


def _define(depth, batch_norm, **urls):
    name = f"vgg{depth}{'_bn' if batch_norm else ''}"
    weights = f"VGG{depth}{'_BN' if batch_norm else ''}_Weights"
    @defined(name, weights, f"VGG with {depth} layers{', normalized by batches' if batch_norm else ''}.", urls, "IMAGENET1K_V1")
    def build(**kwargs):
        return VGG(make_layers(_LAYERS[depth], batch_norm), **kwargs)


for _depth, _plain, _normalized in (("11", "8a719046", "6002323d"), ("13", "19584684", "abd245e5"),
                                    ("16", "397923af", "6c64b313"), ("19", "dcbb9e9d", "c79401a0")):
    _features = {"IMAGENET1K_FEATURES": "vgg16_features-amdegroot-88682ab5.pth"} if _depth == "16" else {}
    _define(_depth, False, IMAGENET1K_V1=f"vgg{_depth}-{_plain}.pth", **_features)
    _define(_depth, True, IMAGENET1K_V1=f"vgg{_depth}_bn-{_normalized}.pth")
