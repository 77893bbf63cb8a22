"""Example 15: Excessive Data Transfers"""

import torch
import time

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Create a large tensor
large_tensor = torch.randn(1000, 1000)

# Start time
start_time = time.time()

# Move tensor to GPU and back to CPU repeatedly
for _ in range(100):
    tensor_gpu = large_tensor.to(device)
    tensor_cpu = tensor_gpu.to('cpu')

# End time
end_time = time.time()
print(f"\nTime taken for excessive data transfers: {end_time - start_time:.4f} seconds")


# Move tensor to GPU once
if device.type == 'cuda':
    large_tensor = large_tensor.to(device)

# Start time
start_time = time.time()

# Perform operations on GPU without moving back and forth
for _ in range(100):
    result = large_tensor * 2  # Example operation

# End time
end_time = time.time()
print(f"\nTime taken for operations on GPU: {end_time - start_time:.4f} seconds")
