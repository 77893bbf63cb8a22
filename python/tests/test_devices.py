"""Devices, streams, events, memory, generators and graphs: torch.sim, torch.cuda and torch.accelerator."""

import threading
import time

import pytest

import ranks
import taeda as torch

sim = torch.sim


def test_devices():
    assert sim.is_available() and sim.device_count() == 2 and sim.current_device() == 0
    with sim.device(1):
        assert sim.current_device() == 1 and torch.ones(1, device="sim").device == torch.device("sim", 1)
        with sim.device(-1), sim.device(None):
            assert sim.current_device() == 1
        sim.set_device(torch.device("sim:0"))
        assert sim.current_device() == 0
        sim.set_device(-1)
    assert sim.current_device() == 0
    with sim.device_of(torch.ones(1, device="sim:1")):
        assert sim.current_device() == 1
    with sim.device_of(torch.ones(1)):
        assert sim.current_device() == 0
    p = sim.get_device_properties("sim:1")
    assert p.name == sim.get_device_name(1) and p.total_memory == sim.mem_get_info(1)[1]
    assert sim.get_device_capability() == (p.major, p.minor) and "total_memory" in repr(p)
    assert sim.can_device_access_peer(0, 1)
    sim.synchronize()
    sim.synchronize("sim:1")


def test_every_number_of_the_cpu_is_the_one_cpu():
    named = torch.device("cpu", 3)
    assert named.index == 3 and repr(torch.device("cpu:64")) == "device(type='cpu', index=64)"
    x = torch.ones(2, device=named)
    assert x.device == torch.device("cpu") == torch.rand(2, device="cpu:1").device
    assert x.to("cpu:2").device == torch.nn.Linear(1, 1).to(named).weight.device == torch.device("cpu")
    assert (x + torch.ones(2)).tolist() == [2, 2] and torch.ones(2, device="sim:1").to("cpu:1").device.index is None
    assert torch.rand(2, generator=torch.Generator("cpu:5").manual_seed(1)).device.type == "cpu"
    with torch.device("cpu:7"):
        assert torch.zeros(2).device == torch.device("cpu")
    with pytest.raises(RuntimeError, match="Invalid device string: 'cpu:128'"):
        torch.device("cpu:128")
    for kind, index in (("cpu", -1), ("sim", -2)):
        with pytest.raises(RuntimeError, match="Device index must not be negative"):
            torch.device(kind, index)


def test_the_current_device_is_a_threads_own():
    seen = []

    def other():
        sim.set_device(1)
        seen.append(sim.current_device())
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [1] and sim.current_device() == 0


def test_devices_that_do_not_exist():
    with pytest.raises(RuntimeError, match="invalid device ordinal: sim:7"):
        sim.set_device(7)
    with pytest.raises(RuntimeError, match="invalid device ordinal: sim:7"):
        torch.ones(1, device="sim:7")
    with pytest.raises(ValueError, match="Expected a sim device, but got: cpu"):
        sim.set_device("cpu")
    with pytest.raises(ValueError, match="Expected a sim device, but got: cpu"):
        sim.memory_allocated("cpu")


def test_memory():
    before = sim.memory_allocated()
    sim.reset_peak_memory_stats()
    x = torch.empty(1 << 20, device="sim")
    assert sim.memory_allocated() - before == 4 << 20
    del x
    assert sim.memory_allocated() == before and sim.max_memory_allocated() >= before + (4 << 20)
    assert sim.memory_reserved() >= 4 << 20 and sim.max_memory_reserved() >= sim.memory_reserved()
    stats = sim.memory_stats()
    assert stats["allocated_bytes.all.current"] == before and stats["allocated_bytes.all.peak"] == sim.max_memory_allocated()
    free = sim.mem_get_info()[0]
    sim.empty_cache()
    assert sim.mem_get_info()[0] >= free and sim.memory_reserved() <= stats["reserved_bytes.all.current"]
    sim.reset_peak_memory_stats()
    assert sim.max_memory_allocated() == before
    assert "memory" in sim.memory_summary().lower()
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 4.00 TiB"):
        torch.empty(1 << 40, device="sim")
    assert issubclass(torch.OutOfMemoryError, RuntimeError) and sim.OutOfMemoryError is torch.OutOfMemoryError
    sim.set_per_process_memory_fraction(0.25)
    try:
        assert sim.get_per_process_memory_fraction() == 0.25
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(sim.mem_get_info()[1] // 2, dtype=torch.uint8, device="sim")
    finally:
        sim.set_per_process_memory_fraction(1.0)


def test_generators():
    sim.manual_seed(3)
    a = torch.rand(5, device="sim")
    state = sim.get_rng_state()
    b = torch.rand(5, device="sim")
    sim.set_rng_state(state)
    assert torch.equal(torch.rand(5, device="sim"), b) and sim.initial_seed() == 3
    sim.manual_seed_all(3)
    assert torch.equal(torch.rand(5, device="sim"), a)
    assert torch.equal(torch.rand(5, device="sim:1").cpu(), a.cpu())
    states = sim.get_rng_state_all()
    first = [torch.rand(2, device=f"sim:{i}").cpu() for i in range(2)]
    sim.set_rng_state_all(states)
    assert all(torch.equal(torch.rand(2, device=f"sim:{i}").cpu(), first[i]) for i in range(2))
    torch.manual_seed(3)
    with torch.random.fork_rng(device_type="sim"):
        torch.rand(1), torch.rand(1, device="sim"), torch.rand(1, device="sim:1")
    assert torch.equal(torch.rand(5, device="sim"), a)


def test_streams():
    default = sim.default_stream()
    assert sim.current_stream() == default and isinstance(default, sim.Stream) and default.stream_id == 0
    s = sim.Stream()
    assert s != default and s.device == torch.device("sim", 0) and {s: 1}[s] == 1 and s.priority == 0
    assert repr(s).startswith("<torch.sim.Stream device=sim:0 cuda_stream=0x")
    with sim.stream(s):
        assert sim.current_stream() == s
        x = torch.ones(1000, device="sim") * 2
        with s:
            assert sim.current_stream() == s
    assert sim.current_stream() == default
    default.wait_stream(s)
    assert x.sum().item() == 2000
    s.synchronize()
    assert s.query()
    other = sim.Stream("sim:1")
    with sim.stream(other):
        assert sim.current_device() == 1 and sim.current_stream() == other and sim.current_stream(0) == default
    assert sim.current_device() == 0
    with sim.stream(None):
        assert sim.current_stream() == default
    sim.set_stream(s)
    assert sim.current_stream() == s
    sim.set_stream(default)
    with pytest.raises(ZeroDivisionError), sim.stream(s):
        1 / 0
    assert sim.current_stream() == default


def test_events():
    s, t = sim.Stream(), sim.Stream()
    start, end = sim.Event(enable_timing=True), sim.Event(enable_timing=True)
    assert repr(start) == "<torch.sim.Event uninitialized>"
    start.record()
    x = torch.ones(1000, device="sim") + 1
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    with sim.stream(s):
        y = x * 3
        event = s.record_event()
    assert isinstance(event, sim.Event)
    t.wait_event(event)
    with sim.stream(t):
        assert (y + 1).sum().item() == 7000
    event.wait()
    with pytest.raises(RuntimeError):
        sim.Event().elapsed_time(end)


def test_waiting_for_a_device_lets_other_threads_run():
    """Another thread goes on while this one waits for a device that has much to do."""
    x = torch.ones(1 << 10, 1 << 10, device="sim")
    (x @ x).sum().item()
    count, running = [0], [True]

    def other():
        while running[0]:
            count[0] += 1
            time.sleep(0)
    thread = threading.Thread(target=other)
    thread.start()
    try:
        for wait in (lambda y: sim.synchronize(), lambda y: sim.current_stream().synchronize(),
                     lambda y: sim.current_stream().record_event().synchronize(), lambda y: y[0, 0].item(), lambda y: y.cpu(),
                     lambda y: y[0].tolist()):
            y = x
            for _ in range(6):
                y = y @ x * 1e-3
            before = count[0]
            wait(y)
            # When the wait is over, one switch may already be due: one more would be no proof.
            assert count[0] > before + 5
    finally:
        running[0] = False
        thread.join()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "adam": lambda p: torch.optim.Adam(p, lr=0.1, capturable=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.2),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.1), "adamax": lambda p: torch.optim.Adamax(p, lr=0.1),
    "adadelta": lambda p: torch.optim.Adadelta(p), "rprop": lambda p: torch.optim.Rprop(p),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.1, t0=4, lambd=0.1),
    "adafactor": lambda p: torch.optim.Adafactor(p, lr=0.1, weight_decay=0.1),
    "muon": lambda p: torch.optim.Muon([q for q in p if q.dim() == 2], lr=0.1)}


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("side", (False, True))
def test_captured_steps_count_at_each_replay(kind, side):
    """Warmed up on the default stream or on another, with a learning rate that changes between replays."""
    def train(graphed):
        torch.manual_seed(0)
        x, y = torch.randn(8, 4).to("sim"), torch.randint(0, 3, (8,)).to("sim")
        model = torch.nn.Linear(4, 3).to("sim")
        optimizer = OPTIMIZERS[kind](model.parameters())
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7)

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss
        stream = sim.Stream() if side else sim.current_stream()
        stream.wait_stream(sim.current_stream())  # parameters and states are still being made
        with sim.stream(stream):
            for _ in range(3):
                step()
        sim.synchronize()
        graph, losses = sim.CUDAGraph(), []
        if graphed:
            optimizer.zero_grad(set_to_none=True)
            with sim.graph(graph):
                loss = step()
        for _ in range(5):
            losses.append(graph.replay() or loss.item() if graphed else step().item())
            schedule.step()
        count = optimizer.state[model.bias].get("step")
        return losses, model.weight.tolist(), None if count is None else count.item()
    assert train(True) == train(False)


def test_what_cannot_be_captured_says_so():
    p = torch.nn.Parameter(torch.ones(1, 3, device="sim"))
    p.grad = torch.ones(1, 3, device="sim")
    for optimizer, text in ((torch.optim.Adam([p]), "first step cannot be captured"),
                            (torch.optim.NAdam([p]), "first step cannot be captured"),
                            (torch.optim.Muon([p]), "cannot make the state momentum_buffer")):
        with pytest.raises(RuntimeError, match=text), sim.graph(sim.CUDAGraph()):
            optimizer.step()
    assert p.tolist() == [[1.0] * 3] and not optimizer.state


def test_graphs():
    x = torch.ones(4, device="sim")
    graph, s = sim.CUDAGraph(), sim.Stream()
    with sim.stream(s):
        (x * 2 + 1).sum()
    with sim.graph(graph, stream=s):
        assert sim.is_current_stream_capturing()
        y = x * 2 + 1
    assert not sim.is_current_stream_capturing()
    x.fill_(5.0)
    graph.replay()
    assert y.tolist() == [11.0] * 4
    second = sim.CUDAGraph()
    with sim.graph(second, pool=graph.pool()):
        z = y + 1
    second.replay()
    assert z.tolist() == [12.0] * 4
    graph.reset()
    with pytest.raises(RuntimeError):
        graph.replay()
    with pytest.raises(RuntimeError, match="Unknown capture error mode"):
        sim.CUDAGraph().capture_begin(capture_error_mode="careless")


def test_an_error_in_a_capture_keeps_its_type():
    with pytest.raises(ZeroDivisionError), sim.graph(sim.CUDAGraph()):
        1 / 0
    assert sim.current_stream() == sim.default_stream()


def test_without_accelerator():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    assert torch.cuda.memory_allocated() == 0 and torch.cuda.memory_stats() == {}
    torch.cuda.manual_seed_all(1)
    torch.cuda.empty_cache()
    assert torch.accelerator.current_accelerator() is None and not torch.accelerator.is_available()
    assert torch.accelerator.device_count() == 0
    for call in (torch.cuda.current_device, torch.cuda.get_device_name, torch.cuda.synchronize, torch.cuda.Stream,
                 lambda: torch.ones(1, device="cuda"), lambda: torch.ones(1).cuda()):
        with pytest.raises(RuntimeError, match="cuda|CUDA"):
            call()
    for call in (torch.accelerator.synchronize, torch.accelerator.current_stream, lambda: torch.accelerator.set_device_index(0),
                 lambda: torch.accelerator.device_index(0)):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            call()


def under_the_name_of_cuda(rank, size, path):
    cuda, accelerator = torch.cuda, torch.accelerator
    assert cuda.is_available() and cuda.device_count() == 2 and accelerator.current_accelerator() == torch.device("cuda")
    x = torch.ones(3).cuda(1)
    assert x.is_cuda and x.device == torch.device("cuda:1") and x.get_device() == 1
    with cuda.device(1):
        assert torch.ones(1, device="cuda").device.index == 1 == accelerator.current_device_index()
    accelerator.set_device_index(1)
    assert cuda.current_device() == 1
    with accelerator.device_index(0):
        assert cuda.current_device() == 0
    accelerator.set_device_index(0)
    s = cuda.Stream()
    with cuda.stream(s):
        y = torch.ones(5, device="cuda") * 3
        assert accelerator.current_stream() == s and isinstance(accelerator.current_stream(), cuda.Stream)
    cuda.current_stream().wait_stream(s)
    assert y.sum().item() == 15
    with torch.Stream("cuda:0"):
        event = torch.Event(enable_timing=True)
        event.record()
    event.synchronize()
    assert cuda.memory_allocated() > 0 and accelerator.memory_allocated() == cuda.memory_allocated()
    accelerator.synchronize()
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        z = y + 1
    graph.replay()
    assert z.tolist() == [4.0] * 5
    assert len(cuda.default_generators) == 2 and cuda.memory.memory_allocated is cuda.memory_allocated
    try:
        torch.empty(1 << 40, device="cuda")
    except cuda.OutOfMemoryError as error:
        assert str(error).startswith("CUDA out of memory. Tried to allocate")


def test_under_the_name_of_cuda():
    ranks.run(under_the_name_of_cuda, 1, TAEDA_SIM_AS_CUDA="2")
