import logging

import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

from .common import numbers, points, small_net

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)


class Net(pl.LightningModule):
    def __init__(self, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.net = small_net()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", torch.nn.functional.cross_entropy(self(batch[0]), batch[1]))

    def predict_step(self, batch, batch_idx):
        return self(batch[0])

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


def run(folder, **more):
    """A network that was trained, its trainer and data."""
    pl.seed_everything(0)
    x, y = points()
    net, loader = Net(), DataLoader(TensorDataset(x, y), batch_size=8)
    trainer = pl.Trainer(max_epochs=2, logger=False, enable_progress_bar=False, enable_model_summary=False, accelerator="cpu",
                         default_root_dir=folder, **more)
    trainer.fit(net, loader, loader)
    return net, trainer, loader


def forward(folder):
    net, trainer, loader = run(folder, enable_checkpointing=False, max_steps=1)
    return numbers(*trainer.predict(net, loader))


def training(folder):
    net, trainer, loader = run(folder, enable_checkpointing=False)
    return numbers(trainer.callback_metrics["loss"], trainer.callback_metrics["val_loss"], *net.parameters())


def saving(folder):
    net, trainer, loader = run(folder, callbacks=[pl.callbacks.ModelCheckpoint(folder, filename="last")])
    again = Net.load_from_checkpoint(f"{folder}/last.ckpt")
    return numbers(*again.parameters(), again.hparams.lr)
