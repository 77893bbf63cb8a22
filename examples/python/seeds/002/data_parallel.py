"""Multiple GPUs with PyTorch: DataParallel."""

import torch
import torch.nn as nn


# Define a simple model
class SimpleModel(nn.Module):
    def __init__(self):
        super(SimpleModel, self).__init__()
        self.fc = nn.Linear(10, 10)

    def forward(self, x):
        return self.fc(x)


# Instantiate the model
model = SimpleModel()
# Wrap the model in DataParallel
model = nn.DataParallel(model)
# Move the model to the first GPU
model = model.cuda()
# Create dummy input data
input_data = torch.randn(32, 10).cuda()
# Forward pass
output = model(input_data)

print("devices", model.device_ids)
print("output", output.shape, output.device)
print("as on one device:", torch.allclose(output, model.module(input_data), atol=1e-6))
