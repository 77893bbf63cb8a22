"""Wrong calls: the class of the exception is PyTorch's, and what PyTorch refuses is refused (golden/refused.py asked it)."""

import json
import pathlib
import subprocess
import sys

import pytest

GOLDEN = pathlib.Path(__file__).parent / "golden"
EXPECTED = json.loads((GOLDEN / "refused.json").read_text(encoding="utf-8"))
CALLS = {call: said for calls in EXPECTED["calls"].values() for call, said in calls.items()}

# What is refused here and not there, on purpose: it would be an error later, or give numbers that mean nothing.
STRICTER = """
D.random_split([1, 2], [-1, 3])
torch.binomial(torch.ones(2), torch.tensor([2.0, 2.0]))
torch.set_float32_matmul_precision("nothing")
torch.ones(2, 3)[None, ..., ...]
torch.ones(2, 3)[[1.5]]
torch.autograd.backward([torch.ones(1, requires_grad=True)], [torch.ones(1), torch.ones(1)])
torch.autograd.grad(x * 2, x, [torch.ones(2), torch.ones(2)])
x.register_hook(3)
x.register_post_accumulate_grad_hook(3)
F_(lambda ctx, x: x.clone(), lambda ctx, g: g).apply(x=x)
nn.Linear(2, 2).to(3.5)
nn.Linear(2, 2).register_load_state_dict_post_hook(3)
nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [5, 3])
x.grad = torch.ones(2); nn.utils.clip_grad_norm_([x], float("nan"))
nn.utils.clip_grad_norm_([x], -1.0)
x.grad = torch.ones(2); nn.utils.clip_grad_norm_([x], -1.0)
x.grad = torch.ones(2); nn.utils.clip_grad_value_([x], -1.0)
nn.DataParallel(3)
F.grid_sample(torch.ones(1, 1, 2, 2, 2), torch.ones(1, 2, 2, 2, 3), mode="bicubic")
torch.optim.SGD([x], lr=float("nan"))
torch.amp.GradScaler("nowhere")
P.AffineTransform(0.0, 1.0, event_dim=-1)
P.ComposeTransform([3])
""".strip().split("\n")

# What is refused there alone: here parameters move to the meta device in place.
LENIENT = """
torch.ones(2).data = torch.ones(2, device="meta")
""".strip().split("\n")

# Of another class here: what operations of the library raise has the class of its kind of fault.
OTHER_CLASS = {
    'F.mse_loss(torch.ones(2), 3)': "TypeError", 'torch.load(io.BytesIO(b"abc"))': "UnpicklingError",
    'torch.UntypedStorage("a")': "TypeError",
    'torch.add(torch.ones(2), 1, out=3)': "TypeError", 'torch.norm(torch.ones(2), "nothing")': "TypeError",
    'torch.baddbmm(torch.ones(2), torch.ones(2, 2), torch.ones(2, 2))': "RuntimeError",
    'F.softmax("a", 0)': "TypeError", 'D.random_split([1, 2], [1.5, 0.5])': "ValueError",
    'F.fractional_max_pool2d(torch.ones(1, 1, 4, 4), 2, output_ratio=2.0)': "RuntimeError",
    'F.group_norm(torch.ones(2, 3), 0)': "RuntimeError", 'F.unfold(torch.ones(2), 2)': "RuntimeError",
    'torch.Event("a")': "TypeError", 'torch.distributed.ReduceOp("nothing")': "ValueError",
    'torch.distributed.init_process_group("nothing", rank=0, world_size=1, init_method="tcp://127.0.0.1:0")': "ValueError",
    'torch.profiler.record_function(3).__enter__()': "TypeError",
}

# Modules that are made and called here, by the place of the value in WRONG: layers of no channels, no stacked layers, None for
# the default.
MADE_HERE = {
    **{f"ConvTranspose{n}d.out_channels": [1] for n in (1, 2, 3)}, "LocalResponseNorm.size": [1],
    "Transformer.num_encoder_layers": [0, 1], "Transformer.num_decoder_layers": [0, 1],
    **{f"MaxPool{n}d.{option}": [3] for n in (1, 2, 3) for option in ("padding", "dilation")},
    "AvgPool2d.padding": [3], "AvgPool3d.padding": [3],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    parameters, ours = folder / "parameters.json", folder / "ours.json"
    parameters.write_text(json.dumps({name: list(of) for name, of in EXPECTED["constructors"].items()}))
    program = ("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')")
    subprocess.run([sys.executable, "-B", "-c", program, str(GOLDEN / "refused.py"), str(ours), str(parameters)], check=True,
                   timeout=300, cwd=folder)
    made = json.loads(ours.read_text())
    return {**made, "calls": {call: said for calls in made["calls"].values() for call, said in calls.items()}}


def test_wrong_calls_raise_what_pytorch_raises(found):
    wrong = []
    for call, (kind, words) in CALLS.items():
        got = found["calls"][call]
        if call in STRICTER:
            as_expected = kind == "accepted" != got[0]
        elif call in LENIENT:
            as_expected = kind != "accepted" == got[0]
        else:
            as_expected = got[0] == OTHER_CLASS.get(call, kind)
        if not as_expected:
            wrong.append(f"{call}: {got} instead of {[kind, words]}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)
    assert len(found["calls"]) == len(CALLS) > 1500


def test_most_texts_begin_as_pytorchs(found):
    """Words are PyTorch's where it has some for a user: four of five refused calls say the same first 25 characters."""
    pairs = [(words, found["calls"][call][1]) for call, (kind, words) in CALLS.items() if kind != "accepted"]
    same = sum(theirs[:25] == ours[:25] for theirs, ours in pairs)
    assert same >= 0.8 * len(pairs), f"{same} of {len(pairs)}"


def test_modules_are_made_of_what_pytorch_makes_them_of(found):
    accepted = {}
    for name, parameters in EXPECTED["constructors"].items():
        for parameter, kinds in parameters.items():
            here = found["constructors"][name][parameter]
            places = [i for i, (theirs, ours) in enumerate(zip(kinds, here)) if theirs and not ours]
            if places:
                accepted[f"{name}.{parameter}"] = places
    assert accepted == MADE_HERE
