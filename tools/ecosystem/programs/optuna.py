import logging

import optuna
import torch

from .common import copied_by_file, losses, numbers, points, small_net

optuna.logging.set_verbosity(logging.ERROR)


def study(folder, trials=4):
    """A search for a learning rate and a size."""
    x, y = points()
    found = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0), pruner=optuna.pruners.MedianPruner(2, 1),
                                storage=f"sqlite:///{folder}/study.db", study_name="net")

    def objective(trial):
        torch.manual_seed(trial.number)
        net = torch.nn.Sequential(torch.nn.Linear(4, trial.suggest_int("size", 2, 8)), torch.nn.ReLU(), torch.nn.LazyLinear(3))
        lr = trial.suggest_float("lr", 1e-3, 1e-1, log=True)
        for step, loss in enumerate(losses(net.parameters(), lambda: torch.nn.functional.cross_entropy(net(x), y), lr=lr)):
            trial.report(loss, step)
        return loss
    found.optimize(objective, n_trials=trials)
    return found


def forward(folder):
    trial = optuna.trial.FixedTrial({"size": 16})
    return numbers(torch.nn.Linear(4, trial.suggest_int("size", 2, 32))(torch.ones(2, 4)))


def training(folder):
    found = study(folder)
    return [t.value for t in found.trials] + [found.best_params["lr"]]


def saving(folder):
    best = study(folder, 2).best_value
    again = optuna.load_study(study_name="net", storage=f"sqlite:///{folder}/study.db")
    return [best, again.best_value] + numbers(copied_by_file(small_net(), small_net(), folder)(torch.ones(1, 4)))
