"""Graph convolution on a sparse adjacency: two communities with a few edges between them."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        self.bias = Parameter(torch.FloatTensor(out_features))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1. / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        return torch.spmm(adj, torch.mm(input, self.weight)) + self.bias

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GCN(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.gc1 = GraphConvolution(features, hidden)
        self.gc2 = GraphConvolution(hidden, classes)

    def forward(self, x, adj):
        return F.log_softmax(self.gc2(F.relu(self.gc1(x, adj)), adj), dim=1)


def normalized(edges, n):
    rows = torch.cat([edges[0], edges[1], torch.arange(n)])
    columns = torch.cat([edges[1], edges[0], torch.arange(n)])
    degree = torch.zeros(n).index_add_(0, rows, torch.ones(len(rows)))
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), 1 / degree[rows], (n, n))


torch.manual_seed(6)
labels = torch.arange(20) // 10
edges = torch.tensor([(i, j) for i in range(20) for j in range(i + 1, 20) if (i // 10 == j // 10 and (i + j) % 3) or
                      (i, j) in ((0, 10), (5, 15))]).t()
adj = normalized(edges, 20)
features = torch.eye(20)
model = GCN(20, 8, 2)
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
known = torch.tensor([0, 3, 11, 17])
for epoch in range(10):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss = F.nll_loss(output[known], labels[known])
    loss.backward()
    optimizer.step()
    if epoch % 2:
        right = output.max(1)[1].type_as(labels).eq(labels).double().sum() / len(labels)
        print(f"epoch {epoch} loss {loss.item():.6f} accuracy {right.item():.2f}")
