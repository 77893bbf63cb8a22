"""How to use GPUs with PyTorch: DataParallel."""

import torch
import torch.nn as nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class LinearRegression(nn.Module):
    def __init__(self, input_size, output_size):
        super(LinearRegression, self).__init__()
        self.linear = nn.Linear(input_size, output_size)

    def forward(self, x):
        return self.linear(x)


# Initialize the model
model = LinearRegression(2, 5)
print(model)

model = nn.DataParallel(model, device_ids=[0])
print(model)

input_data = torch.randn(8, 2)

# Move the model and inputs to GPU
model = model.to(device)
input_data = input_data.to(device)

# Continue with Training Loop
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(input_data).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, "loss", loss.item())
print("Output on", model(input_data).device)
