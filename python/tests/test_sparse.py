"""Matrices in compressed rows: what programs do with them, and what of it goes through files."""

import copy
import io
import pickle

import pytest

import taeda as torch

ROWS, COLUMNS, VALUES = [0, 2, 2, 4], [0, 2, 1, 3], [1.0, 2.0, 3.0, 4.0]
DENSE = [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4]]


@pytest.fixture
def matrix():
    return torch.sparse_csr_tensor(ROWS, COLUMNS, VALUES, (3, 4))


def test_making(matrix):
    assert matrix.layout is torch.sparse_csr and matrix.is_sparse_csr and not matrix.is_sparse and matrix.shape == (3, 4)
    assert (matrix.crow_indices().tolist(), matrix.col_indices().tolist(), matrix.values().tolist()) == (ROWS, COLUMNS, VALUES)
    assert matrix.to_dense().tolist() == DENSE and matrix._nnz() == 4 and (matrix.sparse_dim(), matrix.dense_dim()) == (2, 0)
    given = [torch.tensor(part) for part in (ROWS, COLUMNS, VALUES)]
    assert torch.sparse_csr_tensor(*given).shape == (3, 4)
    assert torch.sparse_csr_tensor(*given, size=[3, 5], dtype=torch.float64, layout=torch.sparse_csr).dtype is torch.float64
    assert torch.sparse_csr_tensor(*given, requires_grad=True).is_leaf
    assert torch.sparse_compressed_tensor(*given, (3, 4), layout=torch.sparse_csr).to_dense().tolist() == DENSE
    assert torch.zeros(2, 3, layout=torch.sparse_csr).crow_indices().tolist() == [0, 0, 0]
    assert torch.crow_indices_copy(matrix).tolist() == ROWS and torch.col_indices_copy(matrix).tolist() == COLUMNS
    with pytest.raises(RuntimeError, match="layout must be SparseCsr but got Strided"):
        torch.sparse_csr_tensor(*given, layout=torch.strided)
    with pytest.raises(RuntimeError, match="expected sparse compressed tensor layout but got Sparse"):
        torch.sparse_compressed_tensor(*given, layout=torch.sparse_coo)


def test_conversions(matrix):
    dense = torch.tensor(DENSE, dtype=torch.float32)
    for made in (dense.to_sparse_csr(), dense.to_sparse(layout=torch.sparse_csr), dense.to_sparse().to_sparse_csr()):
        assert made.layout is torch.sparse_csr and made.crow_indices().tolist() == ROWS and made.to_dense().equal(dense)
    assert matrix.to_sparse_csr() is matrix and matrix.to_sparse().is_coalesced()
    assert matrix.to_sparse(layout=torch.sparse_coo).layout is torch.sparse_coo
    assert torch.ones(2, 2, 3).to_sparse(layout=torch.sparse_csr, dense_dim=1).values().shape == (4, 3)
    assert torch.ones(2, 3).to_sparse(dense_dim=1).sparse_dim() == 1
    assert matrix.double().dtype is torch.float64 and matrix.to("cpu") is matrix
    with pytest.raises(RuntimeError, match="with blocksize argument given is not supported"):
        dense.to_sparse(layout=torch.sparse_csr, blocksize=(1, 1))
    with pytest.raises(RuntimeError, match="crow_indices expected sparse row compressed tensor layout but got Strided"):
        dense.crow_indices()


def test_invariants():
    unordered = [0, 2, 2], [1, 0], [1.0, 2.0], (2, 3)
    words = "are sorted and distinct along the last dimension values` is not satisfied"
    checks = torch.sparse.check_sparse_tensor_invariants
    assert torch.sparse_csr_tensor(*unordered).to_dense().tolist() == [[2, 1, 0], [0, 0, 0]]
    with pytest.raises(RuntimeError, match=words):
        torch.sparse_csr_tensor(*unordered, check_invariants=True)
    with checks(), pytest.raises(RuntimeError, match=words):
        torch.sparse_csr_tensor(*unordered)
    with pytest.raises(RuntimeError, match=words):
        checks()(torch.sparse_csr_tensor)(*unordered)
    checks.enable()
    assert checks.is_enabled()
    with checks(False):
        torch.sparse_csr_tensor(*unordered)
    checks.disable()
    assert not checks.is_enabled()


def test_products_and_gradients(matrix):
    dense, d = matrix.to_dense(), torch.arange(8.0).reshape(4, 2)
    assert (matrix @ d).equal(dense @ d) and (matrix @ d[:, 0]).equal(dense @ d[:, 0])
    assert (torch.ones(2, 3) @ matrix).equal(torch.ones(2, 3) @ dense)
    assert (matrix @ d.to_sparse_csr()).layout is torch.sparse_csr
    assert torch.sparse.mm(matrix, d).equal(dense @ d)
    assert torch.sparse.addmm(torch.ones(3, 2), matrix, d, beta=2).equal(dense @ d + 2)
    assert torch.nn.functional.linear(d.t(), matrix).equal(d.t() @ dense.t())
    at = torch.sparse.sampled_addmm(matrix, torch.ones(3, 2), torch.ones(2, 4), beta=0.5)
    assert at.values().tolist() == [2.5, 3, 3.5, 4]
    values, d = torch.tensor(VALUES, requires_grad=True), torch.ones(4, 2, requires_grad=True)
    made = torch.sparse_csr_tensor(ROWS, COLUMNS, values, (3, 4))
    assert type(made.grad_fn).__name__ == "SparseCompressedTensorBackward0"
    (made @ d).sum().backward()
    assert values.grad.tolist() == [2, 2, 2, 2] and d.grad.tolist() == [[1, 1], [3, 3], [2, 2], [4, 4]]
    leaf = matrix.detach().requires_grad_()
    torch.sparse.mm(leaf, torch.ones(4, 2)).sum().backward()
    assert leaf.grad.layout is torch.sparse_csr and leaf.grad.values().tolist() == [2, 2, 2, 2]


def test_graph_convolution_learns():
    """A layer over a ring of nodes, as programs write it."""
    torch.manual_seed(0)
    adjacency = (torch.eye(6).roll(1, 0) + torch.eye(6)).to_sparse_csr()
    adjacency = adjacency * 0.5
    x, target = torch.randn(6, 3), torch.randn(6, 2)
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (adjacency @ layer(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] and losses == sorted(losses, reverse=True)


def test_elements(matrix):
    dense = matrix.to_dense()
    for made, want in ((matrix * 2, dense * 2), (-matrix, -dense), (matrix.sin(), dense.sin()), (matrix + matrix, dense * 2),
                       (matrix * dense, dense * dense), (matrix.relu_(), dense), (matrix / 2, dense / 2)):
        assert made.layout is torch.sparse_csr and made.to_dense().equal(want)
    assert matrix.sum() == 10 and matrix[2].to_dense().tolist() == DENSE[2] and (dense + matrix).equal(dense * 2)
    torch.testing.assert_close(matrix, matrix.clone())
    for call in (lambda: matrix.exp(), lambda: matrix.t(), lambda: matrix == matrix, lambda: matrix.reshape(12)):
        with pytest.raises((NotImplementedError, RuntimeError)):
            call()


def test_files(matrix):
    file = io.BytesIO()
    torch.save({"adjacency": matrix, "coordinates": matrix.to_sparse()}, file)
    file.seek(0)
    found = torch.load(file)
    for name, layout in (("adjacency", torch.sparse_csr), ("coordinates", torch.sparse_coo)):
        assert found[name].layout is layout and found[name].to_dense().tolist() == DENSE
    assert found["adjacency"].crow_indices().tolist() == ROWS
    assert found["coordinates"].is_coalesced() and found["coordinates"].indices().tolist() == [[0, 0, 2, 2], COLUMNS]
    for made in (pickle.loads(pickle.dumps(matrix)), copy.deepcopy(matrix)):
        assert made.layout is torch.sparse_csr and made.to_dense().tolist() == DENSE


def test_a_program_may_say_that_coordinates_are_coalesced():
    given = [[0, 1], [2, 0]], [3.0, 4.0]
    assert torch.sparse_coo_tensor(*given, (2, 3), is_coalesced=True).is_coalesced()
    assert torch.sparse_coo_tensor(*given, is_coalesced=True).is_coalesced()
    assert not torch.sparse_coo_tensor(*given, (2, 3)).is_coalesced()


def test_hostile_rows():
    """What a file could say of rows is refused before anything reads by it."""
    for rows, columns in (([0, 9, 2], [0, 1]), ([0, 1, 2], [0, 99]), ([0, 1, 2], [0, -1]), ([5, 1, 2], [0, 1])):
        with pytest.raises(RuntimeError, match="is not satisfied"):
            torch._utils._rebuild_sparse_tensor(torch.sparse_csr, (torch.tensor(rows), torch.tensor(columns), torch.ones(2),
                                                                   (2, 3)))
