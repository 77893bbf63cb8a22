"""How to make a PyTorch distribution on a GPU: every block, in order."""

import torch
print(torch.cuda.is_available())

x = torch.tensor([1, 2, 3])
x = x.cuda()
print(x)

import torch
import torch.nn as nn

model = nn.Linear(10, 2)  # Example model

model = model.cuda()
print(model.weight.device)

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")  # Check for GPU availability


class YourModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(10, 2)

    def forward(self, x):
        return self.layer(x)


model = YourModel()  # Replace `YourModel` with your actual model
model.to(device)  # Move the model to the specified device (GPU or CPU)

input_tensor = torch.randn(4, 10)
output = model(input_tensor.to(device))
print(output.device, output.shape)
