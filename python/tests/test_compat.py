"""PyTorch's names for programs that say `import torch`."""

import json
import os
import subprocess
import sys


def compat(*arguments, **environment):
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def test_programs_modules_and_commands(tmp_path):
    (tmp_path / "program.py").write_text("import sys, torch, torch.nn.functional as F\n"
                                         "import helper\n"
                                         "print(__name__, sys.argv[1:], F.relu(torch.tensor([-1.0, 1.0])), helper.x)\n")
    (tmp_path / "helper.py").write_text("import torch\nx = torch.ones(1).shape\n")
    assert compat(str(tmp_path / "program.py"), "a", "-b")[1] == "__main__ ['a', '-b'] tensor([0., 1.]) torch.Size([1])\n"
    assert compat("-c", "import sys, torch; print(sys.argv, torch.Tensor)", "x")[1] == "['-c', 'x'] <class 'torch.Tensor'>\n"
    assert compat("-m", "timeit", "-n1", "-r1", "import torch")[0] == 0


def test_modules_are_the_same_under_both_names():
    code, out, err = compat("-c", "import torch, taeda, torch.nn as a, taeda.nn as b; from torch.autograd import Function\n"
                                  "print(torch is taeda, a is b, Function is taeda.autograd.Function)")
    assert out == "True True True\n", err


def test_children_inherit_it():
    program = ("import subprocess, sys\n"
               "print(subprocess.check_output([sys.executable, '-c', 'import torch; print(torch.ones(1))']))")
    assert "tensor([1.])" in compat("-c", program)[1]


def test_metadata():
    out = compat("-c", "import importlib.metadata as m; print(m.version('torch'), m.version('torchvision'))")[1]
    assert out == "2.15.0 0.30.0\n"


def test_exit_codes_and_errors():
    assert compat("-c", "raise SystemExit(3)")[0] == 3
    code, out, err = compat("-c", "import torch; torch.ones(2) + torch.ones(3)")
    assert code == 1 and "RuntimeError: The size of tensor a (2) must match the size of tensor b (3)" in err
    assert compat("no_such_program.py")[0] == 2 and compat()[0] == 2


def test_a_traceback_begins_with_the_program(tmp_path):
    program = tmp_path / "program.py"
    first = f'Traceback (most recent call last):\n  File "{program}", line 4, in <module>\n    f()\n'
    program.write_text("import torch\ndef f():\n    return torch.ones(2) + torch.ones(3)\nf()\n")
    for arguments in ([str(program)], ["-m", "program"]):
        code, out, err = compat(*arguments, PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
        assert code == 1 and err.startswith(first) and err.count("  File ") == 2, err
    program.write_text("import torch\n1 +\n")
    code, out, err = compat(str(program))
    assert code == 1 and err.startswith(f'  File "{program}", line 2\n'), err
    code, out, err = compat("-c", "import torch; 1 / 0")
    assert err.startswith('Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'), err


def test_a_torch_that_is_imported_already_is_not_replaced(tmp_path):
    (tmp_path / "torch.py").write_text("")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import torch; import taeda.compat as c; c.install()"
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=60)
    assert "ImportError: taeda.compat: a real torch is already imported in this process" in done.stderr


def test_nothing_is_changed_where_it_is_not_asked_for():
    done = subprocess.run([sys.executable, "-B", "-c", "import taeda, sys; print('torch' in sys.modules)"], capture_output=True,
                          text=True, timeout=60)
    assert done.stdout == "False\n"


def test_pickles_of_one_name_are_read_under_the_other(tmp_path):
    path = str(tmp_path / "x.pt")
    assert compat("-c", f"import torch; torch.save({{'p': torch.nn.Parameter(torch.ones(2))}}, {path!r})")[0] == 0
    done = subprocess.run([sys.executable, "-B", "-c", f"import taeda; print(taeda.load({path!r}))"],
                          capture_output=True, text=True, timeout=60)
    assert "Parameter containing:\ntensor([1., 1.], requires_grad=True)" in done.stdout, done.stderr


def test_modules_that_programs_import():
    program = ("import torch.backends.cudnn as cudnn, torch.backends.cuda, torch.backends.mps\n"
               "from torch.optim.adamw import AdamW\n"
               "from torch.optim.sgd import SGD\n"
               "from torch.autograd.variable import Variable\n"
               "from torch.distributions.normal import Normal\n"
               "from torch.distributions.categorical import Categorical\n"
               "from torch.distributed.elastic.multiprocessing.errors import record\n"
               "import torch.utils.dlpack, torch.utils.model_zoo as model_zoo, torch\n"
               "assert model_zoo.load_url is torch.hub.load_state_dict_from_url\n"
               "cudnn.benchmark = True\n"
               "print(cudnn is torch.backends.cudnn, cudnn.benchmark, AdamW is torch.optim.AdamW, record(len)('ab'), "
               "Normal is torch.distributions.Normal, torch.utils.data._utils.collate.default_collate([1, 2]))\n")
    code, out, err = compat("-c", program)
    assert out == "True True True 2 True tensor([1, 2])\n", err


def test_a_recorded_error_is_written_down(tmp_path):
    program = ("from torch.distributed.elastic.multiprocessing.errors import record\n"
               "@record\n"
               "def main(): raise ValueError('why')\n"
               "main()\n")
    code, out, err = compat("-c", program, TORCHELASTIC_ERROR_FILE=str(tmp_path / "error.json"))
    assert code == 1 and "ValueError: why" in err
    assert json.loads((tmp_path / "error.json").read_text())["message"]["message"] == "ValueError: why"


def test_classes_say_that_they_are_torchs():
    program = ("import pickle, torch, torchvision, functorch, taeda\n"
               "print(torch.__name__, torchvision.__name__, torch.nn.Linear, torch.utils.data.DataLoader.__module__, "
               "torchvision.models.ResNet.__module__, torch.torch is taeda, functorch.vmap is torch.vmap, "
               "type(pickle.loads(pickle.dumps(torch.nn.Linear(1, 1)))) is taeda.nn.Linear)")
    said = ("torch torchvision <class 'torch.nn.modules.linear.Linear'> torch.utils.data.dataloader torchvision.models.resnet "
            "True True True\n")
    assert compat("-c", program)[1] == said
    assert compat("-c", "import functorch; functorch.FunctionalModule()")[2].endswith("has what torch.func has of it\n")


def test_an_environment_whose_torch_is_taeda(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"

    def run(*arguments, **more):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([python, "-B", *arguments], capture_output=True, text=True, env={**environment, **more},
                              timeout=60)
        return done.returncode, done.stdout + done.stderr
    asks = "-c", "import importlib.metadata, torch; print(torch.ones(1), importlib.metadata.version('torch'))"
    install = "-m", "taeda.install_alias"
    ours = {"PYTHONPATH": os.environ["PYTHONPATH"]}
    assert "No module named 'torch'" in run(*asks)[1] and run(*install, "--wrong", **ours)[0] == 2
    for _ in range(2):
        assert run(*install, **ours)[0] == 0
        assert run(*asks) == (0, "tensor([1.]) 2.15.0\n")
    assert run(*install, "--undo", **ours)[0] == 0 and "No module named 'torch'" in run(*asks)[1]
    real, = (tmp_path / "env").glob("lib/python*/site-packages")
    (real / "torch.py").write_text("")
    code, said = run(*install, **ours)
    assert code == 1 and f"a real torch is installed at {real / 'torch.py'}" in said
