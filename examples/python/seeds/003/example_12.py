"""Example 12: Using In-Place Operations"""

import torch
import torch.nn as nn

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# Create a tensor with requires_grad=True
tensor = torch.randn(3, 3, requires_grad=True, device=device)
print("\nOriginal Tensor:\n", tensor)

# Apply in-place ReLU
relu = nn.ReLU()
tensor_relu = relu(tensor)
print("\nTensor after ReLU:\n", tensor_relu)

# Apply in-place operation (unsafe)
try:
    tensor_relu += 1  # This modifies the tensor in-place
    print("\nTensor after in-place addition:\n", tensor_relu)
except RuntimeError as e:
    print("Error with in-place operation:", e)
