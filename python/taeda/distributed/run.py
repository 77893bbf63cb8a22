"""torchrun: a program on several processes and machines.

    python -m taeda.distributed.run --standalone --nproc-per-node 4 train.py --epochs 3

docs/launching.md says what the flags mean and what happens when a process fails.
"""

import argparse
import os
import socket
import sys
import time

from .. import _C

_dist = _C._distributed


def _flag(parser, name, **options):
    """A flag that is also taken with underscores, as torchrun takes it."""
    names = [name] if name.count("-") < 3 else [name, "--" + name[2:].replace("-", "_")]
    parser.add_argument(*names, **options)


def get_args_parser():
    """torchrun's flags."""
    parser = argparse.ArgumentParser(prog="torchrun", description="Runs a program on several processes and machines.")
    _flag(parser, "--nnodes", default="1", help="machines, or min:max; a launcher runs on each")
    _flag(parser, "--nproc-per-node", default="1", help="processes on this machine: a number, auto, cpu or gpu")
    _flag(parser, "--rdzv-backend", default="c10d", help="c10d or static; both mean the same here")
    _flag(parser, "--rdzv-endpoint", default="", help="where the launchers meet: host:port")
    _flag(parser, "--rdzv-id", default="none", help="the job's name, the same on all machines")
    _flag(parser, "--rdzv-conf", default="", help="seconds: join_timeout=600,last_call_timeout=30")
    _flag(parser, "--standalone", action="store_true", help="one machine, a port that the system chooses")
    _flag(parser, "--max-restarts", type=int, default=0, help="how often all start again when a process fails")
    _flag(parser, "--monitor-interval", type=float, default=0.1, help="accepted; processes are watched all the time")
    _flag(parser, "--start-method", default="spawn", choices=["spawn", "fork", "forkserver"], help="accepted")
    _flag(parser, "--role", default="default", help="accepted")
    _flag(parser, "-m", action="store_true", dest="module", help="the program is a module")
    parser.add_argument("--module", action="store_true", dest="module", help=argparse.SUPPRESS)
    _flag(parser, "--no-python", action="store_true", help="the program is not Python's")
    _flag(parser, "--run-path", action="store_true", help="accepted")
    _flag(parser, "--log-dir", default="", help="folder for <id>/attempt_<n>/<rank>/stdout.log and stderr.log")
    _flag(parser, "-r", default=None, dest="redirects", help="to files only: 1 stdout, 2 stderr, 3 both; or 0:1,1:3")
    parser.add_argument("--redirects", dest="redirects", default="0", help=argparse.SUPPRESS)
    _flag(parser, "-t", default=None, dest="tee", help="to files and the terminal")
    parser.add_argument("--tee", dest="tee", default="0", help=argparse.SUPPRESS)
    _flag(parser, "--node-rank", type=int, default=None, help="this machine's place; by default, by the order of arrival")
    _flag(parser, "--master-addr", default=None, help="as --rdzv-endpoint; machine 0's address")
    _flag(parser, "--master-port", type=int, default=29500, help="the port there")
    _flag(parser, "--local-addr", default="", help="the address by which other machines reach this one")
    _flag(parser, "--shutdown-timeout", type=int, default=30, help="seconds from SIGTERM to SIGKILL")
    _flag(parser, "--monitor", action="store_true", help="show the ranks' progress, as they report it")
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_min_max_nnodes(nnodes):
    """(least, most) of "2" or "1:4"."""
    numbers = nnodes.split(":")
    if len(numbers) > 2:
        raise RuntimeError(f'nnodes={nnodes} is not in "MIN:MAX" format')
    return int(numbers[0]), int(numbers[-1])


def determine_local_world_size(nproc_per_node):
    """How many processes "4", "auto", "cpu" or "gpu" are on this machine."""
    kind = _C._device.preferred_type()
    devices = _C._device.device_count(kind) if kind else 0
    try:
        return int(nproc_per_node)
    except ValueError:
        if nproc_per_node == "gpu" and not devices:
            raise ValueError("Cuda is not available.") from None
        if nproc_per_node not in ("auto", "cpu", "gpu"):
            raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}") from None
    return devices if devices and nproc_per_node != "cpu" else os.cpu_count()


def _port(text, flag):
    port = int(text) if str(text).isdigit() else 0
    if not 1 <= port <= 65535:
        raise ValueError(f"{flag} must have a port from 1 to 65535, got {text}")
    return port


def _endpoint(args, most):
    """(host, port) where launchers meet; port 0 for one machine."""
    if args.standalone:
        if most > 1 or args.rdzv_endpoint:
            raise ValueError("--standalone is for one machine, without --nnodes and --rdzv-endpoint")
        return "127.0.0.1", 0
    if args.rdzv_endpoint:
        host, colon, port = args.rdzv_endpoint.rpartition(":")
        if not colon or port.endswith("]"):
            return args.rdzv_endpoint.strip("[]"), 29400
        return host.strip("[]"), _port(port, "--rdzv-endpoint")
    if args.master_addr is not None:
        return args.master_addr, _port(args.master_port, "--master-port")
    if most > 1:
        raise ValueError("several machines need --rdzv-endpoint or --master-addr")
    return "127.0.0.1", _port(args.master_port, "--master-port") if args.master_port != 29500 else 0


def _timeouts(text):
    out = {"join_timeout": 600, "last_call_timeout": 30, "keep_alive_timeout": 20}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        name = "join_timeout" if name == "timeout" else name
        if name not in out:
            raise ValueError(f"--rdzv-conf has {', '.join(out)}, not '{name}'")
        if not value.isdigit() or int(value) < 1:
            raise ValueError(f"--rdzv-conf must be name=seconds,name=seconds, got '{part}'")
        out[name] = int(value)
    return out


def _command(args):
    if args.no_python:
        if args.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
        return [args.training_script, *args.training_script_args]
    command = [sys.executable, "-u"] + (["-m"] if args.module else [])
    return command + [args.training_script, *args.training_script_args]


def options_of(args):
    """What the launcher is told."""
    least, most = parse_min_max_nnodes(args.nnodes)
    host, port = _endpoint(args, most)
    alone = most == 1 and args.rdzv_id == "none"
    redirects, tee = args.redirects or "0", args.tee or "0"
    if args.log_dir and redirects == tee == "0":
        tee = "3"
    return dict(_timeouts(args.rdzv_conf), command=_command(args), host=host, port=port, name=socket.gethostname(),
                job=f"job_{os.getpid()}_{time.time_ns() // 1000000}" if alone else args.rdzv_id,
                min_nodes=least, max_nodes=most,
                node_rank=args.node_rank, processes=determine_local_world_size(args.nproc_per_node),
                max_restarts=args.max_restarts, log_dir=args.log_dir, redirects=redirects, tee=tee,
                local_addr=args.local_addr, shutdown_timeout=args.shutdown_timeout, monitor=args.monitor)


def run(args):
    """Runs a program as parsed flags say; the status to exit with."""
    return _dist.launch(options_of(args))


def main(args=None):
    try:
        status = run(get_args_parser().parse_args(args))
    except (ValueError, _C.DistError) as error:
        print(f"torchrun: {error}", file=sys.stderr)
        status = 2
    sys.exit(status)


if __name__ == "__main__":
    main()
