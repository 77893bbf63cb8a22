import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool
from torch_geometric.utils import to_dense_adj

from .common import losses, numbers, small_net


def graph(n=8):
    return Data(x=torch.randn(n, 4), edge_index=torch.randint(0, n, (2, 3 * n)), y=torch.randint(0, 3, (1,)))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(4, 16), SAGEConv(16, 3)

    def forward(self, data):
        x = self.second(self.first(data.x, data.edge_index).relu(), data.edge_index)
        return global_mean_pool(x, data.batch)


def forward(folder):
    data = graph()
    return numbers(GCNConv(4, 5)(data.x, data.edge_index), GATConv(4, 2, heads=2)(data.x, data.edge_index),
                   GINConv(small_net())(data.x, data.edge_index), to_dense_adj(data.edge_index))


def training(folder):
    net, loader = Net(), DataLoader([graph() for _ in range(6)], batch_size=3)
    batches = list(loader)
    return losses(net.parameters(), lambda: sum(torch.nn.functional.cross_entropy(net(b), b.y) for b in batches))


def saving(folder):
    net, batch = Net(), Batch.from_data_list([graph(), graph()])
    torch.save((net.state_dict(), batch), f"{folder}/all.pt")
    state, again = torch.load(f"{folder}/all.pt", weights_only=False)
    net.load_state_dict(state)
    return numbers(net(again), again.num_graphs)
