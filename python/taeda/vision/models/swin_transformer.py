"""Swin transformers: attention among the squares of a window, and windows that move from block to block (Liu et al.,
arXiv:2103.14030; with cosines and computed biases arXiv:2111.09883)."""

import functools
import math

from ... import _C, nn
from ...fx import wrap
from ...nn import functional as F
from ..ops.drops import StochasticDepth
from ..ops.misc import MLP, Permute
from ._weights import defined

__all__ = ["SwinTransformer"]


def _four_together(x):
    """[..., H, W, C] with the channels of each 2 x 2 squares beside one another: [..., H / 2, W / 2, 4 C]."""
    height, width = x.shape[-3:-1]
    x = F.pad(x, (0, 0, 0, width % 2, 0, height % 2))
    return _C.cat([x[..., row::2, column::2, :] for column in (0, 1) for row in (0, 1)], -1)


class PatchMerging(nn.Module):
    """Half as many squares each way, with twice the channels."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        return self.reduction(self.norm(_four_together(x)))


class PatchMergingV2(nn.Module):
    """PatchMerging that normalizes what it gives instead of what it gets."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x):
        return self.norm(self.reduction(_four_together(x)))


def _to_windows(x, window):
    """[N, H, W, C] as [N * windows, squares of a window, C]."""
    n, height, width, channels = x.shape
    x = x.view(n, height // window[0], window[0], width // window[1], window[1], channels)
    return x.transpose(2, 3).reshape(-1, window[0] * window[1], channels)


def _from_windows(x, window, height, width):
    """What `_to_windows` took apart."""
    x = x.view(-1, height // window[0], width // window[1], *window, x.shape[-1])
    return x.transpose(2, 3).reshape(x.shape[0], height, width, x.shape[-1])


def _neighbours(x, height, width, window, shift):
    """[windows, L, L]: 0 where two squares of a window were neighbours before the picture was moved, else -100."""
    parts = x.new_zeros((1, height, width, 1))
    for axis, (size, by) in enumerate(zip(window, shift)):
        for number, part in enumerate((slice(-size, -by), slice(-by, None)) if by else (slice(-size, None),), 1):
            parts[(slice(None),) * (axis + 1) + (part,)] += number * 3 ** axis
    numbers = _to_windows(parts, window)[..., 0]
    return (numbers[:, None] != numbers[:, :, None]).to(x.dtype) * -100.0


def _queries_keys_values(x, weight, bias, heads, cosine):
    """Three tensors [windows, heads, L, channels of a head]; cosines ask for keys without a bias."""
    if cosine and bias is not None:
        size = bias.numel() // 3
        bias = _C.cat([bias[:size], _C.zeros_like(bias[:size]), bias[2 * size:]])
    return F.linear(x, weight, bias).view(*x.shape[:2], 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)


def shifted_window_attention(input, qkv_weight, proj_weight, relative_position_bias, window_size, num_heads, shift_size,
                             attention_dropout=0.0, dropout=0.0, qkv_bias=None, proj_bias=None, logit_scale=None,
                             training=True):
    """Attention of [N, H, W, C] among the squares of each window, after the picture moved by `shift_size` around its borders;
    with `logit_scale` by cosines."""
    height, width = input.shape[1:3]
    x = F.pad(input, (0, 0, 0, -width % window_size[1], 0, -height % window_size[0]))
    sides = tuple(x.shape[1:3])
    shift = [0 if size >= side else by for size, side, by in zip(window_size, sides, shift_size)]
    if any(shift):
        x = _C.roll(x, [-by for by in shift], (1, 2))
    windows = _to_windows(x, window_size)
    q, k, v = _queries_keys_values(windows, qkv_weight, qkv_bias, num_heads, logit_scale is not None)
    if logit_scale is None:
        scores = _C.matmul(q * q.shape[-1] ** -0.5, k.transpose(-2, -1))
    else:
        scores = _C.matmul(F.normalize(q, dim=-1), F.normalize(k, dim=-1).transpose(-2, -1))
        scores = scores * logit_scale.clamp(max=math.log(100.0)).exp()
    scores = scores + relative_position_bias
    if any(shift):
        hidden = _neighbours(x, *sides, window_size, shift)
        scores = (scores.view(-1, hidden.shape[0], *scores.shape[1:]) + hidden[:, None]).view(scores.shape)
    weights = F.dropout(F.softmax(scores, dim=-1), attention_dropout, training)
    made = _C.matmul(weights, v).transpose(1, 2).reshape(windows.shape)
    made = F.dropout(F.linear(made, proj_weight, proj_bias), dropout, training)
    made = _from_windows(made, window_size, *sides)
    if any(shift):
        made = _C.roll(made, shift, (1, 2))
    return made[:, :height, :width].contiguous()


def _for_pairs(table, index, window):
    """[1, heads, L, L] of a table with a row for each distance of two squares."""
    squares = window[0] * window[1]
    return table[index].view(squares, squares, -1).permute(2, 0, 1).contiguous()[None]


for _name in ("_four_together", "_for_pairs", "shifted_window_attention"):  # sizes decide in them
    wrap(_name)


class ShiftedWindowAttention(nn.Module):
    """shifted_window_attention with its weights, and a learned bias for each distance of two squares."""

    def __init__(self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0,
                 dropout=0.0):
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size, self.shift_size, self.num_heads = window_size, shift_size, num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self):
        distances = math.prod(2 * size - 1 for size in self.window_size)
        self.relative_position_bias_table = nn.Parameter(_C.zeros(distances, self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self):
        height, width = self.window_size
        rows, columns = (_C.arange(n) for n in (height, width))
        rows = rows.repeat_interleave(width)
        columns = columns.repeat(height)
        down = rows[:, None] - rows + height - 1
        right = columns[:, None] - columns + width - 1
        self.register_buffer("relative_position_index", (down * (2 * width - 1) + right).flatten())

    def get_relative_position_bias(self):
        return _for_pairs(self.relative_position_bias_table, self.relative_position_index, self.window_size)

    def forward(self, x):
        return shifted_window_attention(
            x, self.qkv.weight, self.proj.weight, self.get_relative_position_bias(), self.window_size, self.num_heads,
            shift_size=self.shift_size, attention_dropout=self.attention_dropout, dropout=self.dropout,
            qkv_bias=self.qkv.bias, proj_bias=self.proj.bias, logit_scale=getattr(self, "logit_scale", None),
            training=self.training)


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Attention by cosines, with biases that a small network computes from distances."""

    def __init__(self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0,
                 dropout=0.0):
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout)
        self.logit_scale = nn.Parameter(_C.log(10 * _C.ones(num_heads, 1, 1)))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 512, bias=True), nn.ReLU(inplace=True),
                                     nn.Linear(512, num_heads, bias=False))
        if qkv_bias:
            self.qkv.bias.data[dim:2 * dim].zero_()

    def define_relative_position_bias_table(self):
        steps = [_C.arange(-(n - 1), n, dtype=_C.float32) / (n - 1) * 8 for n in self.window_size]
        steps = [s.sign() * (s.abs() + 1.0).log2() / 3.0 for s in steps]
        height, width = len(steps[0]), len(steps[1])
        table = _C.stack([steps[0][:, None].expand(height, width), steps[1].expand(height, width)], -1)
        self.register_buffer("relative_coords_table", table[None])

    def get_relative_position_bias(self):
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        return 16 * _C.sigmoid(_for_pairs(table, self.relative_position_index, self.window_size))


class SwinTransformerBlock(nn.Module):
    """Attention and two linear layers, each behind a normalization and beside the identity."""

    def __init__(self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
                 stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttention):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for m in self.mlp.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_uniform_(m.weight)
                if m.bias is not None:
                    nn.init.normal_(m.bias, std=1e-6)

    def forward(self, x):
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """SwinTransformerBlock with the normalizations behind."""

    def __init__(self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
                 stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttentionV2):
        super().__init__(dim, num_heads, window_size, shift_size, mlp_ratio, dropout, attention_dropout,
                         stochastic_depth_prob, norm_layer, attn_layer)

    def forward(self, x):
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(nn.Module):
    """Squares of `patch_size` pixels, and stages of `depths` blocks with a PatchMerging between them."""

    def __init__(self, patch_size, embed_dim, depths, num_heads, window_size, mlp_ratio=4.0, dropout=0.0,
                 attention_dropout=0.0, stochastic_depth_prob=0.1, num_classes=1000, norm_layer=None, block=None,
                 downsample_layer=PatchMerging):
        super().__init__()
        self.num_classes = num_classes
        block = block or SwinTransformerBlock
        norm_layer = norm_layer or functools.partial(nn.LayerNorm, eps=1e-5)
        size = tuple(patch_size[:2])
        layers = [nn.Sequential(nn.Conv2d(3, embed_dim, kernel_size=size, stride=size), Permute([0, 2, 3, 1]),
                                norm_layer(embed_dim))]
        number, width = 0, embed_dim
        for i, (depth, heads) in enumerate(zip(depths, num_heads)):
            stage = []
            for j in range(depth):
                stage.append(block(width, heads, window_size=window_size,
                                   shift_size=[w // 2 if j % 2 else 0 for w in window_size], mlp_ratio=mlp_ratio,
                                   dropout=dropout, attention_dropout=attention_dropout,
                                   stochastic_depth_prob=stochastic_depth_prob * float(number) / (sum(depths) - 1),
                                   norm_layer=norm_layer))
                number += 1
            layers.append(nn.Sequential(*stage))
            if i + 1 < len(depths):
                layers.append(downsample_layer(width, norm_layer))
                width *= 2
        self.features = nn.Sequential(*layers)
        self.norm = norm_layer(width)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(width, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.trunc_normal_(m.weight, std=0.02)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


def _define(name, weights, url, width, depths, heads, window, stochastic_depth_prob, **parts):
    @defined(name, weights, f"A Swin transformer with {sum(depths)} blocks and windows of {window} squares.",
              {"IMAGENET1K_V1": url})
    def build(**kwargs):
        chance = kwargs.pop("stochastic_depth_prob", stochastic_depth_prob)
        return SwinTransformer([4, 4], width, depths, heads, [window, window], stochastic_depth_prob=chance,
                               **{**parts, **kwargs})


_SECOND = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2}
_define("swin_t", "Swin_T_Weights", "swin_t-704ceda3.pth", 96, [2, 2, 6, 2], [3, 6, 12, 24], 7, 0.2)
_define("swin_s", "Swin_S_Weights", "swin_s-5e29d889.pth", 96, [2, 2, 18, 2], [3, 6, 12, 24], 7, 0.3)
_define("swin_b", "Swin_B_Weights", "swin_b-68c6b09e.pth", 128, [2, 2, 18, 2], [4, 8, 16, 32], 7, 0.5)
_define("swin_v2_t", "Swin_V2_T_Weights", "swin_v2_t-b137f0e2.pth", 96, [2, 2, 6, 2], [3, 6, 12, 24], 8, 0.2, **_SECOND)
_define("swin_v2_s", "Swin_V2_S_Weights", "swin_v2_s-637d8ceb.pth", 96, [2, 2, 18, 2], [3, 6, 12, 24], 8, 0.3, **_SECOND)
_define("swin_v2_b", "Swin_V2_B_Weights", "swin_v2_b-781e5279.pth", 128, [2, 2, 18, 2], [4, 8, 16, 32], 8, 0.5, **_SECOND)
