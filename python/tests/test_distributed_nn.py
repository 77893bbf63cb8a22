"""Collectives that gradients pass through, and ranks in a grid."""

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist
from test_distributed_groups import join, raises

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")


def gradients(rank, size, path):
    """The loss is the sum of what all ranks weigh with (rank + 1): gradients are sums over ranks of these weights."""
    import taeda.distributed.nn.functional as df
    join(rank, size, path)
    weight, total = rank + 1, size * (size + 1) // 2

    def leaf():
        return torch.full((2,), float(rank), requires_grad=True)

    x = leaf()
    made = df.all_gather(x)
    assert [m.tolist() for m in made] == [[float(r)] * 2 for r in range(size)]
    (weight * sum((r + 1) * m.sum() for r, m in enumerate(made))).backward()
    assert x.grad.tolist() == [total * (rank + 1)] * 2

    x = leaf()
    (weight * df.all_reduce(x)).sum().backward()
    assert x.grad.tolist() == [total] * 2

    x = leaf()
    made = df.broadcast(x, 1)
    assert made.tolist() == [1, 1]
    (weight * made).sum().backward()
    assert x.grad.tolist() == ([total] * 2 if rank == 1 else [0, 0])

    x = leaf()
    made = df.reduce(x, 0)
    (weight * made).sum().backward()
    assert (rank != 0 or made.tolist() == [sum(range(size))] * 2) and x.grad.tolist() == [1, 1]

    x = leaf()
    made = df.gather(x, 0)
    (sum((r + 2) * m.sum() for r, m in enumerate(made)) if rank == 0 else sum(m.sum() * 0 for m in made)).backward()
    assert x.grad.tolist() == [rank + 2] * 2 and (rank != 0 or made[1].tolist() == [1, 1])

    parts = [torch.full((2,), float(10 * rank + r), requires_grad=True) for r in range(size)]
    made = df.scatter(parts, 0)
    assert made.tolist() == [rank] * 2
    (weight * made).sum().backward()
    assert [p.grad.tolist() for p in parts] == [[r + 1 if rank == 0 else 0] * 2 for r in range(size)]

    parts = [torch.full((2,), float(10 * rank + r), requires_grad=True) for r in range(size)]
    made = df.reduce_scatter(torch.zeros(2), parts)
    assert made.tolist() == [sum(10 * r + rank for r in range(size))] * 2
    (weight * made).sum().backward()
    assert [p.grad.tolist() for p in parts] == [[r + 1] * 2 for r in range(size)]

    parts = [torch.full((2,), float(10 * rank + r), requires_grad=True) for r in range(size)]
    made = df.all_to_all([torch.zeros(2) for _ in range(size)], parts)
    assert [m.tolist() for m in made] == [[10 * r + rank] * 2 for r in range(size)]
    (weight * sum(m.sum() for m in made)).backward()
    assert [p.grad.tolist() for p in parts] == [[r + 1] * 2 for r in range(size)]

    x = torch.arange(float(size), requires_grad=True)
    made = df.all_to_all_single(torch.zeros(size), x)
    assert made.tolist() == [rank] * size
    (weight * made).sum().backward()
    assert x.grad.tolist() == [r + 1 for r in range(size)]
    assert dist.nn.all_gather is df.all_gather
    dist.destroy_process_group()


def test_gradients():
    ranks.run(gradients, 2)


def in_a_grid(rank, size, path):
    join(rank, size, path)
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns"))
    assert mesh.shape == (2, 2) and mesh.ndim == 2 and mesh.size() == 4 and mesh.size(1) == 2 and mesh.get_rank() == rank
    assert mesh.get_coordinate() == [rank // 2, rank % 2] and mesh.get_local_rank("columns") == rank % 2
    assert repr(mesh) == "DeviceMesh((rows=2, columns=2), 'cpu', [[0, 1], [2, 3]])"
    for name, wanted in (("rows", rank % 2 * 2 + 2), ("columns", rank // 2 * 4 + 1)):
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=mesh.get_group(name))
        assert x.item() == wanted, (name, x, wanted)
        assert dist.get_world_size(mesh[name].get_group()) == 2 and mesh[name].ndim == 1
        assert mesh[name].get_local_rank() == mesh.get_local_rank(name)
    assert mesh["columns", "rows"].mesh.tolist() == [[0, 2], [1, 3]] and mesh == mesh and len({mesh, mesh}) == 1
    raises(KeyError, lambda: mesh["depth"], "Mesh dimension 'depth' does not exist")
    raises(RuntimeError, mesh.get_group, "have 2 dimensions")
    raises(RuntimeError, lambda: dist.init_device_mesh("cpu", (4,), mesh_dim_names=("a", "a")), "must be unique")
    raises(RuntimeError, lambda: dist.init_device_mesh("cuda:0", (4,)), "Device type with index is not supported")
    raises(RuntimeError, lambda: dist.DeviceMesh("cpu", [0, 0]), "cannot have ranks twice")
    whole = dist.init_device_mesh("cpu", (4,))
    assert whole.get_group() is dist.group.WORLD and whole.get_local_rank() == rank
    dist.destroy_process_group()


def test_a_grid():
    ranks.run(in_a_grid, 4)
