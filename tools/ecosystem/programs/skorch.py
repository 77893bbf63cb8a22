import pickle

import numpy
import torch
from sklearn.model_selection import cross_val_score
from skorch import NeuralNetClassifier
from skorch.callbacks import LRScheduler

from .common import numbers, points, small_net


def made(**more):
    return NeuralNetClassifier(small_net, max_epochs=3, lr=0.1, batch_size=8, verbose=0, train_split=None,
                               criterion=torch.nn.CrossEntropyLoss, **more)


def data():
    x, y = points()
    return x.numpy(), y.numpy().astype(numpy.int64)


def forward(folder):
    x, y = data()
    return numbers(torch.from_numpy(made().initialize().predict_proba(x)), each=9)


def training(folder):
    x, y = data()
    net = made(optimizer=torch.optim.Adam, callbacks=[LRScheduler("StepLR", step_size=1)]).fit(x, y)
    return [*net.history[:, "train_loss"], *cross_val_score(made(), x, y, cv=2)]


def saving(folder):
    x, y = data()
    net = made().fit(x, y)
    net.save_params(f_params=f"{folder}/net.pt", f_optimizer=f"{folder}/optimizer.pt")
    again = made().initialize()
    again.load_params(f_params=f"{folder}/net.pt", f_optimizer=f"{folder}/optimizer.pt")
    copy = pickle.loads(pickle.dumps(net))
    return numbers(torch.from_numpy(again.predict_proba(x)), torch.from_numpy(copy.predict_proba(x)))
