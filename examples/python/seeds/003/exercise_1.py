"""9.1. Exercise 1: Tensor Operations on GPU"""

import torch
import time

# Step 1: Check GPU availability
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("Using device:", device)

# Step 2: Create a large tensor on CPU
size = 5000
tensor_a = torch.randn(size, size)
tensor_b = torch.randn(size, size)

# Step 3: Move tensors to GPU
if device.type == 'cuda':
    tensor_a_gpu = tensor_a.to(device)
    tensor_b_gpu = tensor_b.to(device)

# Step 4: Perform matrix multiplication on CPU
start_time = time.time()
result_cpu = torch.matmul(tensor_a, tensor_b)
end_time = time.time()
cpu_time = end_time - start_time
print(f"\nCPU Matrix Multiplication Time: {cpu_time:.4f} seconds")

if device.type == 'cuda':
    # Warm-up GPU
    torch.matmul(tensor_a_gpu, tensor_b_gpu)
    torch.cuda.synchronize()

    # Perform matrix multiplication on GPU
    start_time = time.time()
    result_gpu = torch.matmul(tensor_a_gpu, tensor_b_gpu)
    torch.cuda.synchronize()
    end_time = time.time()
    gpu_time = end_time - start_time
    print(f"GPU Matrix Multiplication Time: {gpu_time:.4f} seconds")

    # Compare results
    difference = torch.abs(result_cpu - result_gpu.cpu()).max()
    print(f"Maximum difference between CPU and GPU results: {difference.item()}")
