"""Example 10: Choosing Between view and reshape"""

import torch

# Create a contiguous tensor
tensor_contig = torch.arange(12).reshape(3, 4)
print("\nContiguous Tensor Shape:", tensor_contig.shape)

# Use view
reshaped_view = tensor_contig.view(6, 2)
print("Reshaped with view:", reshaped_view.shape)

# Transpose to make it non-contiguous
tensor_non_contig = tensor_contig.transpose(0, 1)
print("\nNon-Contiguous Tensor Shape:", tensor_non_contig.shape)

# Attempt to use view (will fail)
try:
    reshaped_view = tensor_non_contig.view(6, 2)
except RuntimeError as e:
    print("Error with view on non-contiguous tensor:", e)

# Use reshape instead
reshaped_reshape = tensor_non_contig.reshape(6, 2)
print("Reshaped with reshape:", reshaped_reshape.shape)
