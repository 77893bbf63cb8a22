"""Example 13: Mismatched Devices"""

import torch

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# Create tensors on different devices
tensor_cpu = torch.randn(2, 2)
tensor_gpu = torch.randn(2, 2).to(device)

# Attempt to add tensors
try:
    result = tensor_cpu + tensor_gpu
except RuntimeError as e:
    print("\nError with mismatched devices:", e)


# Move tensor_cpu to GPU
if device.type == 'cuda':
    tensor_cpu = tensor_cpu.to(device)

# Now add tensors
result = tensor_cpu + tensor_gpu
print("\nAddition Result:\n", result)
