"""An LSTM tagger over padded, packed sentences, with class weights and an index that is ignored."""

from collections import Counter, OrderedDict

import torch
import torch.nn as nn
import torch.optim as optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(1)
training_data = [
    ("the dog ate the apple".split(), ["DET", "NN", "V", "DET", "NN"]),
    ("everybody read that book".split(), ["NN", "V", "DET", "NN"]),
    ("she saw a small bird".split(), ["NN", "V", "DET", "ADJ", "NN"]),
    ("the old man read".split(), ["DET", "ADJ", "NN", "V"]),
    ("birds sing".split(), ["NN", "V"]),
    ("a green apple fell".split(), ["DET", "ADJ", "NN", "V"])]
word_to_ix = {"<pad>": 0, "<unk>": 1}
for sent, tags in training_data:
    for word in sent:
        if word not in word_to_ix:
            word_to_ix[word] = len(word_to_ix)
tag_to_ix = {"DET": 0, "NN": 1, "V": 2, "ADJ": 3}
PAD = -100


def collate(batch):
    batch = sorted(batch, key=lambda pair: -len(pair[0]))
    x = [torch.tensor([word_to_ix.get(w, 1) for w in s], dtype=torch.long) for s, _ in batch]
    y = [torch.tensor([tag_to_ix[t] for t in tags], dtype=torch.long) for _, tags in batch]
    lengths = torch.LongTensor(list(map(len, x)))
    return pad_sequence(x, batch_first=True), pad_sequence(y, batch_first=True, padding_value=PAD), lengths


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super(LSTMTagger, self).__init__()
        self.hidden_dim = hidden_dim
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)
        for name, param in self.lstm.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(param.data)
            elif "weight_ih" in name:
                nn.init.xavier_uniform_(param.data)
            elif "bias" in name:
                nn.init.zeros_(param.data)
                n = param.size(0)
                param.data[n // 4:n // 2].fill_(1)

    def forward(self, sentences, lengths):
        packed = pack_padded_sequence(self.word_embeddings(sentences), lengths, batch_first=True)
        out, (h, c) = self.lstm(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.hidden2tag(out), h


model = LSTMTagger(8, 12, len(word_to_ix), len(tag_to_ix))
counts = Counter(t for _, tags in training_data for t in tags)
weights = torch.tensor([1.0 / counts[t] for t in tag_to_ix])
loss_function = nn.CrossEntropyLoss(weight=weights, ignore_index=PAD, label_smoothing=0.05)
optimizer = optim.Adagrad(model.parameters(), lr=0.1, lr_decay=1e-3)
loader = DataLoader(training_data, batch_size=3, shuffle=True, collate_fn=collate, drop_last=False,
                    generator=torch.Generator().manual_seed(7))
for epoch in range(12):
    total = 0.
    for sentences, targets, lengths in loader:
        model.zero_grad()
        scores, _ = model(sentences, lengths)
        loss = loss_function(scores.transpose(1, 2), targets)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0, norm_type=2)
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        print("epoch %d loss %.5f norm %.4f" % (epoch, total / len(loader), norm))
model.eval()
with torch.no_grad():
    x, y, lengths = collate(training_data)
    scores, h = model(x, lengths)
    mask = y.ne(PAD)
    right = scores.argmax(-1).masked_select(mask).eq(y.masked_select(mask)).sum()
    print(f"accuracy {right.item() / mask.sum().item():.3f} hidden {tuple(h.shape)} {h.abs().mean():.4f}")
    probabilities = OrderedDict((t, round(p, 3)) for t, p in zip(tag_to_ix, scores[0, 0].softmax(dim=0).tolist()))
    print(max(probabilities, key=probabilities.get))
