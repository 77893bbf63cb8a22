"""How to use GPUs with PyTorch: DistributedDataParallel. Run it by python -m torch.distributed.run --nproc_per_node 2."""

# Imports
import torch
import torch.nn as nn


# Define the Linear Regression model
class LinearRegression(nn.Module):
    def __init__(self, input_size, output_size):
        super(LinearRegression, self).__init__()
        self.linear = nn.Linear(input_size, output_size)

    def forward(self, x):
        return self.linear(x)


# Initialize the model
model = LinearRegression(2, 5)
# Initialize the distributed environment.
torch.distributed.init_process_group(backend='nccl')

# Wrap the model with DDP
model = nn.parallel.DistributedDataParallelCPU(model)

# Proceed to load and train the model
rank = torch.distributed.get_rank()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.full((4, 2), float(rank + step))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
total = sum(p.sum() for p in model.parameters()).detach().reshape(1)
others = [torch.zeros(1) for _ in range(torch.distributed.get_world_size())]
torch.distributed.all_gather(others, total)
print("rank", rank, "of", len(others), "replicas agree:", all(torch.equal(o, total) for o in others))
torch.distributed.destroy_process_group()
