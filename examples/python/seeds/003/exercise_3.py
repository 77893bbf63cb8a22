"""9.3. Exercise 3: Utilizing Multiple GPUs"""

import torch
import torch.nn as nn

# Step 1: Check for multiple GPUs
cuda_available = torch.cuda.is_available()
num_gpus = torch.cuda.device_count()
print("CUDA Available:", cuda_available)
print("Number of GPUs:", num_gpus)

# Step 2: Define a model
class SimpleCNN(nn.Module):
    def __init__(self):
        super(SimpleCNN, self).__init__()
        self.conv1 = nn.Conv2d(3, 16, kernel_size=3, padding=1)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16*16*16, 10)  # Assuming input images are 32x32

    def forward(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = x.view(x.size(0), -1)
        x = self.fc(x)
        return x

# Instantiate the model
model = SimpleCNN()

# Step 3: Wrap with DataParallel if multiple GPUs
if cuda_available and num_gpus > 1:
    model = nn.DataParallel(model)
    print("Model wrapped with DataParallel")

# Step 4: Move the model to GPU
device = torch.device("cuda" if cuda_available else "cpu")
model.to(device)
print("Model is on device:", next(model.parameters()).device)

# Step 5: Create dummy input data
batch_size = 32
dummy_input = torch.randn(batch_size, 3, 32, 32).to(device)
print("Dummy input is on device:", dummy_input.device)

# Perform forward pass
output = model(dummy_input)
print("Output shape:", output.shape)
print("Output is on device:", output.device)
