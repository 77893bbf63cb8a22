"""Residual networks (He, Zhang, Ren, Sun, arXiv:1512.03385; wide ones arXiv:1605.07146, ResNeXt arXiv:1611.05431)."""

from ... import _C, nn
from ._weights import defined

__all__ = ["BasicBlock", "Bottleneck", "ResNet"]


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    return nn.Conv2d(in_planes, out_planes, 3, stride, dilation, dilation, groups, bias=False)


def conv1x1(in_planes, out_planes, stride=1):
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two convolutions of 3 x 3 beside the identity."""

    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """A convolution of 3 x 3 between two of 1 x 1, beside the identity."""

    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """Four stages of `layers` blocks each, on a convolution of 7 x 7; `fc` tells the classes apart."""

    def __init__(self, block, layers, num_classes=1000, zero_init_residual=False, groups=1, width_per_group=64,
                 replace_stride_with_dilation=None, norm_layer=None):
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes, self.dilation, self.groups, self.base_width = 64, 1, groups, width_per_group
        dilate = replace_stride_with_dilation or [False, False, False]
        if len(dilate) != 3:
            raise ValueError("replace_stride_with_dilation should be None or a 3-element tuple, got "
                             f"{replace_stride_with_dilation}")
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)
        if zero_init_residual:
            for m in self.modules():
                if isinstance(m, Bottleneck):
                    nn.init.constant_(m.bn3.weight, 0)
                elif isinstance(m, BasicBlock):
                    nn.init.constant_(m.bn2.weight, 0)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        downsample, previous = None, self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(conv1x1(self.inplanes, planes * block.expansion, stride),
                                       self._norm_layer(planes * block.expansion))
        layers = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, previous, self._norm_layer)]
        self.inplanes = planes * block.expansion
        layers += [block(self.inplanes, planes, groups=self.groups, base_width=self.base_width, dilation=self.dilation,
                         norm_layer=self._norm_layer) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(_C.flatten(self.avgpool(x), 1))


def _define(name, weights, block, layers, default, urls, **fixed):
    @defined(name, weights, f"ResNet of {block.__name__}, {layers} of them a stage.", urls, default)
    def build(**kwargs):
        return ResNet(block, layers, **{**fixed, **kwargs})


_define("resnet18", "ResNet18_Weights", BasicBlock, [2, 2, 2, 2], "IMAGENET1K_V1",
        {"IMAGENET1K_V1": "resnet18-f37072fd.pth"})
_define("resnet34", "ResNet34_Weights", BasicBlock, [3, 4, 6, 3], "IMAGENET1K_V1",
        {"IMAGENET1K_V1": "resnet34-b627a593.pth"})
_define("resnet50", "ResNet50_Weights", Bottleneck, [3, 4, 6, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "resnet50-0676ba61.pth", "IMAGENET1K_V2": "resnet50-11ad3fa6.pth"})
_define("resnet101", "ResNet101_Weights", Bottleneck, [3, 4, 23, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "resnet101-63fe2227.pth", "IMAGENET1K_V2": "resnet101-cd907fc2.pth"})
_define("resnet152", "ResNet152_Weights", Bottleneck, [3, 8, 36, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "resnet152-394f9c45.pth", "IMAGENET1K_V2": "resnet152-f82ba261.pth"})
_define("resnext50_32x4d", "ResNeXt50_32X4D_Weights", Bottleneck, [3, 4, 6, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "resnext50_32x4d-7cdf4587.pth", "IMAGENET1K_V2": "resnext50_32x4d-1a0047aa.pth"},
        groups=32, width_per_group=4)
_define("wide_resnet50_2", "Wide_ResNet50_2_Weights", Bottleneck, [3, 4, 6, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "wide_resnet50_2-95faca4d.pth", "IMAGENET1K_V2": "wide_resnet50_2-9ba9bcbe.pth"},
        width_per_group=128)
_define("resnext101_32x8d", "ResNeXt101_32X8D_Weights", Bottleneck, [3, 4, 23, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "resnext101_32x8d-8ba56ff5.pth", "IMAGENET1K_V2": "resnext101_32x8d-110c445d.pth"},
        groups=32, width_per_group=8)
_define("resnext101_64x4d", "ResNeXt101_64X4D_Weights", Bottleneck, [3, 4, 23, 3], "IMAGENET1K_V1",
        {"IMAGENET1K_V1": "resnext101_64x4d-173b62eb.pth"}, groups=64, width_per_group=4)
_define("wide_resnet101_2", "Wide_ResNet101_2_Weights", Bottleneck, [3, 4, 23, 3], "IMAGENET1K_V2",
        {"IMAGENET1K_V1": "wide_resnet101_2-32ee1156.pth", "IMAGENET1K_V2": "wide_resnet101_2-d733dc28.pth"},
        width_per_group=128)
