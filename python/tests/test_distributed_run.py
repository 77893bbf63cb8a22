"""torchrun: programs on several processes of this machine."""

import os
import subprocess
import sys

import pytest

import taeda.distributed as dist
from taeda.distributed import run

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="the engine gloo is not built")

PROGRAM = """
import os, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
t = torch.ones(1) * (dist.get_rank() + 1)
dist.all_reduce(t)
print("rank", dist.get_rank(), "of", dist.get_world_size(), "local", os.environ["LOCAL_RANK"], "has", t.item(), sys.argv[1:])
assert dist.is_torchelastic_launched()
if "fail" in sys.argv and dist.get_rank() == 1:
    raise SystemExit(7)
dist.destroy_process_group()
"""


def torchrun(*arguments, module="taeda.distributed.run", status=0):
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", "-m", module, *arguments], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return str(path)


def test_a_program_on_two_processes(program):
    """Under the alias of PyTorch's name, which the processes inherit."""
    text = torchrun("--standalone", "--nproc_per_node=2", program, "--lr", "3", module="torch.distributed.run")
    for rank in range(2):
        assert f"rank {rank} of 2 local {rank} has 3.0 ['--lr', '3']" in text


def test_output_is_passed_on_as_it_is_unless_it_is_teed(tmp_path):
    path = tmp_path / "p.py"
    path.write_text("import os, sys\nprint('a' + os.environ['RANK'])\nprint('b' + os.environ['RANK'], file=sys.stderr)\n")
    two = ["--standalone", "--nproc-per-node", "2"]
    assert sorted(torchrun(*two, str(path)).split()) == ["a0", "a1", "b0", "b1"]
    assert sorted(torchrun(*two, "--tee", "1", str(path)).split()) == ["[default0]:a0", "[default1]:a1", "b0", "b1"]
    text = torchrun(*two, "--tee", "0:2", "--role", "w", "--log-line-prefix-template", "<${role_name}${local_rank}/${rank}>",
                    "--log-dir", str(tmp_path / "logs"), str(path))
    assert sorted(text.split()) == ["<w0/0>b0", "a0", "a1", "b1"]


def test_a_module(tmp_path, program):
    done = subprocess.run([sys.executable, "-B", "-m", "taeda.compat", "-m", "torch.distributed.launch", "--nproc-per-node",
                           "2", "-m", "train", "x"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0 and "rank 1 of 2 local 1 has 3.0 ['x']" in done.stdout, done.stdout + done.stderr


def test_a_process_that_fails(program, tmp_path):
    text = torchrun("--standalone", "--nproc-per-node", "2", "--log-dir", str(tmp_path / "logs"), program, "fail", status=7)
    assert "rank 1" in text
    logs = [os.path.join(folder, f) for folder, _, files in os.walk(tmp_path / "logs") for f in files]
    assert any("rank 1 of 2" in open(path).read() for path in logs)


def test_wrong_arguments(program):
    assert "Unsupported nproc_per_node value: many" in torchrun("--nproc-per-node", "many", program, status=2)
    assert "--rdzv-endpoint (or --master-addr)" in torchrun("--nnodes", "2", program, status=2)
    assert "usage: torchrun" in torchrun(status=2)


def test_what_no_launcher_can_do_is_refused(program):
    for flags, text in [(["--nproc-per-node", "0"], "Unsupported nproc_per_node value: 0 (--nproc-per-node must be"),
                        (["--nproc-per-node", "-3"], "Unsupported nproc_per_node value: -3"),
                        (["--nproc-per-node", "99999999999"], "must be a number from 1 to 4096, auto, cpu or gpu"),
                        (["--redirects", "1"], "--log-dir"), (["--nnodes", "2:1", "--master-addr", "::1"], "got '2:1'"),
                        (["--max-restarts", "-1"], "--max-restarts must be 0 or more, got '-1'"),
                        (["--max-restarts", "x"], "--max-restarts must be 0 or more, got 'x'"),
                        (["--node-rank", "5"], "--node-rank must be from 0 to less than the number of machines, got '5'"),
                        (["--rdzv-conf", "x=1"], "not 'x'"), (["--rdzv-endpoint", "a:65536"], "to 65535, got '65536'"),
                        (["--rdzv-backend", "etcd"], "--rdzv-backend must be c10d or static, got etcd"),
                        (["--numa-binding", "node"], "--numa-binding is not supported"),
                        (["--start-method", "x"], "forkserver"),
                        (["-m", "--no-python"], "Don't use both the '--no-python' flag and the '--module' flag")]:
        assert text in torchrun(*flags, program, status=2)


def options_of(*words):
    return run.options_of(run.get_args_parser().parse_args(words))


def test_flags(monkeypatch):
    options = options_of("--nnodes=1:3", "--rdzv_endpoint", "[::1]:1234", "--rdzv-id", "job", "--node_rank", "2",
                         "--rdzv-conf", "timeout=5,last_call_timeout=2", "-r", "1", "--log-dir", "x", "--no-python",
                         "./a.out", "-x", "--nnodes")
    assert (options["min_nodes"], options["max_nodes"], options["node_rank"], options["job"]) == (1, 3, 2, "job")
    assert (options["host"], options["port"]) == ("::1", 1234) and options["command"] == ["./a.out", "-x", "--nnodes"]
    assert (options["join_timeout"], options["last_call_timeout"], options["log_dir"]) == (5, 2, "x")
    options = options_of("--nproc-per-node=cpu", "-m", "pkg.mod", "a")
    assert options["processes"] == len(os.sched_getaffinity(0))
    assert options["command"] == [sys.executable, "-u", "-m", "pkg.mod", "a"]
    monkeypatch.setenv("PET_MAX_RESTARTS", "3")
    assert options_of("a.py")["max_restarts"] == 3 and options_of("--max-restarts", "1", "a.py")["max_restarts"] == 1
    with pytest.raises(RuntimeError, match='not in "MIN:MAX" format'):
        run.parse_min_max_nnodes("1:2:3")
    assert run.parse_min_max_nnodes("2:4") == (2, 4)


def test_arguments_that_a_program_has_changed():
    args = run.parse_args(["train.py"])
    assert (args.max_restarts, args.node_rank, args.standalone, args.nproc_per_node) == (0, None, False, "1")
    args.nproc_per_node, args.master_port, args.node_rank, args.standalone, args.module = 2, 1234, 0, False, True
    options = run.options_of(args)
    assert (options["processes"], options["port"], options["node_rank"]) == (2, 1234, 0) and options["command"][2] == "-m"


def test_both_launchers_have_the_same_flags():
    """Those of torchrun 2.x, each with the meaning that the library gives it."""
    names = {name for name, *_ in run._dist.launch_flags()}
    assert names >= {"--" + name for name in (
        "nnodes nproc-per-node rdzv-backend rdzv-endpoint rdzv-id rdzv-conf standalone max-restarts monitor-interval "
        "start-method event-log-handler role module no-python run-path log-dir redirects tee local-ranks-filter node-rank "
        "duplicate-stdout-filters duplicate-stderr-filters master-addr master-port local-addr logs-specs numa-binding "
        "signals-to-handle virtual-local-rank log-line-prefix-template").split()}
