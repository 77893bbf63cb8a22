"""Translation by a transformer: padded pairs, masks, warm-up, smoothed labels, beam search. The language is one that reverses
its words and doubles their letters' numbers."""

import math
from typing import List, Tuple

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, random_split

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
UNK_IDX, PAD_IDX, BOS_IDX, EOS_IDX = 0, 1, 2, 3
SRC_VOCAB_SIZE, TGT_VOCAB_SIZE = 16, 30


class Pairs(Dataset):
    def __init__(self, n: int, generator: torch.Generator):
        lengths = torch.randint(3, 7, (n,), generator=generator)
        self.source = [torch.randint(4, SRC_VOCAB_SIZE, (int(k),), generator=generator) for k in lengths]

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, i: int) -> Tuple[Tensor, Tensor]:
        return self.source[i], (2 * self.source[i] - 4).flip(0)


def tensor_transform(token_ids: List[int]) -> Tensor:
    return torch.cat((torch.tensor([BOS_IDX]), torch.as_tensor(token_ids), torch.tensor([EOS_IDX])))


def collate_fn(batch):
    src_batch, tgt_batch = [], []
    for src_sample, tgt_sample in batch:
        src_batch.append(tensor_transform(src_sample))
        tgt_batch.append(tensor_transform(tgt_sample))
    return pad_sequence(src_batch, padding_value=PAD_IDX), pad_sequence(tgt_batch, padding_value=PAD_IDX)


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, dropout: float, maxlen: int = 64):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding.unsqueeze(-2), persistent=False)

    def forward(self, token_embedding: Tensor):
        return self.dropout(token_embedding + self.pos_embedding[:token_embedding.size(0), :])


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, emb_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_size, padding_idx=PAD_IDX)
        self.emb_size = emb_size

    def forward(self, tokens: Tensor):
        return self.embedding(tokens.long()) * math.sqrt(self.emb_size)


class Seq2SeqTransformer(nn.Module):
    def __init__(self, num_encoder_layers: int, num_decoder_layers: int, emb_size: int, nhead: int, dim_feedforward: int,
                 dropout: float = 0.1):
        super().__init__()
        self.transformer = nn.Transformer(d_model=emb_size, nhead=nhead, num_encoder_layers=num_encoder_layers,
                                          num_decoder_layers=num_decoder_layers, dim_feedforward=dim_feedforward,
                                          dropout=dropout, activation="gelu")
        self.generator = nn.Linear(emb_size, TGT_VOCAB_SIZE, bias=False)
        self.src_tok_emb = TokenEmbedding(SRC_VOCAB_SIZE, emb_size)
        self.tgt_tok_emb = TokenEmbedding(TGT_VOCAB_SIZE, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=dropout)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.generator.weight = self.tgt_tok_emb.embedding.weight

    def forward(self, src, trg, src_mask, tgt_mask, src_padding_mask, tgt_padding_mask, memory_key_padding_mask):
        src_emb = self.positional_encoding(self.src_tok_emb(src))
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg))
        outs = self.transformer(src_emb, tgt_emb, src_mask, tgt_mask, None, src_padding_mask, tgt_padding_mask,
                                memory_key_padding_mask)
        return self.generator(outs)

    def encode(self, src: Tensor, src_mask: Tensor):
        return self.transformer.encoder(self.positional_encoding(self.src_tok_emb(src)), src_mask)

    def decode(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor):
        return self.transformer.decoder(self.positional_encoding(self.tgt_tok_emb(tgt)), memory, tgt_mask)


def create_mask(src, tgt):
    src_seq_len, tgt_seq_len = src.shape[0], tgt.shape[0]
    tgt_mask = nn.Transformer.generate_square_subsequent_mask(tgt_seq_len, device=DEVICE).isinf()
    src_mask = torch.zeros((src_seq_len, src_seq_len), device=DEVICE).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD_IDX).transpose(0, 1), (tgt == PAD_IDX).transpose(0, 1)


@torch.inference_mode()
def beam_search(model, src, beam: int, max_len: int):
    memory = model.encode(src, torch.zeros(src.size(0), src.size(0), dtype=torch.bool, device=DEVICE))
    ys = torch.full((1, 1), BOS_IDX, dtype=torch.long, device=DEVICE)
    scores, finished = torch.zeros(1, device=DEVICE), torch.zeros(1, dtype=torch.bool, device=DEVICE)
    for _ in range(max_len):
        mask = nn.Transformer.generate_square_subsequent_mask(ys.size(0), device=DEVICE)
        out = model.decode(ys, memory.expand(-1, ys.size(1), -1), mask)
        logp = torch.log_softmax(model.generator(out[-1]), dim=-1)
        stay = torch.full_like(logp, float("-inf"))
        stay[:, PAD_IDX] = 0.0
        logp = torch.where(finished.unsqueeze(-1), stay, logp)
        scores, flat = (scores.unsqueeze(-1) + logp).view(-1).topk(beam)
        origin = torch.div(flat, TGT_VOCAB_SIZE, rounding_mode="floor")
        token = flat.remainder(TGT_VOCAB_SIZE)
        ys = torch.cat([ys.index_select(1, origin), token.unsqueeze(0)])
        finished = finished.gather(0, origin) | token.eq(EOS_IDX)
        if finished.all():
            break
    lengths = ys.ne(PAD_IDX).sum(0)
    best = (scores / lengths.float().pow(0.6)).argmax()
    return ys[:, best], scores


def run_epoch(model, loader, loss_fn, optimizer=None, scheduler=None):
    model.train(optimizer is not None)
    losses = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for src, tgt in loader:
            src, tgt = src.to(DEVICE, non_blocking=True), tgt.to(DEVICE, non_blocking=True)
            tgt_input, tgt_out = tgt[:-1, :], tgt[1:, :]
            src_mask, tgt_mask, src_padding_mask, tgt_padding_mask = create_mask(src, tgt_input)
            logits = model(src, tgt_input, src_mask, tgt_mask, src_padding_mask, tgt_padding_mask, src_padding_mask)
            loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
            if optimizer is not None:
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
            losses += loss.item()
    return losses / len(loader)


def main():
    torch.manual_seed(0)
    data = Pairs(400, torch.Generator().manual_seed(1))
    train, valid = random_split(data, [0.9, 0.1], generator=torch.Generator().manual_seed(2))
    train_loader = DataLoader(train, batch_size=24, shuffle=True, collate_fn=collate_fn,
                              generator=torch.Generator().manual_seed(3))
    valid_loader = DataLoader(valid, batch_size=40, collate_fn=collate_fn)
    model = Seq2SeqTransformer(2, 2, 32, 4, 64, dropout=0.0).to(DEVICE)
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD_IDX, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    warmup = 20

    def rate(step):
        return 32 ** -0.5 * min((step + 1) ** -0.5, (step + 1) * warmup ** -1.5) * 0.5
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=rate)
    print(f"{sum(p.numel() for p in model.parameters() if p.requires_grad)} parameters")
    for epoch in range(1, 4):
        train_loss = run_epoch(model, train_loader, loss_fn, optimizer, scheduler)
        val_loss = run_epoch(model, valid_loader, loss_fn)
        print(f"Epoch: {epoch}, Train loss: {train_loss:.3f}, Val loss: {val_loss:.3f}, lr {scheduler.get_last_lr()[0]:.5f}")
    model.eval()
    src = tensor_transform(data[0][0]).view(-1, 1).to(DEVICE)
    tokens, scores = beam_search(model, src, beam=3, max_len=src.size(0) + 2)
    assert tokens[0] == BOS_IDX and tokens.dim() == 1
    print(f"beams {' '.join(f'{s:.3f}' for s in scores.tolist())}")


if __name__ == "__main__":
    main()
