"""Vision transformers: squares of a picture as words (Dosovitskiy et al., arXiv:2010.11929)."""

import collections
import functools
import math
import typing

from ... import _C, nn
from ..ops.misc import MLP, Conv2dNormActivation
from ._weights import defined

__all__ = ["VisionTransformer"]


class ConvStemConfig(typing.NamedTuple):
    """A convolution before the transformer."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: typing.Any = nn.BatchNorm2d
    activation_layer: typing.Any = nn.ReLU


class MLPBlock(MLP):
    """Two linear layers."""

    _version = 2

    def __init__(self, in_dim, mlp_dim, dropout):
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_uniform_(m.weight)
                nn.init.normal_(m.bias, std=1e-6)

    def _load_from_state_dict(self, state_dict, prefix, *others):
        for old, new in (("linear_1", "0"), ("linear_2", "3")):  # their names in files of the first version
            for kind in ("weight", "bias"):
                if f"{prefix}{old}.{kind}" in state_dict:
                    state_dict[f"{prefix}{new}.{kind}"] = state_dict.pop(f"{prefix}{old}.{kind}")
        super()._load_from_state_dict(state_dict, prefix, *others)


class EncoderBlock(nn.Module):
    """Attention and two linear layers, each behind a normalization and beside the identity."""

    def __init__(self, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer):
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input):
        if input.dim() != 3:
            raise AssertionError(f"Expected (batch_size, seq_length, hidden_dim) got {input.shape}")
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Positions, blocks, and a normalization."""

    def __init__(self, seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer):
        super().__init__()
        self.pos_embedding = nn.Parameter(_C.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(collections.OrderedDict(
            (f"encoder_layer_{i}", EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer))
            for i in range(num_layers)))
        self.ln = norm_layer(hidden_dim)

    def forward(self, input):
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """Squares of `patch_size` of pictures of `image_size`, an encoder, and the classes of what the first word becomes."""

    def __init__(self, image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, dropout=0.0, attention_dropout=0.0,
                 num_classes=1000, representation_size=None, norm_layer=functools.partial(nn.LayerNorm, eps=1e-6),
                 conv_stem_configs=None):
        super().__init__()
        if image_size % patch_size:
            raise RuntimeError("Input shape indivisible by patch size!")
        self.image_size, self.patch_size, self.hidden_dim, self.mlp_dim = image_size, patch_size, hidden_dim, mlp_dim
        self.attention_dropout, self.dropout, self.num_classes = attention_dropout, dropout, num_classes
        self.representation_size, self.norm_layer = representation_size, norm_layer
        self.conv_proj = self._projection(conv_stem_configs)
        self.class_token = nn.Parameter(_C.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
                               norm_layer)
        heads = collections.OrderedDict()
        if representation_size is not None:
            heads["pre_logits"] = nn.Linear(hidden_dim, representation_size)
            heads["act"] = nn.Tanh()
        heads["head"] = nn.Linear(representation_size or hidden_dim, num_classes)
        self.heads = nn.Sequential(heads)
        self._first_weights()

    def _projection(self, stem):
        if stem is None:
            return nn.Conv2d(3, self.hidden_dim, kernel_size=self.patch_size, stride=self.patch_size)
        made, width = nn.Sequential(), 3
        for i, layer in enumerate(stem):
            made.add_module(f"conv_bn_relu_{i}", Conv2dNormActivation(
                width, layer.out_channels, kernel_size=layer.kernel_size, stride=layer.stride, norm_layer=layer.norm_layer,
                activation_layer=layer.activation_layer))
            width = layer.out_channels
        made.add_module("conv_last", nn.Conv2d(width, self.hidden_dim, kernel_size=1))
        return made

    def _first_weights(self):
        last = self.conv_proj if isinstance(self.conv_proj, nn.Conv2d) else self.conv_proj.conv_last
        if last is self.conv_proj:
            fan_in = last.in_channels * last.kernel_size[0] * last.kernel_size[1]
            nn.init.trunc_normal_(last.weight, std=math.sqrt(1 / fan_in))
        else:
            nn.init.normal_(last.weight, mean=0.0, std=math.sqrt(2.0 / last.out_channels))
        nn.init.zeros_(last.bias)
        if hasattr(self.heads, "pre_logits"):
            nn.init.trunc_normal_(self.heads.pre_logits.weight, std=math.sqrt(1 / self.heads.pre_logits.in_features))
            nn.init.zeros_(self.heads.pre_logits.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def _process_input(self, x):
        if tuple(x.shape[2:]) != (self.image_size, self.image_size):
            side = "height" if x.shape[2] != self.image_size else "width"
            found = x.shape[2] if side == "height" else x.shape[3]
            raise AssertionError(f"Wrong image {side}! Expected {self.image_size} but got {found}!")
        return self.conv_proj(x).flatten(2).permute(0, 2, 1)

    def forward(self, x):
        x = self._process_input(x)
        x = _C.cat([self.class_token.expand(x.shape[0], -1, -1), x], 1)
        return self.heads(self.encoder(x)[:, 0])


def interpolate_embeddings(image_size, patch_size, model_state, interpolation_mode="bicubic", reset_heads=False):
    """Weights for pictures of another size: positions are interpolated; with `reset_heads` without those of the classes."""
    positions = model_state["encoder.pos_embedding"]
    if positions.shape[0] != 1:
        raise ValueError(f"Unexpected position embedding shape: {positions.shape}")
    side, old = image_size // patch_size, math.isqrt(positions.shape[1] - 1)
    if old * old != positions.shape[1] - 1:
        raise ValueError(f"seq_length is not a perfect square! Instead got seq_length_1d * seq_length_1d = {old * old} and "
                         f"seq_length = {positions.shape[1] - 1}")
    if side == old:
        return model_state
    first, rest = positions[:, :1], positions[:, 1:].permute(0, 2, 1).reshape(1, -1, old, old)
    rest = nn.functional.interpolate(rest, size=side, mode=interpolation_mode, align_corners=True)
    model_state["encoder.pos_embedding"] = _C.cat([first, rest.flatten(2).permute(0, 2, 1)], 1)
    return {k: v for k, v in model_state.items() if not (reset_heads and k.startswith("heads"))}


def _define(name, weights, default, urls, patch_size, num_layers, num_heads, hidden_dim, mlp_dim):
    @defined(name, weights, f"A vision transformer with squares of {patch_size} and {num_layers} blocks.", urls, default)
    def build(**kwargs):
        return VisionTransformer(kwargs.pop("image_size", 224), patch_size, num_layers, num_heads, hidden_dim, mlp_dim,
                                 **kwargs)


_define("vit_b_16", "ViT_B_16_Weights", "IMAGENET1K_V1", {
    "IMAGENET1K_V1": "vit_b_16-c867db91.pth", "IMAGENET1K_SWAG_E2E_V1": "vit_b_16_swag-9ac1b537.pth",
    "IMAGENET1K_SWAG_LINEAR_V1": "vit_b_16_lc_swag-4e70ced5.pth"}, 16, 12, 12, 768, 3072)
_define("vit_b_32", "ViT_B_32_Weights", "IMAGENET1K_V1", {"IMAGENET1K_V1": "vit_b_32-d86f8d99.pth"}, 32, 12, 12, 768, 3072)
_define("vit_l_16", "ViT_L_16_Weights", "IMAGENET1K_V1", {
    "IMAGENET1K_V1": "vit_l_16-852ce7e3.pth", "IMAGENET1K_SWAG_E2E_V1": "vit_l_16_swag-4f3808c9.pth",
    "IMAGENET1K_SWAG_LINEAR_V1": "vit_l_16_lc_swag-4d563306.pth"}, 16, 24, 16, 1024, 4096)
_define("vit_l_32", "ViT_L_32_Weights", "IMAGENET1K_V1", {"IMAGENET1K_V1": "vit_l_32-c7638314.pth"}, 32, 24, 16, 1024, 4096)
_define("vit_h_14", "ViT_H_14_Weights", "IMAGENET1K_SWAG_E2E_V1", {
    "IMAGENET1K_SWAG_E2E_V1": "vit_h_14_swag-80465313.pth",
    "IMAGENET1K_SWAG_LINEAR_V1": "vit_h_14_lc_swag-c1eb923e.pth"}, 14, 32, 16, 1280, 5120)
