"""Writes tests/nn/golden.inc: printed modules, initial values and training losses, from PyTorch 1.13.

Run: python3 -P tests/golden/nn.py | clang-format --assume-filename=x.h > tests/nn/golden.inc
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 12, 5)
        self.fc1 = nn.Linear(192, 120)
        self.fc2 = nn.Linear(120, 60)
        self.out = nn.Linear(60, 10)

    def forward(self, t):
        t = F.max_pool2d(F.relu(self.conv1(t)), 2, 2)
        t = F.max_pool2d(F.relu(self.conv2(t)), 2, 2)
        t = F.relu(self.fc1(t.reshape(-1, 192)))
        return self.out(F.relu(self.fc2(t)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Dropout(0.25))])
        self.norm = nn.BatchNorm2d(3)
        self.extra = nn.ModuleDict({"a": nn.Flatten(), "b": nn.Identity()})


PRINTS = {
    "network": Network(),
    "block": Block(),
    "linear": nn.Linear(3, 4, bias=False),
    "bilinear": nn.Bilinear(2, 3, 4),
    "flatten": nn.Flatten(),
    "unflatten": nn.Unflatten(1, (2, 3)),
    "identity": nn.Identity(),
    "conv1d": nn.Conv1d(4, 8, 3, stride=2, padding=1, dilation=2, groups=4, bias=False),
    "conv2d": nn.Conv2d(3, 16, (3, 5), stride=(1, 2), padding=(1, 0), padding_mode="reflect"),
    "conv2d_same": nn.Conv2d(3, 16, 3, padding="same"),
    "conv3d": nn.Conv3d(1, 2, 3),
    "conv_transpose2d": nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1),
    "max_pool1d": nn.MaxPool1d(3),
    "max_pool2d": nn.MaxPool2d(2, 2),
    "max_pool2d_pairs": nn.MaxPool2d((3, 2), stride=(2, 1), padding=(0, 1), ceil_mode=True),
    "avg_pool1d": nn.AvgPool1d(2),
    "avg_pool2d": nn.AvgPool2d(3, 2, 1),
    "adaptive_avg_pool2d": nn.AdaptiveAvgPool2d((5, 7)),
    "adaptive_avg_pool1d": nn.AdaptiveAvgPool1d(5),
    "adaptive_max_pool2d": nn.AdaptiveMaxPool2d(1),
    "batch_norm1d": nn.BatchNorm1d(7, momentum=None, affine=False),
    "batch_norm2d": nn.BatchNorm2d(7, eps=0.001, track_running_stats=False),
    "instance_norm1d": nn.InstanceNorm1d(3),
    "instance_norm2d": nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    "layer_norm": nn.LayerNorm(8),
    "layer_norm2": nn.LayerNorm([4, 8], elementwise_affine=False),
    "group_norm": nn.GroupNorm(2, 6),
    "dropout": nn.Dropout(),
    "dropout2d": nn.Dropout2d(0.1, inplace=True),
    "alpha_dropout": nn.AlphaDropout(0.2),
    "embedding": nn.Embedding(10, 3, padding_idx=-1),
    "relu": nn.ReLU(),
    "relu_inplace": nn.ReLU(inplace=True),
    "relu6": nn.ReLU6(),
    "leaky_relu": nn.LeakyReLU(0.2),
    "elu": nn.ELU(),
    "selu": nn.SELU(),
    "celu": nn.CELU(0.5),
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU("tanh"),
    "hardtanh": nn.Hardtanh(-2.0, 2.0),
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "softplus": nn.Softplus(),
    "softsign": nn.Softsign(),
    "silu": nn.SiLU(),
    "mish": nn.Mish(),
    "hardswish": nn.Hardswish(),
    "hardsigmoid": nn.Hardsigmoid(),
    "hardshrink": nn.Hardshrink(),
    "softshrink": nn.Softshrink(),
    "tanhshrink": nn.Tanhshrink(),
    "threshold": nn.Threshold(0.1, 20),
    "prelu": nn.PReLU(),
    "glu": nn.GLU(),
    "log_sigmoid": nn.LogSigmoid(),
    "softmax": nn.Softmax(dim=1),
    "log_softmax": nn.LogSoftmax(dim=-1),
    "softmin": nn.Softmin(dim=0),
    "cross_entropy": nn.CrossEntropyLoss(),
    "mse": nn.MSELoss(),
    "rnn": nn.RNN(3, 4, 2, nonlinearity="relu"),
    "lstm": nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, dropout=0.5),
    "gru": nn.GRU(3, 4),
    "lstm_cell": nn.LSTMCell(3, 4),
    "gru_cell": nn.GRUCell(3, 4, bias=False),
    "rnn_cell": nn.RNNCell(3, 4),
    "parameter_list": nn.ParameterList([nn.Parameter(torch.zeros(2, 3)), nn.Parameter(torch.zeros(4))]),
    "parameter_dict": nn.ParameterDict({"left": nn.Parameter(torch.zeros(2, 3))}),
}


def numbers(values):
    return ", ".join(repr(float(v)) for v in values)


def row(name, values):
    print(f'    {{"{name}", {{{numbers(values)}}}}},')


def flat(module):
    return [v for p in module.state_dict().values() for v in p.flatten().tolist()]


INITIAL = {
    "linear": lambda: flat(nn.Linear(4, 3)),
    "bilinear": lambda: flat(nn.Bilinear(2, 3, 2)),
    "conv1d": lambda: flat(nn.Conv1d(2, 3, 2)),
    "conv2d": lambda: flat(nn.Conv2d(2, 2, 3)),
    "conv_transpose2d": lambda: flat(nn.ConvTranspose2d(2, 3, 2)),
    "embedding": lambda: flat(nn.Embedding(5, 4, padding_idx=1)),
    "lstm": lambda: flat(nn.LSTM(2, 3, 1)),
    "attention": lambda: flat(nn.MultiheadAttention(4, 2)),
}


def encoder_output():
    torch.manual_seed(11)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    return layer(torch.randn(3, 2, 8)).flatten().tolist()


def recurrent_output(make):
    torch.manual_seed(5)
    layer = make()
    return layer(torch.randn(4, 2, 3))[0].flatten().tolist()


def cell_output():
    torch.manual_seed(5)
    layer = nn.LSTMCell(3, 4)
    return layer(torch.randn(2, 3))[1].flatten().tolist()


INITIAL.update({
    "encoder_layer_output": encoder_output,
    "rnn_output": lambda: recurrent_output(lambda: nn.RNN(3, 4, 2)),
    "lstm_output": lambda: recurrent_output(lambda: nn.LSTM(3, 4, 2, bidirectional=True)),
    "gru_output": lambda: recurrent_output(lambda: nn.GRU(3, 4)),
    "lstm_cell_output": cell_output,
})


def train(model, make, inputs, targets, loss_function, steps=10):
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def mlp(make):
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))
    return train(model, make, torch.randn(20, 6), torch.randn(20, 3), nn.MSELoss())


def cnn(make):
    torch.manual_seed(50)
    model = Network()
    inputs = torch.rand(16, 1, 28, 28)
    return train(model, make, inputs, torch.arange(16) % 10, nn.CrossEntropyLoss())


def normed(make):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.GELU(), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.LayerNorm(8), nn.Linear(8, 4))
    return train(model, make, torch.randn(8, 3, 8, 8), torch.arange(8) % 4,
                 nn.CrossEntropyLoss(label_smoothing=0.1))


TRAINING = {
    "mlp_sgd": lambda: mlp(lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    "mlp_adam": lambda: mlp(lambda p: torch.optim.Adam(p, 0.01)),
    "mlp_rmsprop": lambda: mlp(lambda p: torch.optim.RMSprop(p, 0.003)),
    "cnn_sgd": lambda: cnn(lambda p: torch.optim.SGD(p, 0.05, momentum=0.9)),
    "cnn_adam": lambda: cnn(lambda p: torch.optim.Adam(p, 0.005)),
    "normed_adamw": lambda: normed(lambda p: torch.optim.AdamW(p, 0.01)),
}

print("// Written by tests/golden/nn.py from PyTorch", torch.__version__.split("a")[0] + ".")
print("inline const std::map<std::string, std::string> golden_prints = {")
for name, module in PRINTS.items():
    lines = repr(module).split("\n")
    text = "\n        ".join('"' + l + ("\\n" if i + 1 < len(lines) else "") + '"' for i, l in enumerate(lines))
    print(f'    {{"{name}", {text}}},')
print("};")
print("inline const std::map<std::string, std::vector<double>> golden_values = {")
for name, make in INITIAL.items():
    torch.manual_seed(0)
    row(name, make())
print("};")
print("inline const std::map<std::string, std::vector<double>> golden_losses = {")
for name, make in TRAINING.items():
    row(name, make())
print("};")
