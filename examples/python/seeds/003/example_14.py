"""Example 14: Forgetting to Move Model to GPU"""

import torch
import torch.nn as nn

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# Define a simple model
model = nn.Linear(10, 2)

# Create input tensor on GPU
input_tensor = torch.randn(5, 10).to(device)

# Attempt to pass input through model (model is on CPU)
try:
    output = model(input_tensor)
except RuntimeError as e:
    print("\nError due to model on CPU:", e)


# Move model to device
model.to(device)

# Now pass input through model
output = model(input_tensor)
print("\nModel Output:\n", output)
