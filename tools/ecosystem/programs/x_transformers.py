import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper

from .common import copied_by_file, losses, numbers

IDS = torch.arange(24).reshape(2, 12)


def decoder():
    return TransformerWrapper(num_tokens=32, max_seq_len=16, attn_layers=Decoder(dim=32, depth=2, heads=2, attn_dim_head=16,
                                                                                 rotary_pos_emb=True, use_rmsnorm=True))


def forward(folder):
    model = TransformerWrapper(num_tokens=32, max_seq_len=16, attn_layers=Encoder(dim=32, depth=1, heads=2, attn_dim_head=16,
                                                                                  alibi_pos_bias=True, ff_glu=True))
    return numbers(model.eval()(IDS), each=8)


def training(folder):
    model = AutoregressiveWrapper(decoder())
    return losses(model.parameters(), lambda: model(IDS), lr=1e-3)


def saving(folder):
    model = AutoregressiveWrapper(copied_by_file(decoder(), decoder(), folder))
    return numbers(model.generate(IDS[:, :4], 6, temperature=0.0), model.net(IDS), each=12)
