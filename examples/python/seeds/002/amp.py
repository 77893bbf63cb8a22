"""Multiple GPUs with PyTorch: automatic mixed precision."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.cuda.amp import autocast, GradScaler


# Define a simple model
class SimpleModel(nn.Module):
    def __init__(self):
        super(SimpleModel, self).__init__()
        self.fc = nn.Linear(10, 10)

    def forward(self, x):
        return self.fc(x)


# Instantiate the model and move it to the first GPU
model = SimpleModel().cuda()
# Define the loss function and optimizer
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.001)
# Create a GradScaler
scaler = GradScaler()
# Create dummy input data
input_data = torch.randn(32, 10).cuda()
target = torch.randn(32, 10).cuda()
before = model.fc.weight.detach().clone()
# Forward pass with autocast
with autocast():
    output = model(input_data)
    loss = criterion(output, target)
# Backward pass with GradScaler
optimizer.zero_grad()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()

print("output", output.dtype, "loss", loss.dtype)
print("scale", scaler.get_scale())
print("stepped:", not torch.equal(before, model.fc.weight))
