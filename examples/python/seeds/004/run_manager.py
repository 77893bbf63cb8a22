"""PyTorch on GPU: the grid of runs on Fashion-MNIST, each with its device, and their times: run_manager.py [--small]."""

import csv
import sys
import time
from collections import OrderedDict, namedtuple
from itertools import product

import torch
import torch.nn.functional as F
import torch.optim as optim
import torchvision
import torchvision.transforms as transforms
from torch.utils.data import DataLoader, Subset
from torch.utils.tensorboard import SummaryWriter

from network import Network


class RunBuilder:
    @staticmethod
    def get_runs(params):
        Run = namedtuple('Run', params.keys())
        return [Run(*v) for v in product(*params.values())]


class RunManager:
    def __init__(self):
        self.epoch_count = 0
        self.run_count = 0
        self.run_data = []

    def begin_run(self, run, network, loader):

        self.run_start_time = time.time()

        self.run_params = run
        self.run_count += 1

        self.network = network
        self.loader = loader
        self.tb = SummaryWriter(comment=f'-{run}')

        images, labels = next(iter(self.loader))
        grid = torchvision.utils.make_grid(images)

        self.tb.add_image('images', grid)
        self.tb.add_graph(
            self.network
            , images.to(getattr(run, 'device', 'cpu'))
        )

    def end_run(self):
        self.tb.close()
        self.epoch_count = 0

    def begin_epoch(self):
        self.epoch_start_time = time.time()
        self.epoch_count += 1
        self.epoch_loss = 0
        self.epoch_num_correct = 0

    def end_epoch(self):
        epoch_duration = time.time() - self.epoch_start_time
        run_duration = time.time() - self.run_start_time

        loss = self.epoch_loss / len(self.loader.dataset)
        accuracy = self.epoch_num_correct / len(self.loader.dataset)

        self.tb.add_scalar('Loss', loss, self.epoch_count)
        self.tb.add_scalar('Accuracy', accuracy, self.epoch_count)

        for name, param in self.network.named_parameters():
            self.tb.add_histogram(name, param, self.epoch_count)
            self.tb.add_histogram(f'{name}.grad', param.grad, self.epoch_count)

        results = OrderedDict()
        results["run"] = self.run_count
        results["epoch"] = self.epoch_count
        results['loss'] = loss
        results["accuracy"] = accuracy
        results['epoch duration'] = epoch_duration
        results['run duration'] = run_duration
        for k, v in self.run_params._asdict().items():
            results[k] = v
        self.run_data.append(results)
        print(", ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in results.items()), flush=True)

    def track_loss(self, loss, batch):
        self.epoch_loss += loss.item() * batch[0].shape[0]

    def track_num_correct(self, preds, labels):
        self.epoch_num_correct += preds.argmax(dim=1).eq(labels).sum().item()

    def save(self, fileName):
        with open(f'{fileName}.csv', 'w', newline='') as f:
            writer = csv.DictWriter(f, self.run_data[0].keys())
            writer.writeheader()
            writer.writerows(self.run_data)


def main(small):
    params = OrderedDict(
        lr = [.01]
        , batch_size = [100, 500] if small else [1000, 10000, 20000]
        , num_workers = [0, 1]
        , device = ['cuda', 'cpu']
    )

    torch.manual_seed(50)
    train_set = torchvision.datasets.FashionMNIST(
        root='./data'
        , train=True
        , download=True
        , transform=transforms.Compose([
            transforms.ToTensor()
        ])
    )
    if small:
        train_set = Subset(train_set, range(1000))

    m = RunManager()
    for run in RunBuilder.get_runs(params):

        device = torch.device(run.device)
        network = Network().to(device)
        loader = DataLoader(train_set, batch_size=run.batch_size, num_workers=run.num_workers)
        optimizer = optim.Adam(network.parameters(), lr=run.lr)

        m.begin_run(run, network, loader)
        for epoch in range(1):
            m.begin_epoch()
            for batch in loader:

                images = batch[0].to(device)
                labels = batch[1].to(device)
                preds = network(images)
                loss = F.cross_entropy(preds, labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

                m.track_loss(loss, batch)
                m.track_num_correct(preds, labels)
            m.end_epoch()
        m.end_run()
    m.save('results')


if __name__ == "__main__":
    main("--small" in sys.argv[1:])
