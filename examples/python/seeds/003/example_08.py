"""Example 8: Detecting Multiple GPUs"""

import torch

# Check CUDA availability
cuda_available = torch.cuda.is_available()
print("Is CUDA available?", cuda_available)

if cuda_available:
    num_gpus = torch.cuda.device_count()
    print("Number of GPUs available:", num_gpus)
    for i in range(num_gpus):
        print(f"GPU {i}: {torch.cuda.get_device_name(i)}")
else:
    print("No CUDA-compatible GPU found.")
