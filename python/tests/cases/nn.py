"""Modules: outputs, gradients, printing, state dicts and errors, from one seed."""

import copy
import warnings

# (how a module is made, its inputs). Inputs: n(shape) normal, u(shape) uniform, i(high, shape) integers, s(shape) signs,
# or any expression.
MODULES = [line.split(" | ") for line in """
Identity() | n(2, 3)
Linear(4, 3) | n(2, 4)
Linear(4, 3, bias=False) | n(2, 5, 4)
Bilinear(3, 4, 2) | n(5, 3), n(5, 4)
LazyLinear(3) | n(2, 4)
Conv1d(4, 6, 3) | n(2, 4, 9)
Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False) | n(2, 4, 9)
Conv1d(2, 2, 4, padding='same', padding_mode='circular') | n(2, 2, 9)
Conv2d(3, 4, 3) | n(2, 3, 7, 6)
Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(1, 2), padding_mode='reflect') | n(2, 3, 7, 6)
Conv2d(3, 6, 3, padding='same', groups=3) | n(3, 7, 6)
Conv2d(3, 4, 3, padding=1, padding_mode='replicate') | n(2, 3, 7, 6)
Conv3d(2, 3, 2, padding=1) | n(2, 2, 4, 5, 3)
ConvTranspose1d(3, 4, 3, stride=2, output_padding=1) | n(2, 3, 5)
ConvTranspose2d(3, 4, 3, stride=2, padding=1, dilation=2, groups=1) | n(2, 3, 4, 5)
ConvTranspose2d(3, 4, 3, stride=2) | n(2, 3, 4, 5), [10, 12]
ConvTranspose3d(2, 2, 2, bias=False) | n(1, 2, 3, 3, 2)
LazyConv1d(3, 2) | n(2, 4, 6)
LazyConv2d(3, 2, padding=1) | n(2, 4, 6, 5)
LazyConv3d(3, 2) | n(2, 4, 3, 4, 5)
LazyConvTranspose1d(3, 2) | n(2, 4, 6)
LazyConvTranspose2d(3, 2, 2) | n(2, 4, 6, 5)
LazyConvTranspose3d(3, 2) | n(2, 4, 3, 4, 5)
MaxPool1d(3) | n(2, 3, 8)
MaxPool1d(3, 1, return_indices=True) | n(2, 3, 8)
MaxPool2d(2, stride=1, padding=1, ceil_mode=True) | n(2, 3, 6, 7)
MaxPool2d((2, 3), dilation=2) | n(2, 3, 6, 7)
MaxPool3d(2, return_indices=True) | n(2, 3, 4, 4, 5)
AvgPool1d(3, stride=2, padding=1) | n(2, 3, 8)
AvgPool2d(2, count_include_pad=False, padding=1) | n(2, 3, 6, 7)
AvgPool2d((3, 2), stride=(2, 1), divisor_override=3) | n(2, 3, 6, 7)
AvgPool3d(2, ceil_mode=True) | n(2, 3, 5, 4, 5)
LPPool1d(2, 3) | u(2, 3, 8)
LPPool2d(1.5, 2, stride=1) | u(2, 3, 5, 4)
LPPool3d(2, 2) | u(2, 3, 4, 4, 4)
AdaptiveAvgPool1d(3) | n(2, 3, 8)
AdaptiveAvgPool2d((3, None)) | n(2, 3, 6, 7)
AdaptiveAvgPool3d((2, 3, 1)) | n(2, 3, 4, 5, 6)
AdaptiveMaxPool1d(3) | n(2, 3, 8)
AdaptiveMaxPool2d(3, return_indices=True) | n(2, 3, 6, 7)
AdaptiveMaxPool3d((2, None, 1)) | n(2, 3, 4, 5, 6)
FractionalMaxPool2d(2, output_size=(3, 4), _random_samples=u(2, 3, 2).detach()) | n(2, 3, 7, 9)
FractionalMaxPool3d(2, output_ratio=0.5, _random_samples=u(2, 3, 3).detach()) | n(2, 3, 6, 6, 7)
MaxUnpool1d(2) | n(2, 3, 4), torch.arange(0, 8, 2).expand(2, 3, 4)
MaxUnpool2d(2, stride=2) | n(1, 1, 2, 2), torch.tensor([[[[5, 7], [13, 15]]]])
MaxUnpool2d(2) | n(1, 1, 2, 2), torch.tensor([[[[5, 7], [13, 15]]]]), [5, 5]
MaxUnpool3d(2) | n(1, 1, 1, 1, 2), torch.tensor([[[[[0, 2]]]]])
BatchNorm1d(3) | n(4, 3)
BatchNorm1d(3, momentum=None, eps=1e-3) | n(4, 3, 5)
BatchNorm2d(3, affine=False) | n(4, 3, 2, 5)
BatchNorm2d(3, track_running_stats=False) | n(4, 3, 2, 5)
BatchNorm2d(3, bias=False) | n(4, 3, 2, 5)
BatchNorm3d(2) | n(2, 2, 3, 2, 2)
SyncBatchNorm(3) | n(4, 3)
LazyBatchNorm1d() | n(4, 3)
LazyBatchNorm2d() | n(4, 3, 2, 2)
LazyBatchNorm3d(affine=False) | n(4, 3, 2, 2, 2)
InstanceNorm1d(3) | n(2, 3, 6)
InstanceNorm1d(3, affine=True) | n(3, 6)
InstanceNorm2d(3, affine=True, track_running_stats=True) | n(2, 3, 4, 5)
InstanceNorm3d(2) | n(2, 2, 3, 3, 2)
LazyInstanceNorm1d() | n(2, 3, 6)
LazyInstanceNorm2d() | n(2, 3, 6, 2)
LazyInstanceNorm3d() | n(2, 3, 6, 2, 2)
LayerNorm(5) | n(2, 3, 5)
LayerNorm((3, 5), elementwise_affine=False) | n(2, 3, 5)
LayerNorm((5,), bias=False, eps=1e-3) | n(2, 3, 5)
RMSNorm(5) | n(2, 3, 5)
RMSNorm((3, 5), eps=0.1, elementwise_affine=False) | n(2, 3, 5)
GroupNorm(2, 4) | n(2, 4, 5)
GroupNorm(1, 4, affine=False) | n(2, 4, 5)
LocalResponseNorm(3) | n(2, 5, 4, 3)
ReLU() | n(2, 3)
ReLU(inplace=True) | n(2, 3) * 1
ReLU6() | n(2, 3) * 5
ELU(0.7) | n(2, 3)
CELU(0.7) | n(2, 3)
SELU() | n(2, 3)
GELU() | n(2, 3)
GELU('tanh') | n(2, 3)
GLU() | n(2, 4)
SiLU() | n(2, 3)
Mish() | n(2, 3)
Sigmoid() | n(2, 3)
LogSigmoid() | n(2, 3)
Hardsigmoid() | n(2, 3) * 4
Hardswish() | n(2, 3) * 4
Hardtanh(-0.5, 0.7) | n(2, 3)
Hardtanh(inplace=True) | n(2, 3) * 1
Hardshrink() | n(2, 3)
Softshrink(0.3) | n(2, 3)
Tanhshrink() | n(2, 3)
Tanh() | n(2, 3)
Softsign() | n(2, 3)
Softplus(2, 1) | n(2, 3)
LeakyReLU(0.2) | n(2, 3)
LeakyReLU(0.2, True) | n(2, 3) * 1
PReLU() | n(2, 3)
PReLU(3) | n(2, 3, 4)
RReLU() | n(2, 3)
Threshold(0.1, 20) | n(2, 3)
Softmax(1) | n(2, 3)
Softmax() | n(2, 3)
Softmin(0) | n(2, 3)
LogSoftmax(dim=-1) | n(2, 3)
Softmax2d() | n(2, 3, 2, 2)
Dropout(0.0) | n(4, 5)
Dropout1d() | n(4, 5, 3)
Dropout2d(0.3) | n(4, 5, 3, 3)
Dropout3d(0.3) | n(2, 5, 2, 2, 2)
AlphaDropout(0.3) | n(4, 5)
FeatureAlphaDropout(0.3) | n(4, 5, 3)
Flatten() | n(2, 3, 4)
Flatten(0, 1) | n(2, 3, 4)
Unflatten(1, (2, 3)) | n(2, 6)
Fold((4, 5), (2, 2)) | n(2, 12, 12)
Unfold(2, padding=1, stride=(1, 2)) | n(2, 3, 4, 5)
PixelShuffle(2) | n(2, 8, 3, 2)
PixelUnshuffle(2) | n(2, 3, 4, 6)
ChannelShuffle(2) | n(2, 4, 3, 3)
Upsample(scale_factor=2) | n(2, 3, 3)
Upsample(size=(5, 7), mode='bilinear') | n(2, 3, 3, 4)
Upsample(scale_factor=(2, 1.5), mode='bicubic', align_corners=True) | n(2, 3, 3, 4)
Upsample(size=4, mode='trilinear') | n(1, 2, 3, 3, 3)
Upsample(scale_factor=2.5, mode='linear', recompute_scale_factor=True) | n(2, 3, 5)
UpsamplingNearest2d(scale_factor=2) | n(2, 3, 3, 4)
UpsamplingBilinear2d(size=(5, 5)) | n(2, 3, 3, 4)
ZeroPad1d(1) | n(2, 3, 4)
ZeroPad2d((1, 2, 0, -1)) | n(2, 3, 4, 4)
ZeroPad3d(1) | n(2, 3, 4, 2, 2)
ConstantPad1d(2, 3.5) | n(2, 3, 4)
ConstantPad2d((1, 0, 2, 0), -1) | n(2, 3, 4, 4)
ConstantPad3d(1, 0.5) | n(2, 3, 4, 2, 2)
ReflectionPad1d((2, 1)) | n(2, 3, 4)
ReflectionPad2d(1) | n(2, 3, 4, 4)
ReflectionPad3d(1) | n(2, 3, 4, 2, 2)
ReplicationPad1d(2) | n(2, 3, 4)
ReplicationPad2d((1, 2, 3, 4)) | n(2, 3, 4, 4)
ReplicationPad3d(1) | n(2, 3, 4, 2, 2)
CircularPad1d((2, 1)) | n(2, 3, 4)
CircularPad2d(1) | n(2, 3, 4, 4)
CircularPad3d(1) | n(2, 3, 4, 2, 2)
Embedding(6, 3) | i(6, 2, 4)
Embedding(6, 3, padding_idx=-2, scale_grad_by_freq=True) | i(6, 2, 4)
Embedding(6, 3, max_norm=1.0, norm_type=1) | i(6, 2, 4)
EmbeddingBag(6, 3) | i(6, 2, 4)
EmbeddingBag(6, 3, mode='sum') | i(6, 7), torch.tensor([0, 3, 3]), u(7)
EmbeddingBag(6, 3, mode='max', padding_idx=1, include_last_offset=True) | i(6, 7), torch.tensor([0, 3, 7])
CosineSimilarity() | n(2, 3), n(2, 3)
PairwiseDistance(1, keepdim=True) | n(2, 3), n(2, 3)
RNN(3, 4) | n(5, 2, 3)
RNN(3, 4, 2, 'relu', bidirectional=True) | n(5, 2, 3), n(4, 2, 4)
RNN(3, 4, nonlinearity='relu', bias=False) | n(5, 3)
LSTM(3, 4) | n(5, 2, 3)
LSTM(3, 4, 2, batch_first=True, bidirectional=True) | n(2, 5, 3), (n(4, 2, 4), n(4, 2, 4))
LSTM(3, 4, 2, proj_size=2) | n(5, 2, 3)
LSTM(3, 4, batch_first=True) | n(5, 3), (n(1, 4), n(1, 4))
GRU(3, 4, num_layers=2) | n(5, 2, 3), n(2, 2, 4)
GRU(3, 4, bias=False, bidirectional=True) | n(5, 2, 3)
LSTM(3, 4, 2, bidirectional=True) | packed([3, 5, 2])
GRU(3, 4) | packed([3, 5, 2]), n(1, 3, 4)
RNN(3, 4) | packed([5, 3])
RNNCell(3, 4) | n(2, 3)
RNNCell(3, 4, nonlinearity='relu', bias=False) | n(3), n(4)
LSTMCell(3, 4) | n(2, 3), (n(2, 4), n(2, 4))
LSTMCell(3, 4) | n(3)
GRUCell(3, 4) | n(2, 3), n(2, 4)
MultiheadAttention(8, 2) | n(3, 2, 8), n(4, 2, 8), n(4, 2, 8)
MultiheadAttention(8, 2, bias=False, batch_first=True) | *[n(2, 4, 8)] * 3
MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True) | n(3, 2, 8), n(4, 2, 8), n(4, 2, 8)
MultiheadAttention(8, 2, kdim=3, vdim=5) | n(3, 2, 8), n(4, 2, 3), n(4, 2, 5), torch.tensor([[False, True, False, False]] * 2)
MultiheadAttention(8, 4) | n(3, 8), n(4, 8), n(4, 8), None, True, torch.ones(3, 4).triu(2).bool(), False
TransformerEncoderLayer(8, 2, 12, dropout=0.0) | n(3, 2, 8)
TransformerEncoderLayer(8, 2, 12, dropout=0.0, activation='gelu', norm_first=True, batch_first=True, bias=False) | n(2, 3, 8)
TransformerDecoderLayer(8, 2, 12, dropout=0.0) | n(3, 2, 8), n(4, 2, 8)
TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0), 2, torch.nn.LayerNorm(8)) | n(3, 2, 8), causal(3)
TransformerDecoder(torch.nn.TransformerDecoderLayer(8, 2, 12, 0.0, norm_first=True), 2) | n(3, 2, 8), n(4, 2, 8), causal(3)
Transformer(8, 2, 1, 2, 12, dropout=0.0) | n(3, 2, 8), n(4, 2, 8), None, causal(4)
Transformer(8, 2, 1, 1, 12, dropout=0.0, batch_first=True) | n(2, 3, 8), n(2, 4, 8)
AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0) | n(5, 16), torch.tensor([0, 3, 4, 12, 19])
L1Loss() | n(2, 3), n(2, 3)
MSELoss(reduction='sum') | n(2, 3), n(2, 3)
MSELoss(size_average=False) | n(2, 3), n(2, 3)
SmoothL1Loss(beta=0.5) | n(2, 3), n(2, 3)
HuberLoss(delta=0.5, reduction='none') | n(2, 3), n(2, 3)
NLLLoss() | n(4, 3), i(3, 4)
NLLLoss(weight=torch.tensor([1.0, 2.0, 3.0]), ignore_index=1) | n(2, 3, 4), i(3, 2, 4)
NLLLoss2d() | n(2, 3, 4, 2), i(3, 2, 4, 2)
CrossEntropyLoss() | n(4, 3), i(3, 4)
CrossEntropyLoss(label_smoothing=0.1, weight=torch.tensor([1.0, 2.0, 3.0])) | n(4, 3), i(3, 4)
CrossEntropyLoss(reduction='none') | n(4, 3), u(4, 3)
PoissonNLLLoss(full=True) | n(2, 3), u(2, 3) * 4
GaussianNLLLoss() | n(2, 3), n(2, 3), u(2, 3)
KLDivLoss(reduction='batchmean') | n(2, 3), u(2, 3)
KLDivLoss(log_target=True) | n(2, 3), n(2, 3)
BCELoss() | u(2, 3), u(2, 3)
BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0])) | n(2, 3), u(2, 3)
HingeEmbeddingLoss() | n(2, 3), s(2, 3)
MultiLabelMarginLoss() | n(2, 3), torch.tensor([[0, 2, -1], [1, -1, 0]])
SoftMarginLoss() | n(2, 3), s(2, 3)
MultiLabelSoftMarginLoss() | n(2, 3), (u(2, 3) > 0.5).float()
CosineEmbeddingLoss(margin=0.1) | n(3, 4), n(3, 4), s(3)
MarginRankingLoss(0.1) | n(4), n(4), s(4)
MultiMarginLoss(p=2, margin=0.5) | n(3, 4), i(4, 3)
TripletMarginLoss(swap=True) | n(3, 4), n(3, 4), n(3, 4)
TripletMarginWithDistanceLoss(margin=2.0) | n(3, 4), n(3, 4), n(3, 4)
CTCLoss() | n(6, 2, 4).log_softmax(2), torch.tensor([[1, 2, 3], [1, 1, 0]]), torch.tensor([6, 5]), torch.tensor([3, 2])
Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1)) | n(4, 2)
""".strip().splitlines()]


def scope(torch):
    """The names in MODULES."""
    def packed(lengths):
        rows = [torch.randn(n, 3) for n in lengths]
        return torch.nn.utils.rnn.pack_sequence(rows, enforce_sorted=False)
    return {"torch": torch, "packed": packed, "n": lambda *s: torch.randn(*s, requires_grad=True),
            "u": lambda *s: torch.rand(*s, requires_grad=True), "i": lambda high, *s: torch.randint(high, s),
            "s": lambda *s: torch.randint(2, s).float() * 2 - 1,
            "causal": lambda n: torch.nn.Transformer.generate_square_subsequent_mask(n)}


def _tensors(torch, value):
    """The tensors in nested results, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in _tensors(torch, v)] if isinstance(value, (list, tuple)) else []


def _numbers(tensor):
    """Shape and numbers; of many the sum, the sum of absolute values and some of them."""
    flat = tensor.detach().double().flatten()
    some = flat.tolist()
    if len(some) > 16:
        step = len(some) // 10
        some = [float(flat.sum()), float(flat.abs().sum()), *some[::step]]
    return [list(tensor.shape)] + [float(f"{x:.7g}") for x in some]


def forward(torch, made, inputs):
    """A module's output and gradients in training, its output in evaluation, its printing, keys and numbers."""
    names = scope(torch)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = eval("torch.nn." + made, names)
        first = repr(module)
        args = eval(f"[{inputs}]", names)
        outputs = _tensors(torch, module(*args))
        floats = [o for o in outputs if o.is_floating_point() and o.requires_grad]
        weights = [torch.linspace(0.5, 1.5, max(o.numel(), 1)).reshape(o.shape) for o in floats]
        if floats:
            sum((o * w).sum() for o, w in zip(floats, weights)).backward()
        grads = [t.grad for t in _tensors(torch, args) if t.is_leaf and t.grad is not None]
        grads += [p.grad for p in module.parameters() if p.grad is not None]
        module.eval()
        evaluated = _tensors(torch, module(*args))
    return {"outputs": [_numbers(o) for o in outputs], "grads": [_numbers(g.to_dense() if g.is_sparse else g) for g in grads],
            "evaluated": [_numbers(o) for o in evaluated], "repr": [first, repr(module)],
            "state": [[k, list(v.shape)] for k, v in module.state_dict().items()],
            "values": [[k, *_numbers(v)[1:]] for k, v in module.state_dict().items()]}


_INITS = """
uniform_(w, -1, 2)
normal_(w, 1.0, 0.1)
trunc_normal_(w, 0.0, 1.0, -1.0, 1.5)
trunc_normal_(w, 1.0, 0.5, 2.0, 4.0)
constant_(w, 3)
ones_(w)
zeros_(w)
eye_(w)
dirac_(c)
dirac_(c, 2)
xavier_uniform_(c, gain=2.0)
xavier_normal_(w)
kaiming_uniform_(c, a=1.0, mode='fan_out', nonlinearity='leaky_relu')
kaiming_normal_(w, nonlinearity='relu')
orthogonal_(w, gain=2)
orthogonal_(c)
sparse_(w, 0.4)
"""


def inits(torch):
    out = {}
    for line in _INITS.strip().splitlines():
        torch.manual_seed(3)
        tensor = eval("torch.nn.init." + line, {"torch": torch, "w": torch.empty(4, 6), "c": torch.empty(4, 3, 3)})
        out[line] = _numbers(tensor)
    return out


_WRONG = """
m.weight
setattr(m, '0', 3)
m.register_buffer(3, None)
m.register_buffer('a.b', None)
m.register_buffer('training', None)
m.register_buffer('b', 3)
nn.Linear(2, 3).register_parameter('weight', torch.ones(2))
nn.Linear(2, 3).register_parameter('', nn.Parameter(torch.ones(2)))
nn.Linear(2, 3).register_parameter('w', nn.Parameter(torch.ones(2)) * 2)
setattr(nn.Linear(2, 3), 'weight', torch.ones(2))
setattr(nn.BatchNorm1d(2), 'running_mean', 3)
m.load_state_dict({'x': 1})
m.load_state_dict({'0.weight': torch.ones(2), '0.bias': 4})
m.load_state_dict([])
m.to(torch.int32)
nn.Module()(3)
m.get_submodule('0.x')
m.get_submodule('0.weight')
m.get_parameter('0.x')
m.get_buffer('0.weight')
m.set_submodule('0', 3)
m.set_submodule('', m)
m[5]
nn.Module(3)
nn.Module(a=3)
m.add_module('a', 3)
m.add_module('', m)
m.add_module(3, m)
m.add_module('a.b', m)
nn.ModuleList([1])
nn.ModuleDict({'a': 1})
nn.ModuleDict(3)
nn.ModuleDict([(1, 2, 3)])
nn.ModuleList([m])(3)
nn.ParameterList([1])(3)
m.train(3)
nn.Linear(2, 3).register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True) and None
nn.Conv2d(3, 4, 3, groups=2)
nn.Conv2d(4, 3, 3, groups=2)
nn.Conv2d(4, 4, 3, groups=0)
nn.Conv2d(3, 4, 3, padding='same', stride=2)
nn.ConvTranspose2d(3, 4, 3, padding_mode='reflect')
nn.ConvTranspose2d(3, 4, 3, stride=2)(torch.ones(1, 3, 4, 4), [20, 20])
nn.BatchNorm1d(3)(torch.ones(1, 3))
nn.BatchNorm1d(3)(torch.ones(1))
nn.BatchNorm2d(3)(torch.ones(1, 3))
nn.InstanceNorm1d(3, affine=True)(torch.ones(2, 4, 5))
nn.InstanceNorm1d(3)(torch.ones(2))
nn.InstanceNorm2d(3)(torch.ones(2, 3, 1, 1))
nn.GroupNorm(3, 4)
nn.LocalResponseNorm(2)(torch.ones(2))
nn.Dropout(2)
F.dropout(torch.ones(2), -1)
F.dropout1d(torch.ones(2))
nn.Softmax2d()(torch.ones(2, 2))
nn.Embedding(3, 2, padding_idx=5)
nn.Embedding(0, 3, padding_idx=0)
nn.Embedding(0, 3, padding_idx=-1)
nn.EmbeddingBag(3, 2, padding_idx=5)
F.embedding_bag(torch.tensor([1]), torch.ones(3, 2), torch.tensor([0]), padding_idx=3)
F.embedding_bag(torch.tensor([1]), torch.ones(3, 2), torch.tensor([0]), mode='sum', per_sample_weights=torch.ones(1).double())
nn.Embedding(3, 2, _weight=torch.ones(2, 2))
nn.Embedding.from_pretrained(torch.ones(2))
F.embedding_bag(torch.tensor([[1]]), torch.ones(3, 2), mode='x')
nn.MultiheadAttention(5, 2)
nn.MultiheadAttention(0, 2)
nn.MultiheadAttention(4, 2)(torch.ones(4), torch.ones(2, 4), torch.ones(2, 4))
nn.MultiheadAttention(4, 2)(torch.ones(2, 4), torch.ones(2, 1, 4), torch.ones(2, 4))
nn.Transformer(4, 2, 1, 1, 4)(torch.ones(2, 3, 4), torch.ones(2, 2, 4))
nn.Transformer(4, 2, 1, 1, 4)(torch.ones(2, 2, 5), torch.ones(2, 2, 4))
nn.TransformerEncoderLayer(4, 2, activation='x')
nn.LSTM(3, 4, proj_size=5)
nn.GRU(3, 4, proj_size=2)
nn.RNN(3, 4, nonlinearity='x')
nn.RNN(3, 0)
nn.RNN(3, 4, 0)
nn.LSTM(3, 4, dropout=2)
nn.LSTM('a', 4)
nn.LSTM(3, 4)(torch.ones(2, 2))
nn.LSTM(3, 4)(torch.ones(2, 2, 2, 2))
nn.LSTM(3, 4)(torch.ones(2, 2, 3), (torch.ones(2, 2, 4), torch.ones(1, 2, 4)))
nn.GRU(3, 4)(torch.ones(2, 2, 3), torch.ones(1, 4))
nn.GRU(3, 4)(torch.ones(2, 3), torch.ones(1, 1, 4))
nn.LSTM(3, 4)(torch.ones(2, 2, 3).double())
nn.RNNCell(3, 4)(torch.ones(2, 2, 3))
nn.RNNCell(3, 4)(torch.ones(2, 4))
nn.RNNCell(3, 4)(torch.ones(2, 3), torch.ones(3, 4))
nn.RNNCell(3, 4, nonlinearity='q')(torch.ones(2, 3))
nn.LSTMCell(3, 4)(torch.ones(2, 2, 3))
nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [1, 2])
nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [2, 0])
nn.utils.rnn.pad_sequence([])
nn.utils.rnn.pad_packed_sequence(nn.utils.rnn.pack_sequence([torch.ones(2)]), total_length=1)
nn.BCELoss()(torch.ones(2), torch.ones(3))
nn.BCEWithLogitsLoss()(torch.ones(2), torch.ones(3))
nn.MultiMarginLoss(p=3)
nn.TripletMarginLoss(margin=0)
nn.TripletMarginWithDistanceLoss(margin=-1)
F.mse_loss(torch.ones(2), torch.ones(2), reduction='x')
F.gaussian_nll_loss(torch.ones(2), torch.ones(2), torch.ones(2), reduction='x')
F.margin_ranking_loss(torch.ones(2), torch.ones(2), torch.ones(2, 2))
F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 2), mode='x')
F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 2), padding_mode='x')
F.pad(torch.ones(2, 2), (1, 1), mode='reflect', value=2)
F.pad(torch.ones(2, 2), (1,))
F.interpolate(torch.ones(1, 1, 2, 2))
F.interpolate(torch.ones(1, 1, 2, 2), size=2, scale_factor=2)
F.interpolate(torch.ones(1, 1, 2, 2), size=(2, 2, 2))
F.interpolate(torch.ones(1, 1, 2, 2), scale_factor=(2, 2, 2))
F.interpolate(torch.ones(1, 1, 2, 2), size=2, align_corners=True)
F.hardtanh(torch.ones(2), 2, 1)
F.glu(torch.ones(()))
F.fractional_max_pool2d(torch.ones(1, 1, 4, 4), 2)
nn.FractionalMaxPool2d(2)
nn.FractionalMaxPool2d(2, output_ratio=2)
nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2])
nn.Unflatten(1, 3)
nn.Unflatten(1, (2, 'a'))
nn.Hardtanh(2, 1)
nn.init.eye_(torch.ones(2))
nn.init.dirac_(torch.ones(2))
nn.init.xavier_uniform_(torch.ones(2))
nn.init.kaiming_uniform_(torch.ones(2, 2), mode='x')
nn.init.orthogonal_(torch.ones(2))
nn.init.sparse_(torch.ones(2), 0.1)
nn.init.calculate_gain('x')
nn.init.calculate_gain('leaky_relu', 'x')
nn.utils.remove_weight_norm(m)
nn.utils.remove_spectral_norm(m)
nn.utils.clip_grad_norm_([inf], 1.0, error_if_nonfinite=True)
nn.utils.vector_to_parameters(3, [])
nn.utils.parametrize.remove_parametrizations(m, 'weight')
nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))
"""


def errors(torch):
    """{statement: type and text of what it raises}; "fine" where nothing is."""
    out = {}
    for statement in _WRONG.strip().splitlines():
        inf = torch.nn.Parameter(torch.ones(1))
        inf.grad = torch.tensor([float("inf")])
        names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "m": torch.nn.Sequential(torch.nn.Linear(2, 3)),
                 "inf": inf}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                eval(statement, names)
                out[statement] = "fine"
            except Exception as error:
                out[statement] = f"{type(error).__name__}: {error}"
    return out


def _container(torch):
    nn = torch.nn
    return {
        "Sequential": nn.Sequential(nn.Linear(2, 3), nn.ReLU(True)) * 2,
        "ModuleList": nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)]),
        "ModuleDict": nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Sequential()}),
        "ParameterList": nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.ones(2)), 3]),
        "ParameterDict": nn.ParameterDict({"a": torch.ones(2, 3), "b": nn.Parameter(torch.ones(2)), "c": 3}),
        "nested": nn.Sequential(nn.ModuleList([nn.Sequential(nn.Conv2d(1, 2, 3))] * 3), nn.Identity())}


def containers(torch):
    """{name: [printing, keys, dir's own names]}"""
    return {name: [repr(c), list(c.state_dict()), [n for n, _ in c.named_modules()], [n for n, _ in c.named_children()]]
            for name, c in _container(torch).items()}


def hooks(torch):
    """The order in which hooks of all kinds are called, and what they see."""
    seen = []
    nn = torch.nn
    module = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        module[0].bias.zero_()

    def note(name):
        def call(*args):
            seen.append([name] + [[t if t is None else [round(x, 5) for x in t.flatten().tolist()] for t in a]
                                  if isinstance(a, tuple) else type(a).__name__ for a in args])
        return call
    handles = [module.register_forward_pre_hook(note("pre")), module[0].register_forward_hook(note("inner")),
               module.register_forward_hook(note("kwargs"), with_kwargs=True),
               module.register_forward_hook(note("first"), prepend=True),
               module[0].register_full_backward_hook(note("backward")), module.register_full_backward_pre_hook(note("before")),
               module[1].register_full_backward_hook(note("tanh")),
               nn.modules.module.register_module_forward_hook(note("global")),
               module.register_state_dict_pre_hook(note("state"))]
    x = torch.tensor([[0.1, 0.2]], requires_grad=True)
    module(x).sum().backward()
    module.state_dict()
    for handle in handles:
        handle.remove()
    module(x).sum().backward()
    module[0].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    module[1].register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    module.register_forward_hook(lambda m, a, out: out * 10)
    module.register_forward_pre_hook(lambda m, a: (a[0] + 1,))
    x.grad = None
    out = module(x)
    out.sum().backward()
    return {"seen": seen, "changed": [_numbers(out), _numbers(x.grad)]}


def copies(torch):
    """Whether copies are equal, and apart from each other."""
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    other = copy.deepcopy(module)
    with torch.no_grad():
        other[0].weight.zero_()
    return [bool((module[0].weight == 0).all()), list(other.state_dict()), other.training]


def all_results(torch):
    return {"modules": {f"{made} | {inputs}": forward(torch, made, inputs) for made, inputs in MODULES},
            "inits": inits(torch), "errors": errors(torch), "containers": containers(torch), "hooks": hooks(torch),
            "copies": copies(torch)}
