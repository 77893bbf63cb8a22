"""How to use GPUs with PyTorch: availability, devices, tensors on them."""

import torch
print(torch.cuda.is_available())

print(torch.cuda.device_count())
print(torch.cuda.current_device())

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(repr(device))

x = torch.tensor([1, 2, 3])
print(x)
print("Device: ", x.device)

y = torch.tensor([4, 5, 6], device=device)
print(y)
print("Device: ", y.device)

print(x.get_device())
print(y.get_device())

x = torch.tensor([1, 2, 3])
x = x.to(device)
print("Device: ", x.device)
print(x.get_device())

# Transfer to the first GPU
x = torch.tensor([8, 9, 10])
x = x.to("cuda:0")
print(x.device)

# Create a random tensor of shape (100, 30)
tensor = torch.rand((100, 30))
tensor = tensor.cuda()
print(repr(tensor.device))
