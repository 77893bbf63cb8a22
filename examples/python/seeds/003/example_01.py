"""Example 1: Checking GPU Availability"""

import torch

# Check if CUDA is available
cuda_available = torch.cuda.is_available()
print("Is CUDA available?", cuda_available)

# Get the number of GPUs available
num_gpus = torch.cuda.device_count()
print("Number of GPUs available:", num_gpus)

# Get the name of the current GPU
if cuda_available:
    current_gpu = torch.cuda.get_device_name(0)
    print("Current GPU:", current_gpu)


if cuda_available and num_gpus > 1:
    # Select GPU with index 1
    device = torch.device("cuda:1")
    print("Selected Device:", torch.cuda.get_device_name(device))
else:
    device = torch.device("cuda:0" if cuda_available else "cpu")
    print("Selected Device:", torch.cuda.get_device_name(device) if cuda_available else "CPU")
