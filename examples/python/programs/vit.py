"""A vision transformer on patches, with label smoothing and a cosine schedule."""

import torch
import torch.nn as nn


class ViT(nn.Module):
    def __init__(self, image=16, patch=4, width=32, depth=2, heads=4, classes=4):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, activation='gelu', batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.encoder(x))[:, 0])


torch.manual_seed(7)
labels = torch.arange(32) % 4
images = torch.randn(32, 1, 16, 16) * 0.3
for i, label in enumerate(labels):
    images[i, :, 8 * (label // 2):8 * (label // 2) + 8, 8 * (label % 2):8 * (label % 2) + 8] += 1
model = ViT()
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
for step in range(8):
    loss = criterion(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(f"step {step} loss {loss.item():.6f} lr {optimizer.param_groups[0]['lr']:.6f}")
