"""Example 3: Moving Tensors Using .cuda() and .cpu()"""

import torch

# Check CUDA availability
cuda_available = torch.cuda.is_available()
print("Is CUDA available?", cuda_available)

# Create a tensor on CPU
tensor_cpu = torch.randn(2, 2)
print("\nTensor on CPU:\n", tensor_cpu)

if cuda_available:
    # Move tensor to GPU
    tensor_gpu = tensor_cpu.cuda()
    print("\nTensor on GPU:\n", tensor_gpu)
    print("\nIs tensor_gpu on GPU?", tensor_gpu.is_cuda)

    # Move tensor back to CPU
    tensor_back = tensor_gpu.cpu()
    print("\nTensor moved back to CPU:\n", tensor_back)
    print("\nIs tensor_back on GPU?", tensor_back.is_cuda)
