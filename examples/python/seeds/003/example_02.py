"""Example 2: Moving Tensors Using .to(device)"""

import torch

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Create a tensor on CPU
cpu_tensor = torch.randn(3, 3)
print("\nCPU Tensor:\n", cpu_tensor)

# Move tensor to GPU
if device.type == 'cuda':
    gpu_tensor = cpu_tensor.to(device)
    print("\nGPU Tensor:\n", gpu_tensor)
    print("\nIs gpu_tensor on GPU?", gpu_tensor.is_cuda)
