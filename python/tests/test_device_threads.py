"""Python code that runs for several devices at once: nobody waits for a device while holding the global lock."""

PROGRAM = """
import threading
import taeda as torch

seen = []

class Move(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, device):
        ctx.back = x.device
        return x.to(device)

    @staticmethod
    def backward(ctx, grad):
        seen.append((threading.get_ident(), str(grad.device)))
        grad.sum().item()  # waits for the device
        return grad.to(ctx.back), None

w = torch.ones(64, 64, requires_grad=True)

def hook(grad):
    seen.append((threading.get_ident(), str(grad.device)))
    return grad * (1 + 0 * grad.mean().item())

def passes(n):
    for _ in range(n):
        parts = []
        for device in ("cuda:0", "cuda:1"):
            x = Move.apply(w, device)
            for _ in range(4):
                x = (x @ torch.eye(64, device=device))
                x.register_hook(hook)
            parts.append(x.sum())
        sum(p.cpu() for p in parts).backward()

threads = [threading.Thread(target=passes, args=(5,)) for _ in range(3)]
for t in threads: t.start()
passes(5)
for t in threads: t.join()
assert torch.equal(w.grad, torch.full((64, 64), 40.0)), w.grad
assert {d for _, d in seen} == {"cuda:0", "cuda:1"}
print("done", len(seen))
"""


def test_hooks_and_functions_on_two_devices(run_python):
    assert run_python(PROGRAM, TAEDA_SIM_AS_CUDA="2", timeout=100) == "done 200\n"


def test_an_error_on_a_device_s_thread_is_raised_where_backward_was_called(run_python):
    program = PROGRAM.split("w = ")[0] + """
w = torch.ones(4, requires_grad=True)
a, b = Move.apply(w, "cuda:0") * 2, Move.apply(w, "cuda:1") * 2

def fail(grad):
    raise LookupError("on " + str(grad.device))

b.register_hook(fail)
try:
    (a.cpu() + b.cpu()).sum().backward()
except LookupError as error:
    print(error, error.__traceback__.tb_next is not None)
"""
    assert run_python(program, TAEDA_SIM_AS_CUDA="2") == "on cuda:1 True\n"
