"""RAFT: flow that is refined again and again by looking up how alike pixels are (Teed, Deng, arXiv:2003.12039)."""

import functools

from .... import _C, nn
from ....nn import functional as F
from ...ops.misc import Conv2dNormActivation
from .._weights import builder, weights_of
from ._flow import grid_sample, make_coords_grid, upsample_flow

__all__ = ["RAFT", "Raft_Large_Weights", "Raft_Small_Weights", "raft_large", "raft_small"]

# Biases before normalization have an effect where batch norms no longer follow the batch, as RAFT's do after the first data.
_Conv = functools.partial(Conv2dNormActivation, bias=True)
_Plain = functools.partial(Conv2dNormActivation, norm_layer=None)


def _shortcut(in_channels, out_channels, norm_layer, stride, always=False):
    if stride == 1 and not always:
        return nn.Identity()
    return _Conv(in_channels, out_channels, norm_layer=norm_layer, kernel_size=1, stride=stride, activation_layer=None)


class ResidualBlock(nn.Module):
    """Two convolutions beside what goes around them."""

    def __init__(self, in_channels, out_channels, *, norm_layer, stride=1, always_project=False):
        super().__init__()
        self.convnormrelu1 = _Conv(in_channels, out_channels, norm_layer=norm_layer, stride=stride)
        self.convnormrelu2 = _Conv(out_channels, out_channels, norm_layer=norm_layer)
        self.downsample = _shortcut(in_channels, out_channels, norm_layer, stride, always_project)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.downsample(x) + self.convnormrelu2(self.convnormrelu1(x)))


class BottleneckBlock(nn.Module):
    """The same with three convolutions, of which those between have a quarter of the channels."""

    def __init__(self, in_channels, out_channels, *, norm_layer, stride=1):
        super().__init__()
        narrow = out_channels // 4
        self.convnormrelu1 = _Conv(in_channels, narrow, norm_layer=norm_layer, kernel_size=1)
        self.convnormrelu2 = _Conv(narrow, narrow, norm_layer=norm_layer, stride=stride)
        self.convnormrelu3 = _Conv(narrow, out_channels, norm_layer=norm_layer, kernel_size=1)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = _shortcut(in_channels, out_channels, norm_layer, stride)

    def forward(self, x):
        return self.relu(self.downsample(x) + self.convnormrelu3(self.convnormrelu2(self.convnormrelu1(x))))


class FeatureEncoder(nn.Module):
    """Features of a picture, one for 8 by 8 pixels."""

    def __init__(self, *, block=ResidualBlock, layers=(64, 64, 96, 128, 256), strides=(2, 1, 2, 2), norm_layer=nn.BatchNorm2d):
        super().__init__()
        if len(layers) != 5:
            raise ValueError(f"The expected number of layers is 5, instead got {len(layers)}")
        self.convnormrelu = _Conv(3, layers[0], norm_layer=norm_layer, kernel_size=7, stride=strides[0])
        for i in range(1, 4):
            setattr(self, f"layer{i}", nn.Sequential(block(layers[i - 1], layers[i], norm_layer=norm_layer, stride=strides[i]),
                                                     block(layers[i], layers[i], norm_layer=norm_layer, stride=1)))
        self.conv = nn.Conv2d(layers[3], layers[4], kernel_size=1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        self.output_dim, self.downsample_factor = layers[-1], 2 ** sum(stride == 2 for stride in strides)

    def forward(self, x):
        return self.conv(self.layer3(self.layer2(self.layer1(self.convnormrelu(x)))))


class MotionEncoder(nn.Module):
    """What the flow so far and the likeness of pixels say together; the flow itself is the last two channels."""

    def __init__(self, *, in_channels_corr, corr_layers=(256, 192), flow_layers=(128, 64), out_channels=128):
        super().__init__()
        if len(flow_layers) != 2:
            raise ValueError(f"The expected number of flow_layers is 2, instead got {len(flow_layers)}")
        if len(corr_layers) not in (1, 2):
            raise ValueError(f"The number of corr_layers should be 1 or 2, instead got {len(corr_layers)}")
        self.convcorr1 = _Plain(in_channels_corr, corr_layers[0], kernel_size=1)
        self.convcorr2 = _Plain(*corr_layers, kernel_size=3) if len(corr_layers) == 2 else nn.Identity()
        self.convflow1 = _Plain(2, flow_layers[0], kernel_size=7)
        self.convflow2 = _Plain(*flow_layers, kernel_size=3)
        self.conv = _Plain(corr_layers[-1] + flow_layers[-1], out_channels - 2, kernel_size=3)
        self.out_channels = out_channels

    def forward(self, flow, corr_features):
        likeness = self.convcorr2(self.convcorr1(corr_features))
        return _C.cat([self.conv(_C.cat([likeness, self.convflow2(self.convflow1(flow))], dim=1)), flow], dim=1)


class ConvGRU(nn.Module):
    """A GRU of convolutions."""

    def __init__(self, *, input_size, hidden_size, kernel_size, padding):
        super().__init__()
        for name in ("convz", "convr", "convq"):
            setattr(self, name, nn.Conv2d(hidden_size + input_size, hidden_size, kernel_size=kernel_size, padding=padding))

    def forward(self, h, x):
        both = _C.cat([h, x], dim=1)
        update, reset = self.convz(both).sigmoid(), self.convr(both).sigmoid()
        return (1 - update) * h + update * self.convq(_C.cat([reset * h, x], dim=1)).tanh()


class RecurrentBlock(nn.Module):
    """One or two ConvGRUs, along rows and along columns."""

    def __init__(self, *, input_size, hidden_size, kernel_size=((1, 5), (5, 1)), padding=((0, 2), (2, 0))):
        super().__init__()
        if len(kernel_size) != len(padding):
            raise ValueError("kernel_size should have the same length as padding, instead got len(kernel_size) = "
                             f"{len(kernel_size)} and len(padding) = {len(padding)}")
        if len(kernel_size) not in (1, 2):
            raise ValueError(f"kernel_size should either 1 or 2, instead got {len(kernel_size)}")
        for i, (kernel, pad) in enumerate(zip(kernel_size, padding)):
            setattr(self, f"convgru{i + 1}", ConvGRU(input_size=input_size, hidden_size=hidden_size, kernel_size=kernel,
                                                     padding=pad))
        self.hidden_size = hidden_size

    def forward(self, h, x):
        for gru in self.children():
            h = gru(h, x)
        return h


class FlowHead(nn.Module):
    """How the flow changes."""

    def __init__(self, *, in_channels, hidden_size):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, hidden_size, 3, padding=1)
        self.conv2 = nn.Conv2d(hidden_size, 2, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.conv2(self.relu(self.conv1(x)))


class UpdateBlock(nn.Module):
    """One step: the next hidden state and how the flow changes."""

    def __init__(self, *, motion_encoder, recurrent_block, flow_head):
        super().__init__()
        self.motion_encoder, self.recurrent_block, self.flow_head = motion_encoder, recurrent_block, flow_head
        self.hidden_state_size = recurrent_block.hidden_size

    def forward(self, hidden_state, context, corr_features, flow):
        motion = self.motion_encoder(flow, corr_features)
        hidden_state = self.recurrent_block(hidden_state, _C.cat([context, motion], dim=1))
        return hidden_state, self.flow_head(hidden_state)


class MaskPredictor(nn.Module):
    """Weights of neighbours in a flow of 8 by 8 times as many pixels; `multiplier` holds their gradients down."""

    def __init__(self, *, in_channels, hidden_size, multiplier=0.25):
        super().__init__()
        self.convrelu = _Plain(in_channels, hidden_size, kernel_size=3)
        self.conv = nn.Conv2d(hidden_size, 8 * 8 * 9, 1, padding=0)
        self.multiplier = multiplier

    def forward(self, x):
        return self.multiplier * self.conv(self.convrelu(x))


class CorrBlock(nn.Module):
    """How alike each pixel of one picture is to all of another, in `num_levels` sizes of the latter, and what that is within
    `radius` of given coordinates."""

    def __init__(self, *, num_levels=4, radius=4):
        super().__init__()
        self.num_levels, self.radius = num_levels, radius
        self.corr_pyramid = []
        self.out_channels = num_levels * (2 * radius + 1) ** 2

    def build_pyramid(self, fmap1, fmap2):
        if fmap1.shape != fmap2.shape:
            raise ValueError(f"Input feature maps should have the same shape, instead got {fmap1.shape} (fmap1.shape) != "
                             f"{fmap2.shape} (fmap2.shape)")
        least = 2 ** self.num_levels  # two values at the smallest size, between which there is something to sample
        if any(side < least for side in fmap1.shape[-2:]):
            raise ValueError("Feature maps are too small to be down-sampled by the correlation pyramid. H and W of feature "
                             f"maps should be at least {least}; got: {fmap1.shape[-2:]}. Remember that input images to the "
                             f"model are downsampled by 8, so that means their dimensions should be at least 8 * {least} = "
                             f"{8 * least}.")
        batch, channels, h, w = fmap1.shape
        volume = (fmap1.flatten(2).transpose(1, 2) @ fmap2.flatten(2)).view(batch * h * w, 1, h, w) / channels ** 0.5
        self.corr_pyramid = [volume]
        for _ in range(self.num_levels - 1):
            volume = F.avg_pool2d(volume, kernel_size=2, stride=2)
            self.corr_pyramid.append(volume)

    def index_pyramid(self, centroids_coords):
        batch, _, h, w = centroids_coords.shape
        side = 2 * self.radius + 1
        steps = _C.linspace(-self.radius, self.radius, side, device=centroids_coords.device)
        around = _C.stack([steps.view(side, 1).expand(side, side), steps.expand(side, side)], -1)[None]
        middle = centroids_coords.permute(0, 2, 3, 1).reshape(batch * h * w, 1, 1, 2)
        found = []
        for volume in self.corr_pyramid:
            found.append(grid_sample(volume, middle + around, align_corners=True).view(batch, h, w, -1))
            middle = middle / 2
        return _C.cat(found, dim=-1).permute(0, 3, 1, 2).contiguous()


class RAFT(nn.Module):
    """Two pictures [batch, 3, height, width], sides multiples of 8; it gives the flow from the first to the second after each
    of `num_flow_updates` steps."""

    def __init__(self, *, feature_encoder, context_encoder, corr_block, update_block, mask_predictor=None):
        super().__init__()
        self.feature_encoder, self.context_encoder = feature_encoder, context_encoder
        self.corr_block, self.update_block, self.mask_predictor = corr_block, update_block, mask_predictor
        if not hasattr(update_block, "hidden_state_size"):
            raise ValueError("The update_block parameter should expose a 'hidden_state_size' attribute.")

    def _context(self, image, size):
        """The first hidden state, and what all steps see of the first picture."""
        out = self.context_encoder(image)
        if out.shape[-2:] != size:
            raise ValueError("The context encoder should downsample H and W by 8")
        hidden = self.update_block.hidden_state_size
        if out.shape[1] <= hidden:
            raise ValueError(f"The context encoder outputs {out.shape[1]} channels, but it should have at strictly more than "
                             f"hidden_state={hidden} channels")
        state, context = out.split([hidden, out.shape[1] - hidden], dim=1)
        return state.tanh(), context.relu()

    def forward(self, image1, image2, num_flow_updates=12):
        batch, _, h, w = image1.shape
        if (h, w) != image2.shape[-2:]:
            raise ValueError(f"input images should have the same shape, instead got ({h}, {w}) != {image2.shape[-2:]}")
        if h % 8 or w % 8:
            raise ValueError(f"input image H and W should be divisible by 8, instead got {h} (h) and {w} (w)")
        size = h // 8, w // 8
        features = self.feature_encoder(_C.cat([image1, image2])).chunk(2)
        if features[0].shape[-2:] != size:
            raise ValueError("The feature encoder should downsample H and W by 8")
        self.corr_block.build_pyramid(*features)
        state, context = self._context(image1, size)
        first = make_coords_grid(batch, *size, device=features[0].device)
        coords, flows = first, []
        for _ in range(num_flow_updates):
            coords = coords.detach()  # gradients do not go from step to step through coordinates
            corr_features = self.corr_block.index_pyramid(centroids_coords=coords)
            state, change = self.update_block(state, context, corr_features, coords - first)
            coords = coords + change
            mask = None if self.mask_predictor is None else self.mask_predictor(state)
            flows.append(upsample_flow(coords - first, mask))
        return flows


def _raft(layers, block, norms, radius, motion, hidden, gru, head, mask, **parts):
    """A RAFT of these widths; `parts` take the place of parts by their names."""
    for name, norm in zip(("feature_encoder", "context_encoder"), norms):
        width = layers[-1] if name == "feature_encoder" else sum(hidden)
        parts[name] = parts.get(name) or FeatureEncoder(block=block, layers=(*layers[:-1], width), norm_layer=norm)
    parts["corr_block"] = parts.get("corr_block") or CorrBlock(num_levels=4, radius=radius)
    if parts.get("update_block") is None:
        encoder = MotionEncoder(in_channels_corr=parts["corr_block"].out_channels, **motion)
        recurrent = RecurrentBlock(input_size=encoder.out_channels + hidden[1], hidden_size=hidden[0], **gru)
        parts["update_block"] = UpdateBlock(motion_encoder=encoder, recurrent_block=recurrent,
                                            flow_head=FlowHead(in_channels=hidden[0], hidden_size=head))
    if parts.get("mask_predictor") is None and mask:
        parts["mask_predictor"] = MaskPredictor(in_channels=hidden[0], hidden_size=256)
    return RAFT(**parts)


Raft_Large_Weights = weights_of(
    "Raft_Large_Weights", "C_T_SKHT_V2", C_T_V1="raft_large_C_T_V1-22a6c225.pth", C_T_V2="raft_large_C_T_V2-1bb1363a.pth",
    C_T_SKHT_V1="raft_large_C_T_SKHT_V1-0b8c9e55.pth", C_T_SKHT_V2="raft_large_C_T_SKHT_V2-ff5fadd5.pth",
    C_T_SKHT_K_V1="raft_large_C_T_SKHT_K_V1-4a6a5039.pth", C_T_SKHT_K_V2="raft_large_C_T_SKHT_K_V2-b5c70766.pth")
Raft_Small_Weights = weights_of("Raft_Small_Weights", "C_T_V2", C_T_V1="raft_small_C_T_V1-ad48884c.pth",
                                C_T_V2="raft_small_C_T_V2-01064c6d.pth")


@builder(Raft_Large_Weights)
def raft_large(**kwargs):
    """RAFT."""
    return _raft((64, 64, 96, 128, 256), ResidualBlock, (nn.InstanceNorm2d, nn.BatchNorm2d), 4,
                 {"corr_layers": (256, 192), "flow_layers": (128, 64), "out_channels": 128}, (128, 128), {}, 256, True,
                 **kwargs)


@builder(Raft_Small_Weights)
def raft_small(**kwargs):
    """RAFT with a fifth of the weights."""
    return _raft((32, 32, 64, 96, 128), BottleneckBlock, (nn.InstanceNorm2d, None), 3,
                 {"corr_layers": (96,), "flow_layers": (64, 32), "out_channels": 82}, (96, 64),
                 {"kernel_size": (3,), "padding": (1,)}, 128, False, **kwargs)
