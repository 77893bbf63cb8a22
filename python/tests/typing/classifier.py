"""A classifier over tensors."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor, optim
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Net(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, hidden)
        self.fc2 = nn.Linear(hidden, 10)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.fc1(x.flatten(1)))
        out: Tensor = self.fc2(self.dropout(x))
        return F.log_softmax(out, dim=1)


class Squares(Dataset[tuple[Tensor, Tensor]]):
    def __len__(self) -> int:
        return 100

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        x = torch.tensor(float(i))
        return x, x ** 2


def train(model: nn.Module, loader: DataLoader[tuple[Tensor, ...]], optimizer: optim.Optimizer, device: torch.device) -> float:
    model.train()
    total = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad(set_to_none=True)
        loss = F.nll_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(x)
    return total


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader[tuple[Tensor, ...]]) -> float:
    model.eval()
    right = sum(int((model(x).argmax(1) == y).sum()) for x, y in loader)
    return right / 100


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net(32).to(device)
    data = TensorDataset(torch.randn(100, 1, 28, 28), torch.randint(0, 10, (100,)))
    loader = DataLoader(data, batch_size=10, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.999))
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(2):
        print(train(model, loader, optimizer, device), evaluate(model, loader), count(model))
        scheduler.step()
    torch.save(model.state_dict(), "net.pt")
    model.load_state_dict(torch.load("net.pt"))
    for name, p in model.named_parameters():
        print(name, tuple(p.shape), p.grad is not None)
    squares = DataLoader(Squares(), 4)
    for a, b in squares:
        print(a + b)
        break
