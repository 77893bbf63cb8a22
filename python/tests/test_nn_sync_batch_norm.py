"""SyncBatchNorm: two processes give what one gives for both their batches."""

import pytest

import ranks
import taeda as torch
import taeda.distributed as dist

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")


def halves_of_a_batch(rank, size, path):
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=size)
    torch.manual_seed(0)
    x, weights = torch.randn(5, 3, 4) + 100, torch.randn(5, 3, 4)
    whole = torch.nn.BatchNorm1d(3, momentum=0.3)
    with torch.no_grad():
        whole.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
    mine = torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.Sequential(torch.nn.BatchNorm1d(3, momentum=0.3)))
    assert type(mine[0]) is torch.nn.SyncBatchNorm
    mine[0].load_state_dict(whole.state_dict())
    part = slice(0, 2) if rank == 0 else slice(2, 5)  # of different sizes
    all_x, my_x = x.clone().requires_grad_(), x[part].clone().requires_grad_()
    expected = whole(all_x)
    (expected * weights).sum().backward()
    out = mine(my_x)
    (out * weights[part]).sum().backward()
    assert torch.allclose(out, expected[part], atol=1e-4)
    assert torch.allclose(my_x.grad, all_x.grad[part], atol=1e-4)
    assert torch.allclose(mine[0].running_mean, whole.running_mean, atol=1e-4)
    assert torch.allclose(mine[0].running_var, whole.running_var, atol=1e-4)
    assert mine[0].num_batches_tracked == 1
    for name in ("weight", "bias"):
        grad = getattr(mine[0], name).grad
        dist.all_reduce(grad)
        assert torch.allclose(grad, getattr(whole, name).grad, atol=1e-3)
    fresh = torch.nn.SyncBatchNorm(3)
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        fresh(x[rank:1, :, 0])  # one row in the first process, none in the second
    assert fresh(x[:2 * rank, :, 0]).shape == (2 * rank, 3)  # a process may have none
    mine.eval(), whole.eval()
    assert torch.allclose(mine(my_x), whole(all_x)[part], atol=1e-4)
    dist.destroy_process_group()


def test_two_processes():
    ranks.run(halves_of_a_batch, 2)
