"""Skip-gram with negative sampling: sparse embeddings, SparseAdam, a unigram table, nearest words."""

import collections

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(8)
text = ("the king rules the land the queen rules the land a man walks the dog a woman walks the dog "
        "the king is a man the queen is a woman the dog runs in the land ") * 3
words = text.split()
counter = collections.Counter(words)
vocab = [w for w, _ in sorted(counter.items(), key=lambda p: (-p[1], p[0]))]
word2idx = {w: i for i, w in enumerate(vocab)}
freqs = torch.tensor([counter[w] for w in vocab], dtype=torch.float).pow(0.75)
freqs /= freqs.sum()
ids = torch.as_tensor([word2idx[w] for w in words])
window = 2
pairs = torch.cat([torch.stack((ids[:-d], ids[d:]), 1) for d in range(1, window + 1)])
pairs = torch.vstack((pairs, pairs.flip(-1)))


class SkipGramNeg(nn.Module):
    def __init__(self, n_vocab, n_embed):
        super().__init__()
        self.in_embed = nn.Embedding(n_vocab, n_embed, sparse=True)
        self.out_embed = nn.Embedding(n_vocab, n_embed, sparse=True)
        self.in_embed.weight.data.uniform_(-0.5, 0.5)
        nn.init.uniform_(self.out_embed.weight, a=-0.5, b=0.5)

    def forward(self, center, outside, negatives):
        v, u = self.in_embed(center), self.out_embed(outside)
        positive = F.logsigmoid((v * u).sum(dim=-1))
        noise = self.out_embed(negatives).neg()
        negative = F.logsigmoid(torch.bmm(noise, v.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive + negative).mean()


model = SkipGramNeg(len(vocab), 8)
optimizer = optim.SparseAdam(list(model.parameters()), lr=0.05)
for epoch in range(6):
    order = torch.randperm(len(pairs))
    total = 0
    for chunk in order.split(64):
        center, outside = pairs[chunk].unbind(1)
        negatives = torch.multinomial(freqs, center.numel() * 3, replacement=True).view(center.numel(), -1)
        optimizer.zero_grad(set_to_none=True)
        loss = model(center, outside, negatives)
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(chunk)
    print(f"epoch {epoch} loss {total / len(pairs):.4f}")
grad = model.in_embed.weight.grad
print(grad.is_sparse, grad.layout, grad.coalesce().sparse_dim())
normed = F.normalize(model.in_embed.weight.detach(), p=2, dim=1)
similarity, nearest = (normed @ normed[[word2idx["king"]]].t()).squeeze().topk(3)
print([vocab[i] for i in nearest][0], f"{similarity[0]:.4f}")
bag = nn.EmbeddingBag.from_pretrained(normed, mode="mean")
print(f"{bag(ids[:7], offsets=torch.tensor([0, 3])).norm(dim=1).sum().item():.3f}")
