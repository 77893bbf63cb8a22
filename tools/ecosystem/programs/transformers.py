import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from .common import losses, numbers

IDS = torch.arange(24).reshape(2, 12)


def forward(folder):
    model = BertModel(BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                 intermediate_size=64)).eval()
    out = model(IDS, attention_mask=(IDS < 20).long())
    return numbers(out.last_hidden_state, out.pooler_output)


def training(folder):
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=4))
    return losses(model.parameters(), lambda: model(IDS, labels=IDS).loss, lr=1e-3, optimizer=torch.optim.AdamW)


def saving(folder):
    config = LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                         num_key_value_heads=2, pad_token_id=0)
    LlamaForCausalLM(config).save_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(folder)
    return numbers(model.generate(IDS[:, :4], max_new_tokens=6, do_sample=False), model(IDS).logits, each=20)
