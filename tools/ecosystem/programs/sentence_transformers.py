import torch
from sentence_transformers import SentenceTransformer, losses as st_losses
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizer

from .common import losses, numbers

TEXTS = ["a small dog", "the big cat", "a dog"]


def made(folder):
    """An encoder of sentences with a tiny BERT of random weights."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "small", "big", "dog", "cat"]
    with open(f"{folder}/vocab.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(words))
    BertTokenizer(f"{folder}/vocab.txt").save_pretrained(folder)
    BertModel(BertConfig(vocab_size=11, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                         intermediate_size=64)).save_pretrained(folder)
    encoder = Transformer(folder)
    return SentenceTransformer(modules=[encoder, Pooling(encoder.get_embedding_dimension())], device="cpu")


def forward(folder):
    return numbers(made(folder).encode(TEXTS, convert_to_tensor=True), each=12)


def training(folder):
    model = made(folder).eval()
    loss = st_losses.CosineSimilarityLoss(model)
    pair = [model.preprocess(TEXTS[:2]), model.preprocess(TEXTS[1:])]
    return losses(model.parameters(), lambda: loss(pair, torch.tensor([0.2, 0.9])), lr=1e-3)


def saving(folder):
    made(folder).save(f"{folder}/kept")
    again = SentenceTransformer(f"{folder}/kept", device="cpu")
    found = again.encode(TEXTS, convert_to_tensor=True, normalize_embeddings=True)
    return numbers(found, again.similarity(found, found), each=9)
