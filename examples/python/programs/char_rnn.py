"""A character-level LSTM, and text that it makes."""

import torch
import torch.nn as nn

text = "the quick brown fox jumps over the lazy dog. " * 4
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])


class CharRNN(nn.Module):
    def __init__(self, vocabulary, hidden=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 16)
        self.rnn = nn.LSTM(16, hidden, layers, batch_first=True)
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, x, state=None):
        y, state = self.rnn(self.embed(x), state)
        return self.out(y), state


torch.manual_seed(3)
model = CharRNN(len(chars))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
state = None
for step in range(20):
    begin = torch.randint(0, len(data) - 25, (4,))
    x = torch.stack([data[b:b + 24] for b in begin.tolist()])
    y = torch.stack([data[b + 1:b + 25] for b in begin.tolist()])
    logits, state = model(x, state)
    state = tuple(s.detach() for s in state)
    loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 4 == 3:
        print(f"step {step} loss {loss.item():.6f}")
model.eval()
made, state = [stoi["t"]], None
with torch.no_grad():
    for _ in range(20):
        logits, state = model(torch.tensor([[made[-1]]]), state)
        made.append(int(logits[0, -1].argmax()))
print("text", "".join(chars[i] for i in made))
