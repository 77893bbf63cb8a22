"""9.2. Exercise 2: Moving a Model to GPU"""

import torch
import torch.nn as nn

# Step 1: Define a simple model
class SimpleNet(nn.Module):
    def __init__(self):
        super(SimpleNet, self).__init__()
        self.fc = nn.Linear(100, 10)

    def forward(self, x):
        return self.fc(x)

# Instantiate the model
model = SimpleNet()

# Step 2: Check for GPU availability
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Step 3: Move the model to GPU
model.to(device)
print("Model is on device:", next(model.parameters()).device)

# Step 4: Create dummy input and move to device
input_tensor = torch.randn(5, 100).to(device)
print("Input tensor is on device:", input_tensor.device)

# Step 5: Perform forward pass
output = model(input_tensor)
print("Output tensor is on device:", output.device)
