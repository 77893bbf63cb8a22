"""GradScaler: the scale on the device, what `step` asks of it, and the state that other scalers are written against."""

import copy
import io
import math
import pickle

import pytest

import taeda as torch
from taeda.amp.grad_scaler import GradScaler, OptState

sim = torch.sim


def _trained(device="cpu", **options):
    params = [torch.nn.Parameter(torch.ones(3, device=device)), torch.nn.Parameter(torch.ones(2, 2, device=device).double())]
    return params, torch.optim.SGD(params, lr=0.5), GradScaler(device, init_scale=8.0, growth_interval=2, **options)


def _iteration(scaler, optimizer, params, factor=1.0):
    optimizer.zero_grad()
    loss = sum((p.sum() * factor).float() for p in params)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


@pytest.mark.parametrize("device", ("cpu", "sim"))
def test_scales_grow_and_back_off(device):
    params, optimizer, scaler = _trained(device)
    scales = []
    for factor in (1.0, 1.0, math.inf, 1.0, 1.0, 1.0):
        _iteration(scaler, optimizer, params, factor)
        scales.append((scaler.get_scale(), scaler._get_growth_tracker()))
    assert scales == [(8.0, 1), (16.0, 0), (8.0, 0), (8.0, 1), (16.0, 0), (16.0, 1)]
    assert params[0].tolist() == [-1.5] * 3 and params[1].tolist() == [[-1.5] * 2] * 2, "five of six steps were made"
    assert scaler._scale.device.type == device and scaler._scale.dtype == torch.float32
    assert scaler._growth_tracker.dtype == torch.int32 and scaler._scale.dim() == scaler._growth_tracker.dim() == 0


def test_a_scale_stays_where_it_would_leave_float32():
    params, optimizer, scaler = _trained()
    scaler.scale(torch.ones(()))
    scaler.update(2.0 ** 127)
    for p in params:
        p.grad = torch.ones_like(p)
    for _ in range(2):
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 2.0 ** 127 and scaler._get_growth_tracker() == 0


@pytest.mark.parametrize("where", (0, 1))
def test_one_infinite_gradient_of_any_dtype_leaves_the_step_out(where):
    params, optimizer, scaler = _trained()
    scaler.scale(torch.ones(()))
    for p in params:
        p.grad = torch.full_like(p, 8.0)
    params[where].grad.view(-1)[1] = math.nan
    scaler.unscale_(optimizer)
    assert params[1 - where].grad.view(-1).tolist() == [1.0] * params[1 - where].numel()
    assert [t.item() for t in scaler._found_inf_per_device(optimizer).values()] == [1.0]
    scaler.step(optimizer)
    scaler.update()
    assert params[0].tolist() == [1.0] * 3 and scaler.get_scale() == 4.0


def test_gradients_that_are_sparse_or_complex():
    sparse = torch.nn.Parameter(torch.ones(4, 2))
    sparse.grad = torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.full((2, 2), 4.0), (4, 2))
    pair = torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))
    pair.grad = torch.tensor([8.0 + 16.0j, 0j])
    optimizer, scaler = torch.optim.SGD([sparse, pair], lr=1.0), GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.ones(()))
    scaler.unscale_(optimizer)
    assert sparse.grad.to_dense().tolist() == [[0.0] * 2, [1.0] * 2, [0.0] * 2, [0.0] * 2]
    assert pair.grad.tolist() == [1 + 2j, 0j]
    assert [t.item() for t in scaler._found_inf_per_device(optimizer).values()] == [0.0]


def test_outputs_of_any_form():
    scaler = GradScaler("cpu", init_scale=8.0)
    half = scaler.scale(torch.ones((), dtype=torch.float16))
    assert half.dtype == torch.float32 and half.item() == 8
    nested = scaler.scale([torch.ones(1), (torch.ones(2),)])
    assert nested[0].tolist() == [8.0] and nested[1][0].tolist() == [8.0, 8.0]
    assert [t.item() for t in scaler.scale(t for t in (torch.ones(()),))] == [8.0]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(1.0)
    assert GradScaler("cpu", enabled=False).scale(3) == 3


def test_scalers_of_programs():
    class Counting(GradScaler):
        """As those of sharded models: the rule of the gradients is theirs."""

        def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
            self.seen = inv_scale.item(), found_inf.item(), allow_fp16
            return super()._unscale_grads_(optimizer, inv_scale.float(), found_inf, allow_fp16)
    params, optimizer, _ = _trained()
    scaler = Counting("cpu", init_scale=4.0)
    assert scaler._per_optimizer_states[id(optimizer)] == {"stage": OptState.READY, "found_inf_per_device": {}}
    _iteration(scaler, optimizer, params)
    assert scaler.seen == (0.25, 0.0, False) and params[0].tolist() == [0.5] * 3
    assert len(scaler._per_optimizer_states) == 0


def test_optimizers_that_unscale_for_themselves():
    class Own(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append((self.grad_scale.item() if self.grad_scale is not None else None, self.found_inf.item()))
    seen = []
    params, _, scaler = _trained()
    optimizer = Own(params, lr=0.5)
    _iteration(scaler, optimizer, params)
    _iteration(scaler, optimizer, params, math.inf)
    assert seen == [(8.0, 0.0), (8.0, 1.0)] and scaler.get_scale() == 4.0
    assert not hasattr(optimizer, "grad_scale") and not hasattr(optimizer, "found_inf")


def test_states_and_copies():
    params, optimizer, scaler = _trained()
    for _ in range(3):
        _iteration(scaler, optimizer, params)
    saved = scaler.state_dict()
    assert saved == {"scale": 16.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1}
    fresh, used = GradScaler("cpu"), GradScaler("cpu")
    used.scale(torch.ones(()))
    for other in (fresh, used):
        other.load_state_dict(saved)
    file = io.BytesIO()
    torch.save(scaler.state_dict(), file)
    file.seek(0)
    assert torch.load(file) == saved
    for other in (fresh, used, copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
        assert other.state_dict() == saved
        _iteration(other, optimizer, params)
        assert other.get_scale() == 32.0
    scaler.scale(torch.ones(()))
    scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration"):
        pickle.dumps(scaler)


def test_calls_out_of_order():
    params, optimizer, scaler = _trained()
    for name, call in (("unscale_", lambda: scaler.unscale_(optimizer)), ("step", lambda: scaler.step(optimizer)),
                       ("update", scaler.update)):
        with pytest.raises(AssertionError, match=f"Attempted {name} but _scale is None.  This may indicate your script"):
            call()
    scaler.scale(torch.ones(()))
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update."):
        scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer."):
        scaler.step(optimizer)
    scaler.update(8.0)
    for p in params:
        p.grad = torch.ones_like(p)
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer since the last update"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    half = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    half.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients."):
        scaler.unscale_(torch.optim.SGD([half], lr=1.0))


def test_an_iteration_up_to_the_step_is_captured():
    """What decides lies on the device, so replays find what is not finite and read a scale that has moved."""
    p = torch.nn.Parameter(torch.ones(3, device="sim"))
    factor = torch.ones(3, device="sim")
    optimizer, scaler = torch.optim.SGD([p], lr=0.5), GradScaler("sim", init_scale=8.0)

    def gradients():
        optimizer.zero_grad(set_to_none=False)
        scaler.scale((p * factor).sum()).backward()
        scaler.unscale_(optimizer)
    stream = sim.Stream()
    stream.wait_stream(sim.current_stream())  # the parameters are still being made
    with sim.stream(stream):
        gradients()
        scaler.step(optimizer)
        scaler.update()
    sim.synchronize()
    graph = sim.CUDAGraph()
    with sim.graph(graph, stream=stream):
        gradients()
    steps = []
    for value in (3.0, math.inf, 5.0):
        factor.fill_(value)
        graph.replay()
        scaler._per_optimizer_states[id(optimizer)] = {
            "stage": OptState.UNSCALED, "found_inf_per_device": found if steps else (
                found := scaler._found_inf_per_device(optimizer))}
        scaler.step(optimizer)
        scaler.update()
        steps.append((p.tolist()[0], scaler.get_scale()))
    assert steps == [(-1.0, 8.0), (-1.0, 4.0), (-3.5, 4.0)]
