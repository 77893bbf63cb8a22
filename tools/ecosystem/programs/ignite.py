import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Accuracy, Loss
from torch.utils.data import DataLoader, TensorDataset

from .common import numbers, points, small_net


def run(*handlers, epochs=2):
    """A network that was trained, its optimizer, the losses of the steps, and the data."""
    loader, net, found = DataLoader(TensorDataset(*points()), batch_size=8), small_net(), []
    optimizer, criterion = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), torch.nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(net, optimizer, criterion)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: found.append(engine.state.output))
    for handler in handlers:
        trainer.add_event_handler(Events.COMPLETED, handler({"net": net, "optimizer": optimizer}))
    trainer.run(loader, max_epochs=epochs)
    return net, optimizer, found, loader


def forward(folder):
    net, _, _, loader = run(epochs=1)
    evaluator = create_supervised_evaluator(net, {"accuracy": Accuracy(), "loss": Loss(torch.nn.CrossEntropyLoss())})
    metrics = evaluator.run(loader).metrics
    return [metrics["accuracy"], metrics["loss"]]


def training(folder):
    return run()[2]


def saving(folder):
    run(lambda parts: Checkpoint(parts, DiskSaver(folder, require_empty=False), filename_pattern="all.pt"))
    again = {"net": small_net()}
    again["optimizer"] = torch.optim.SGD(again["net"].parameters(), lr=0.1, momentum=0.9)
    Checkpoint.load_objects(again, torch.load(f"{folder}/all.pt"))
    return numbers(*again["net"].parameters())
