"""PyTorch on GPU: tensors and networks on devices, and what is said where they do not fit."""

import torch

from network import Network

t = torch.ones(1, 1, 28, 28)
network = Network()

t = t.cuda()
network = network.cuda()

gpu_pred = network(t)
print(repr(gpu_pred.device))

t = t.cpu()
network = network.cpu()

cpu_pred = network(t)
print(repr(cpu_pred.device))

t1 = torch.tensor([
    [1, 2],
    [3, 4]
])

t2 = torch.tensor([
    [5, 6],
    [7, 8]
])

print((t1.device, t2.device))

t1 = t1.to('cuda')
print(repr(t1.device))

try:
    t1 + t2
except Exception as e:
    print(e)

try:
    t2 + t1
except Exception as e:
    print(e)

t2 = t2.to('cuda')
print(t1 + t2)

network = Network()

for name, param in network.named_parameters():
    print(name, '\t\t', param.shape)

for n, p in network.named_parameters():
    print(p.device, '', n)

print(network.to('cuda'))

for n, p in network.named_parameters():
    print(p.device, '', n)

sample = torch.ones(1, 1, 28, 28)
print(sample.shape)

try:
    pred = network(sample)
except Exception as e:
    print(e)

try:
    pred = network(sample.to('cuda'))
    print(pred)
except Exception as e:
    print(e)

if torch.cuda.is_available():
    device = torch.device('cuda')
else:
    device = torch.device('cpu')
print(device)
