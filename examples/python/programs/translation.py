"""Sequence to sequence with additive attention: reversing sequences, teacher forcing, greedy decoding."""

import math
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SOS_token, EOS_token, VOCABULARY, LENGTH = 0, 1, 12, 6


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        embedded = self.dropout(self.embedding(input))
        output, hidden = self.gru(embedded)
        return output, hidden


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long, device=device).fill_(SOS_token)
        decoder_hidden = encoder_hidden
        decoder_outputs, attentions = [], []
        for i in range(LENGTH):
            decoder_output, decoder_hidden, attn_weights = self.forward_step(decoder_input, decoder_hidden, encoder_outputs)
            decoder_outputs.append(decoder_output)
            attentions.append(attn_weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)
            else:
                _, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        decoder_outputs = torch.cat(decoder_outputs, dim=1)
        decoder_outputs = F.log_softmax(decoder_outputs, dim=-1)
        attentions = torch.cat(attentions, dim=1)
        return decoder_outputs, decoder_hidden, attentions

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input))
        query = hidden.permute(1, 0, 2)
        context, attn_weights = self.attention(query, encoder_outputs)
        input_gru = torch.cat((embedded, context), dim=2)
        output, hidden = self.gru(input_gru, hidden)
        return self.out(output), hidden, attn_weights


def batch(n):
    source = torch.randint(2, VOCABULARY, (n, LENGTH), device=device)
    target = source.flip(1)
    target[:, -1] = EOS_token
    return source, target


torch.manual_seed(11)
random.seed(11)
encoder = EncoderRNN(VOCABULARY, 24).to(device)
decoder = AttnDecoderRNN(24, VOCABULARY).to(device)
encoder_optimizer = torch.optim.RAdam(encoder.parameters(), lr=0.02)
decoder_optimizer = torch.optim.NAdam(decoder.parameters(), lr=0.01)
criterion = nn.NLLLoss()
start = time.time()
for step in range(24):
    input_tensor, target_tensor = batch(16)
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    encoder_outputs, encoder_hidden = encoder(input_tensor)
    teacher = target_tensor if random.random() < 0.8 else None
    decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, teacher)
    loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    if step % 6 == 5:
        print(f"step {step} loss {loss.item():.5f} perplexity {math.exp(loss.item()):.4f}")
assert time.time() > start
with torch.no_grad():
    encoder.eval()
    decoder.eval()
    input_tensor, target_tensor = batch(4)
    outputs, hidden = encoder(input_tensor)
    decoded, _, attentions = decoder(outputs, hidden)
    ids = decoded.topk(1)[1].squeeze()
    print(ids.shape, attentions.shape, f"{attentions.sum(-1).mean().item():.3f} {attentions.max().item():.4f}")
