"""Example 4: Benchmarking Matrix Multiplication"""

import torch
import time

# Define device
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Create large tensors
size = 10000
tensor_a = torch.randn(size, size)
tensor_b = torch.randn(size, size)

if device.type == 'cuda':
    tensor_a = tensor_a.to(device)
    tensor_b = tensor_b.to(device)

# Warm-up (for GPU to initialize)
if device.type == 'cuda':
    torch.matmul(tensor_a, tensor_b)
    torch.cuda.synchronize()

# CPU Benchmark
if device.type != 'cuda':
    start_time = time.time()
    result_cpu = torch.matmul(tensor_a, tensor_b)
    end_time = time.time()
    print(f"\nCPU Matrix Multiplication Time: {end_time - start_time:.4f} seconds")
else:
    # Move tensors to CPU for comparison
    tensor_a_cpu = tensor_a.to('cpu')
    tensor_b_cpu = tensor_b.to('cpu')

    # CPU Benchmark
    start_time = time.time()
    result_cpu = torch.matmul(tensor_a_cpu, tensor_b_cpu)
    end_time = time.time()
    print(f"\nCPU Matrix Multiplication Time: {end_time - start_time:.4f} seconds")

    # GPU Benchmark
    start_time = time.time()
    result_gpu = torch.matmul(tensor_a, tensor_b)
    torch.cuda.synchronize()  # Wait for GPU operations to finish
    end_time = time.time()
    print(f"GPU Matrix Multiplication Time: {end_time - start_time:.4f} seconds")

    # Compare results (optional)
    difference = torch.abs(result_cpu - result_gpu.cpu()).max()
    print(f"Maximum difference between CPU and GPU results: {difference.item()}")
