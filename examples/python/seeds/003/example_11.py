"""Example 11: Minimizing Data Transfers"""

import time

import torch

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Create a large tensor
large_tensor = torch.randn(10000, 10000)

# Inefficient: Moving individual rows
start_time = time.time()
for row in large_tensor:
    row_gpu = row.to(device)
end_time = time.time()
print(f"Inefficient Data Transfer Time: {end_time - start_time:.4f} seconds")

# Efficient: Moving the entire tensor at once
start_time = time.time()
large_tensor_gpu = large_tensor.to(device)
end_time = time.time()
print(f"Efficient Data Transfer Time: {end_time - start_time:.4f} seconds")
