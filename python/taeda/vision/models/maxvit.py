"""MaxViT: convolutions, attention in windows, and attention across a grid of windows (Tu et al., arXiv:2204.01697)."""

import collections
import functools
import math

from ... import _C, nn
from ...nn import functional as F
from ..ops.drops import StochasticDepth
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._weights import builder, weights_of

__all__ = ["MaxVit", "maxvit_t", "MaxVit_T_Weights"]


def _halved(size):
    """The sides behind a convolution of 3 x 3 with a stride of 2."""
    return tuple((n - 1) // 2 + 1 for n in size)


class MBConv(nn.Module):
    """Convolutions with more channels inside, beside the identity or, where sizes change, a mean and a convolution."""

    def __init__(self, in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer, norm_layer,
                 p_stochastic_dropout=0.0):
        super().__init__()
        self.proj = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            parts = [nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=1, bias=True)]
            if stride == 2:
                parts.insert(0, nn.AvgPool2d(kernel_size=3, stride=stride, padding=1))
            self.proj = nn.Sequential(*parts)
        inside = int(out_channels * expansion_ratio)
        self.stochastic_depth = (StochasticDepth(p_stochastic_dropout, mode="row") if p_stochastic_dropout else nn.Identity())
        layer = functools.partial(Conv2dNormActivation, activation_layer=activation_layer, norm_layer=norm_layer, inplace=None)
        self.layers = nn.Sequential(collections.OrderedDict(
            pre_norm=norm_layer(in_channels),
            conv_a=layer(in_channels, inside, kernel_size=1, padding=0),
            conv_b=layer(inside, inside, kernel_size=3, stride=stride, padding=1, groups=inside),
            squeeze_excitation=SqueezeExcitation(inside, int(out_channels * squeeze_ratio), activation=nn.SiLU),
            conv_c=nn.Conv2d(inside, out_channels, kernel_size=1, bias=True)))

    def forward(self, x):
        return self.proj(x) + self.stochastic_depth(self.layers(x))


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention of [N, groups, L, channels] within each group, with a learned bias for each distance in a square of L."""

    def __init__(self, feat_dim, head_dim, max_seq_len):
        super().__init__()
        if feat_dim % head_dim != 0:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads, self.head_dim, self.max_seq_len = feat_dim // head_dim, head_dim, max_seq_len
        self.size = math.isqrt(max_seq_len)
        self.to_qkv = nn.Linear(feat_dim, feat_dim * 3)
        self.scale_factor = feat_dim ** -0.5
        self.merge = nn.Linear(feat_dim, feat_dim)
        distances = 2 * self.size - 1
        self.relative_position_bias_table = nn.Parameter(_C.empty(distances * distances, self.n_heads, dtype=_C.float32))
        rows, columns = _C.arange(self.size).repeat_interleave(self.size), _C.arange(self.size).repeat(self.size)
        down, right = (at[:, None] - at + self.size - 1 for at in (rows, columns))
        self.register_buffer("relative_position_index", down * distances + right)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self):
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        return bias.view(self.max_seq_len, self.max_seq_len, -1).permute(2, 0, 1).contiguous()[None]

    def forward(self, x):
        n, groups, length, channels = x.shape
        q, k, v = (part.reshape(n, groups, length, self.n_heads, self.head_dim).transpose(2, 3)
                   for part in self.to_qkv(x).chunk(3, dim=-1))
        scores = _C.matmul(q, (k * self.scale_factor).transpose(-2, -1)) + self.get_relative_positional_bias()
        made = _C.matmul(F.softmax(scores, dim=-1), v)
        return self.merge(made.transpose(2, 3).reshape(n, groups, length, channels))


class SwapAxes(nn.Module):
    """Two dimensions in each other's place."""

    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def forward(self, x):
        return _C.swapaxes(x, self.a, self.b)


class WindowPartition(nn.Module):
    """[N, C, H, W] as [N, windows, p * p, C]."""

    def forward(self, x, p):
        n, channels, height, width = x.shape
        x = x.reshape(n, channels, height // p, p, width // p, p)
        return x.permute(0, 2, 4, 3, 5, 1).reshape(n, (height // p) * (width // p), p * p, channels)


class WindowDepartition(nn.Module):
    """What WindowPartition took apart."""

    def forward(self, x, p, h_partitions, w_partitions):
        n, channels = x.shape[0], x.shape[-1]
        x = x.reshape(n, h_partitions, w_partitions, p, p, channels).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(n, channels, h_partitions * p, w_partitions * p)


class PartitionAttentionLayer(nn.Module):
    """Attention in windows of `partition_size`, or ("grid") among the pixels that have the same place in as many windows."""

    def __init__(self, in_channels, head_dim, partition_size, partition_type, grid_size, mlp_ratio, activation_layer,
                 norm_layer, attention_dropout, mlp_dropout, p_stochastic_dropout):
        super().__init__()
        self.n_heads, self.head_dim, self.n_partitions = in_channels // head_dim, head_dim, grid_size[0] // partition_size
        self.partition_type, self.grid_size = partition_type, grid_size
        if partition_type not in ("grid", "window"):
            raise ValueError("partition_type must be either 'grid' or 'window'")
        grid = partition_type == "grid"
        self.p, self.g = (self.n_partitions, partition_size) if grid else (partition_size, self.n_partitions)
        self.partition_op, self.departition_op = WindowPartition(), WindowDepartition()
        self.partition_swap = SwapAxes(-2, -3) if grid else nn.Identity()
        self.departition_swap = SwapAxes(-2, -3) if grid else nn.Identity()
        self.attn_layer = nn.Sequential(
            norm_layer(in_channels), RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size ** 2),
            nn.Dropout(attention_dropout))
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels), nn.Linear(in_channels, in_channels * mlp_ratio), activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels), nn.Dropout(mlp_dropout))
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, mode="row")

    def forward(self, x):
        if any(n % self.p for n in self.grid_size):
            raise AssertionError(f"Grid size must be divisible by partition size. Got grid size of {self.grid_size} and "
                                 f"partition size of {self.p}")
        x = self.partition_swap(self.partition_op(x, self.p))
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        return self.departition_op(self.departition_swap(x), self.p, *(n // self.p for n in self.grid_size))


class MaxVitLayer(nn.Module):
    """MBConv and the two attentions."""

    def __init__(self, in_channels, out_channels, squeeze_ratio, expansion_ratio, stride, norm_layer, activation_layer,
                 head_dim, mlp_ratio, mlp_dropout, attention_dropout, p_stochastic_dropout, partition_size, grid_size):
        super().__init__()
        layers = collections.OrderedDict()
        layers["MBconv"] = MBConv(in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer,
                                  norm_layer, p_stochastic_dropout)
        for kind in ("window", "grid"):
            layers[f"{kind}_attention"] = PartitionAttentionLayer(
                out_channels, head_dim, partition_size, kind, grid_size, mlp_ratio, activation_layer, nn.LayerNorm,
                attention_dropout, mlp_dropout, p_stochastic_dropout)
        self.layers = nn.Sequential(layers)

    def forward(self, x):
        return self.layers(x)


class MaxVitBlock(nn.Module):
    """`n_layers` layers, of which the first halves the sides."""

    def __init__(self, in_channels, out_channels, squeeze_ratio, expansion_ratio, norm_layer, activation_layer, head_dim,
                 mlp_ratio, mlp_dropout, attention_dropout, partition_size, input_grid_size, n_layers, p_stochastic):
        super().__init__()
        if len(p_stochastic) != n_layers:
            raise ValueError(f"p_stochastic must have length n_layers={n_layers}, got p_stochastic={p_stochastic}.")
        self.layers = nn.ModuleList()
        self.grid_size = _halved(input_grid_size)
        for i, p in enumerate(p_stochastic):
            self.layers.append(MaxVitLayer(
                out_channels if i else in_channels, out_channels, squeeze_ratio, expansion_ratio, 1 if i else 2, norm_layer,
                activation_layer, head_dim, mlp_ratio, mlp_dropout, attention_dropout, p, partition_size, self.grid_size))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class MaxVit(nn.Module):
    """Blocks of `block_channels` and `block_layers` on two convolutions, for pictures of `input_size` alone."""

    def __init__(self, input_size, stem_channels, partition_size, block_channels, block_layers, head_dim,
                 stochastic_depth_prob, norm_layer=None, activation_layer=nn.GELU, squeeze_ratio=0.25, expansion_ratio=4,
                 mlp_ratio=4, mlp_dropout=0.0, attention_dropout=0.0, num_classes=1000):
        super().__init__()
        norm_layer = norm_layer or functools.partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        sizes = [_halved(input_size)]
        for _ in block_channels:
            sizes.append(_halved(sizes[-1]))
        for i, size in enumerate(sizes[1:]):
            if any(n % partition_size for n in size):
                raise ValueError(f"Input size {size} of block {i} is not divisible by partition size {partition_size}. "
                                 "Consider changing the partition size or the input size.\n"
                                 f"Current configuration yields the following block input sizes: {sizes[1:]}.")
        self.stem = nn.Sequential(
            Conv2dNormActivation(3, stem_channels, 3, stride=2, norm_layer=norm_layer, activation_layer=activation_layer,
                                 bias=False, inplace=None),
            Conv2dNormActivation(stem_channels, stem_channels, 3, norm_layer=None, activation_layer=None, bias=True))
        self.partition_size = partition_size
        self.blocks = nn.ModuleList()
        total, first = sum(block_layers), 0
        chances = [i * (stochastic_depth_prob / max(total - 1, 1)) for i in range(total)]
        for i, (width, layers) in enumerate(zip(block_channels, block_layers)):
            self.blocks.append(MaxVitBlock(
                block_channels[i - 1] if i else stem_channels, width, squeeze_ratio, expansion_ratio, norm_layer,
                activation_layer, head_dim, mlp_ratio, mlp_dropout, attention_dropout, partition_size, sizes[i], layers,
                chances[first:first + layers]))
            first += layers
        width = block_channels[-1]
        self.classifier = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(width), nn.Linear(width, width),
                                        nn.Tanh(), nn.Linear(width, num_classes, bias=False))
        self._init_weights()

    def _init_weights(self):
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(m.weight, std=0.02)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)


MaxVit_T_Weights = weights_of("MaxVit_T_Weights", "IMAGENET1K_V1", IMAGENET1K_V1="maxvit_t-bc5ab103.pth")


@builder(MaxVit_T_Weights)
def maxvit_t(**kwargs):
    """The smallest MaxViT: eleven layers."""
    return MaxVit(kwargs.pop("input_size", (224, 224)), 64, 7, [64, 128, 256, 512], [2, 2, 5, 2], 32, 0.2, **kwargs)
