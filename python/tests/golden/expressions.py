"""Expressions whose value, or error, is PyTorch's. Each is evaluated after `PREPARE`, with the seed 0."""

PREPARE = """
import math, copy, pickle, io
import numpy as np
f = torch.arange(6.).view(2, 3)
i = torch.arange(6).view(2, 3)
u = torch.arange(6, dtype=torch.uint8)
b = torch.tensor([True, False])
h = torch.tensor([1.5, -2.0], dtype=torch.half)
z = torch.tensor([1+2j, -1j])
d = torch.tensor([0.1, 0.2], dtype=torch.double)
g = torch.tensor([1., 2.], requires_grad=True)
s = torch.tensor(3)
"""

PRINTING = """
f
i
u
b
h
z
d
g
s
-f
torch.tensor([])
torch.empty(0, 3)
torch.empty(2, 0)
torch.tensor(1.)
torch.tensor(2.5, requires_grad=True)
torch.tensor(1e10)
torch.tensor([1e10, 1.])
torch.tensor([1e-10, 1.])
torch.tensor([1., 1000.5, 1e5])
torch.tensor([float('nan'), float('inf'), -float('inf'), 1.])
torch.tensor([float('nan')])
torch.tensor([1., 2., 3.])
torch.tensor([1.5, 2.25])
torch.tensor([123456., 1.])
torch.tensor([1, -200])
torch.arange(2000)
torch.arange(2000.).view(2, 1000)
torch.zeros(30, 40)
torch.zeros(2, 2, 2)
torch.zeros(1, 1, 1, 1)
torch.zeros(100)
torch.eye(3, dtype=torch.bool)
torch.tensor([1+1j, 2.5-3.25j])
torch.tensor([[1e5+1j], [1j]])
torch.tensor([1.1, 2.2], dtype=torch.bfloat16)
torch.tensor([1, 2], dtype=torch.int32)
torch.tensor([1.], dtype=torch.double, requires_grad=True)
g * 2
g.sum()
g.view(2, 1).t()
g.exp().unsqueeze(0)
torch.nn.functional.relu(g) if False else g.relu()
str(f)
f'{torch.tensor(1.5)}'
f'{torch.tensor(1.5):.2f}'
f'{torch.tensor(3):05d}'
'%s' % torch.tensor(1)
'%.2f' % torch.tensor(1.234)
repr(torch.float32), str(torch.int64), repr(torch.strided), repr(torch.channels_last)
repr(torch.channels_last_3d)
repr(torch.sparse_csr)
torch.device('cpu'), torch.device('cuda:1'), torch.device('cuda', 0), str(torch.device('cpu'))
torch.device('cuda:1').index, torch.device('cpu').index, torch.device('cuda').type
torch.device('cuda') == torch.device('cuda:0'), torch.device('cpu') == torch.device('cpu')
torch.Size([1, 2]), torch.Size([]), torch.Size([3]) + (1,), torch.Size((2, 3))[0], torch.Size([2, 3])[:1]
torch.Size([2, 3]).numel(), torch.Size([2, 3]) == (2, 3), list(torch.Size([2])), torch.Size([2, 3]) * 2
f.shape, f.size(), f.size(0), f.size(-1), f.stride(), f.stride(0), f.dim(), f.ndim, f.numel(), f.nelement()
f.dtype, i.dtype, b.dtype, z.dtype, h.dtype, d.dtype
f.layout, f.device, f.is_leaf, f.requires_grad, f.grad, f.grad_fn
f.type(), i.type(), b.type(), h.type(), z.type(), d.type(), u.type()
f.max(0)
f.sort(descending=True)
torch.finfo(torch.float32)
torch.finfo(torch.float16).max, torch.finfo(torch.float64).eps, torch.finfo(torch.bfloat16).tiny, torch.finfo().bits
torch.iinfo(torch.int8).max, torch.iinfo(torch.int64).min, torch.iinfo(torch.uint8).bits
torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3))
torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3)).coalesce()
torch.zeros(2, 3).to_sparse()
torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3., 4., 5.], (2, 3))
torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3., 4., 5.], (2, 3), dtype=torch.float64, requires_grad=True)
torch.eye(2000).to_sparse_csr()
torch.zeros(2, 3, layout=torch.sparse_csr)
torch.ones(2, device='meta')
torch.randn(3)
torch.rand(2, 2)
torch.randint(0, 10, (4,))
torch.randperm(6)
torch.bernoulli(torch.full((6,), 0.5))
torch.normal(0., 1., (3,))
torch.normal(torch.zeros(2), torch.ones(2))
torch.multinomial(torch.tensor([1., 2., 3.]), 2)
torch.empty(3).uniform_(-1, 1)
torch.empty(3).normal_(1, 2)
torch.empty(3).exponential_()
torch.randn(20)
torch.randn_like(f)
torch.rand(3, dtype=torch.double)
torch.randn(2, dtype=torch.complex64)
"""

NUMBERS = """
f + 1
1 + f
f + 1.5
i + 1
i + 1.5
(i + True).dtype
(u + 1).dtype, (u + 300).dtype, (u - 1)
(b + 1).dtype, (b + 1.5).dtype, (b + b).dtype, b & b, b | True, ~b, b ^ b
f + 1j
(h + 1.5).dtype, (d + 1).dtype, (f + d).dtype, (f + torch.tensor(1., dtype=torch.double)).dtype
(i + torch.tensor(1.)).dtype, (h + f).dtype, (h + torch.tensor(1.)).dtype, (u + i).dtype
2 - f
2 / f[0, 1:]
f / 2, i / 2, i // 2, f // 2, -i // 2, i % 4, -i % 4, f % 2.5, 7 % (i + 1), 7 // (i + 1), 7.5 // (f + 1)
2 ** f, f ** 2, i ** 2, 2 ** i, f ** -1.0, f ** 0.5
i ** -1
f @ f.t()
f == 1, f != i, f < 2, f >= 3, 2 > f
f == None, f != None
i << 1, i >> 1, 1 << i, i & 3, 3 | i, i ^ 1
abs(-f), +f, -i
~f
~i
divmod(f, 2)
round(torch.tensor(2.567), ) if False else torch.tensor(2.567).round(decimals=2)
int(s), float(s), bool(s), complex(s), int(torch.tensor(2.7)), float(torch.tensor([[1.5]]))
int(f)
float(f)
bool(f)
bool(torch.empty(0))
bool(torch.tensor([0.])), bool(torch.tensor([[1]]))
[1, 2, 3][torch.tensor(1)]
[1, 2, 3][torch.tensor(1.)]
list(range(s))
'ab' * s
math.sqrt(torch.tensor(4.)), math.floor(torch.tensor(2.5))
f.item()
s.item(), torch.tensor(1.5).item(), torch.tensor(True).item(), torch.tensor(1j).item()
type(torch.tensor(1.5).item()).__name__, type(s.item()).__name__, type(torch.tensor(True).item()).__name__
f.tolist(), s.tolist(), b.tolist(), z.tolist(), torch.empty(0, 2).tolist()
f + 'a'
'a' + f
f + [1, 2, 3]
f + None
b * 2
f.add(1, alpha=2), f.add(f, alpha=0.5), torch.add(f, 1), torch.sub(1, f) if False else torch.rsub(f, 1)
f + np.float32(1.5), i + np.int64(2), f * np.float64(2), np.float64(2) * f
f + np.ones(3, dtype=np.float32)
f + float('nan')
i + 2**40
u + 2**40
torch.tensor(2**63 - 1)
torch.fft.fft(torch.arange(4.)), torch.special.erf(torch.tensor(0.5))
torch.max(f, f * 2), torch.minimum(f, torch.tensor(2.)), f.clamp(1, 3), f.clamp(min=2), f.clip(max=2)
torch.tensor(2**63)
torch.tensor(-2**63)
torch.tensor(2**64)
torch.tensor(10**30)
torch.tensor(1, dtype=torch.uint8) - 2
torch.tensor([1, 2]) / torch.tensor([0, 0])
torch.tensor([1, 2]) // torch.tensor([0, 1])
torch.tensor(5) // 0
torch.tensor(5.) // 0, torch.tensor(5.) % 0
torch.true_divide(i, 4), torch.floor_divide(i, 4)
torch.div(i, 4, rounding_mode='trunc'), torch.div(-i, 4, rounding_mode='floor')
torch.result_type(f, 1), torch.result_type(i, 1.), torch.result_type(u, s), torch.promote_types(torch.half, torch.bfloat16)
torch.can_cast(torch.float, torch.int), torch.can_cast(torch.int, torch.float)
torch.get_default_dtype()
torch.is_tensor(f), torch.is_tensor(1), torch.is_floating_point(f), torch.is_complex(z), torch.numel(f)
torch.equal(f, f.clone()), torch.allclose(f, f + 1e-9), torch.isclose(f, f + 1)
f.sum(), i.sum().dtype, b.sum(), f.mean(), f.prod(), f.std(), f.var(unbiased=False), f.norm(), f.max(), f.argmax()
f.sum(0), f.sum(1, keepdim=True), f.sum((0, 1)), f.sum(dim=-1), f.sum(axis=0), f.mean(dim=0, keepdims=True)
f.sum(5)
f.max(dim=1), f.min(1).values, f.max(1)[1], f.max(1).indices
f.cumsum(0), f.argsort(dim=1, descending=True), f.topk(2), f.median(), f.mode(), f.quantile(0.5), f.unique()
torch.where(f > 2, f, 0.), torch.where(f > 2, 1, 0), torch.where(f > 2)
f.any(), f.all(), f.any(0), b.all()
f.view(-1), f.view(3, 2), f.reshape(6), f.view((3, 2)), f.view(4)
f.view(torch.int32)
f.t(), f.T, f.transpose(0, 1), f.permute(1, 0), f.permute((1, 0)), f.unsqueeze(0).shape, f.flatten()
f.expand(4, 2, 3).shape, f.repeat(2, 1), f.chunk(2), f.split(1), f.split([1, 1]), f.unbind(), f.squeeze().shape
f.split(2, dim=1), f.tile((2,)).shape, f.roll(1), f.flip(0), f.flip([0, 1]), f.rot90(), f.diag(), f.triu(), f.tril(-1)
torch.cat([f, f]), torch.cat((f, f), dim=1), torch.stack([f, f]).shape, torch.cat([f, i]).dtype, torch.hstack([f, f]).shape
torch.cat([f, torch.zeros(3, 3, 3)])
torch.einsum('ij,kj->ik', f, f), torch.tensordot(f, f, dims=([1], [1])), torch.outer(f[0], f[1]), f.mm(f.t())
torch.meshgrid(torch.arange(2), torch.arange(3), indexing='ij')
f.softmax(1), f.log_softmax(dim=-1), f.sigmoid(), f.tanh(), torch.logsumexp(f, 1)
f.gather(1, torch.tensor([[0], [2]])), f.index_select(1, torch.tensor([0, 2]))
f.masked_select(f > 2), f.take(torch.tensor([0, 5]))
f.clone().scatter_(1, torch.tensor([[0], [2]]), 9.), f.clone().masked_fill_(f > 2, -1), f.clone().fill_(3), f.clone().zero_()
f.clone().index_add_(0, torch.tensor([0, 0]), f), f.clone().index_fill(1, torch.tensor([0]), 5.)
f.nonzero(), f.nonzero(as_tuple=True), torch.bincount(torch.tensor([1, 1, 3])), torch.histc(f, 3)
torch.linalg.norm(f), torch.linalg.det(torch.eye(2)), torch.linalg.inv(2 * torch.eye(2)), torch.trace(f)
"""

CREATION = """
torch.tensor([[1, 2], [3]])
torch.tensor([1, 'a'])
torch.tensor('a')
torch.tensor(None)
torch.tensor([1, 2.5]), torch.tensor([True, 2]), torch.tensor([1, 2j])
torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
torch.tensor(np.ones((2, 2))), torch.tensor(np.float32(2))
torch.tensor(np.array([1, 2], dtype=np.int16)), torch.tensor(np.array(True))
torch.tensor([np.float64(1), np.float64(2)])
torch.tensor([torch.tensor(1), torch.tensor(2.5)])
torch.tensor((1, 2)), torch.tensor(range(3))
torch.as_tensor([1, 2]), torch.as_tensor(f) is f, torch.asarray([1.]).dtype
torch.zeros(2, 3), torch.zeros((2, 3)), torch.zeros([2, 3])
torch.zeros(torch.Size([2])), torch.zeros(()), torch.zeros(size=(2,))
torch.zeros(2, dtype=torch.int32), torch.ones(2, dtype=torch.bool)
torch.full((2,), 7), torch.full((2,), 7.), torch.full((1,), True)
torch.zeros(2.5)
torch.zeros('a')
torch.zeros(s)
torch.zeros(2, s)
torch.zeros(2, dtype='float')
torch.empty(2, 3).shape, torch.empty_like(f).shape, torch.zeros_like(i)
torch.ones_like(f, dtype=torch.long), torch.full_like(f, 2)
torch.arange(5), torch.arange(1, 4), torch.arange(0, 1, 0.25), torch.arange(5, 0, -2), torch.arange(3.), torch.arange(end=3)
torch.arange(0, 5, 0)
torch.linspace(0, 1, 5), torch.linspace(0, 1, steps=3), torch.logspace(0, 2, 3), torch.eye(2), torch.eye(2, 3)
torch.Tensor(2, 3).shape, torch.Tensor([1, 2]), torch.Tensor().shape
torch.FloatTensor([1, 2]), torch.LongTensor([1]), torch.Tensor(3).shape
torch.IntTensor(2, 3).shape, torch.ByteTensor([1]), torch.BoolTensor([1, 0]), torch.DoubleTensor([1])
isinstance(f, torch.FloatTensor), isinstance(i, torch.FloatTensor), isinstance(f, torch.Tensor)
f.new_zeros(2), f.new_ones((2,)), f.new_full((2,), 3), f.new_tensor([1, 2]), f.new_empty(2, 3).shape, i.new_zeros(1).dtype
f.to(torch.int), f.to('cpu') is f, f.to(torch.float32) is f, f.to(i).dtype
f.to('cpu', torch.double).dtype, f.to(dtype=torch.half).dtype
f.to(device='cpu', dtype=torch.long), f.type(torch.int16), f.type('torch.DoubleTensor').dtype, f.long(), f.bool(), f.int().dtype
f.type_as(i), f.double().dtype, f.half().dtype, f.bfloat16().dtype, f.byte(), f.char().dtype, f.short().dtype, f.cfloat().dtype
f.to(1, 2, 3, 4, 5, 6, 7)
f.to(dtype='float')
torch.from_numpy(np.arange(3)), torch.from_numpy(np.ones(2, dtype=np.float16)).dtype
torch.from_numpy([1])
f.numpy(), i.numpy().dtype, b.numpy(), h.numpy().dtype, z.numpy().dtype
g.numpy()
g.detach().numpy(), g.numpy(force=True)
torch.tensor([1.], dtype=torch.bfloat16).numpy()
torch.scalar_tensor(2), torch.complex(torch.tensor(1.), torch.tensor(2.)), torch.polar(torch.tensor(1.), torch.tensor(0.))
torch.tensor([1., 2.], requires_grad=True).requires_grad
torch.zeros(2, requires_grad=True).is_leaf
torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8)
torch.frombuffer(bytearray(b'abcd'), dtype=torch.int16, offset=2)
torch.frombuffer(bytearray(b'abcde'), dtype=torch.int16)
torch.tril_indices(2, 2), torch.combinations(torch.arange(3)), torch.cartesian_prod(torch.arange(2), torch.arange(2))
torch.nn.functional.one_hot(torch.tensor([0, 2])) if False else torch.eye(3)[[0, 2]]
"""

ERRORS = """
torch.relu(1)
torch.relu()
torch.relu(f, f)
torch.relu(f, other=1)
f.relu(1)
f.sum(dim='a')
f.reshape(1.5)
f.transpose(0)
f.transpose('a', 'b')
f.permute(0)
f.expand(5, 5)
f.mm(1)
torch.matmul(f, 1)
torch.cat(f)
torch.cat([1, 2])
torch.cat([f, 1])
torch.stack([])
torch.stack([f, f[0]])
torch.softmax(f)
torch.softmax(f, 'a')
torch.zeros_like(1)
f.gather(0)
f.index_select(0, 1)
f.nothing
f.nothing()
f.t(1)
f.unsqueeze()
f.unsqueeze(5)
f + torch.ones(4)
f.add_(torch.ones(4))
f.view(5, 5)
f.chunk(0)
f.split(-1)
f.to(f, f)
g.data.add_(1) is None
f.backward()
torch.bmm(f, f)
torch.linalg.inv(f)
torch.dot(f, f)
torch.dot(f[0], i[0])
f.item(1, 2)
f.repeat()
f.flip()
torch.randint(3, 1, (2,))
torch.multinomial(f, 5)
torch.manual_seed('a')
torch.einsum('ij,jk', f, f)
torch.einsum('ij->k', f)
torch.device('cuda:a')
torch.Size(['a'])
torch.Size([1.5])
torch.nn.functional.relu if False else torch.unknown_name
torch.no_such_function(1)
f.size(5)
f.stride('a')
f.argmax(5)
f[torch.tensor([5])]
torch.embedding if False else torch.index_select(f, 0, torch.tensor([9]))
"""

GROUPS = {"printing": PRINTING, "numbers": NUMBERS, "creation": CREATION, "errors": ERRORS}


def expressions(group):
    return [line for line in GROUPS[group].strip().split("\n")]


def outcome(torch, expression):
    """What an expression gives, as text: its repr, or the error and what it says first."""
    torch.manual_seed(0)
    names = {"torch": torch}
    exec(PREPARE, names)
    try:
        return repr(eval(expression, names))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip()}"
