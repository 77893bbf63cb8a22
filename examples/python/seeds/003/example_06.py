"""Example 6: Moving a Neural Network to GPU"""

import torch
import torch.nn as nn

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Define a simple neural network
class SimpleNet(nn.Module):
    def __init__(self):
        super(SimpleNet, self).__init__()
        self.fc1 = nn.Linear(10, 50)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(50, 1)

    def forward(self, x):
        out = self.fc1(x)
        out = self.relu(out)
        out = self.fc2(out)
        return out

# Instantiate the model
model = SimpleNet()
print("\nModel on CPU:", next(model.parameters()).device)

# Move the model to GPU
if device.type == 'cuda':
    model = model.to(device)
    print("Model moved to GPU:", next(model.parameters()).device)
else:
    print("Model remains on CPU.")
