import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

from .common import losses, numbers

IDS = torch.arange(24).reshape(2, 12)


def base():
    torch.manual_seed(3)
    return GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=4))


def adapted():
    config = LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], fan_in_fan_out=True, task_type="CAUSAL_LM")
    return get_peft_model(base(), config)


def forward(folder):
    model = adapted().eval()
    return numbers(model(IDS).logits, *model.get_nb_trainable_parameters())


def training(folder):
    model = adapted()
    return losses([p for p in model.parameters() if p.requires_grad], lambda: model(IDS, labels=IDS).loss)


def saving(folder):
    model = adapted()
    losses([p for p in model.parameters() if p.requires_grad], lambda: model(IDS, labels=IDS).loss)
    model.save_pretrained(folder)
    again = PeftModel.from_pretrained(base(), folder).eval()
    return numbers(again(IDS).logits, again.merge_and_unload()(IDS).logits)
