"""torchrun: a program on several processes and machines.

    python -m taeda.distributed.run --standalone --nproc-per-node 4 train.py --epochs 3

docs/launching.md says what the flags mean and what happens when a process fails. The flags and their rules are the library's,
as those of `taeda launch` are; only how they are written is argparse's.
"""

import argparse
import sys

from .. import _C

_dist = _C._distributed


def _number(text):
    """A number where it is one; what is none the launcher refuses in its own words."""
    try:
        return int(text)
    except ValueError:
        return text


def get_args_parser():
    """torchrun's flags."""
    parser = argparse.ArgumentParser(prog="torchrun", description="Runs a program on several processes and machines.")
    for name, letter, kind, initial, text in _dist.launch_flags():
        names = [letter] * bool(letter) + list(dict.fromkeys([name, "--" + name[2:].replace("-", "_")]))
        if kind == "switch":
            parser.add_argument(*names, action="store_true", default=initial == "1", help=text)
        elif kind == "number":
            parser.add_argument(*names, type=_number, default=_number(initial) if initial else None, help=text)
        else:
            parser.add_argument(*names, default=initial, help=text)
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args):
    return get_args_parser().parse_args(args)


def parse_min_max_nnodes(nnodes):
    """(least, most) of "2" or "1:4"."""
    try:
        return _dist.least_and_most_nodes(str(nnodes))
    except ValueError:
        raise RuntimeError(f'nnodes={nnodes} is not in "MIN:MAX" format') from None


def determine_local_world_size(nproc_per_node):
    """How many processes "4", "auto", "cpu" or "gpu" are on this machine."""
    return _dist.local_processes(str(nproc_per_node))


def _given(args):
    """The flags as texts, as the launcher takes them. A program may have put numbers and None there."""
    out = {}
    for name, _, kind, _, _ in _dist.launch_flags():
        value = getattr(args, name[2:].replace("-", "_"), None)
        if value is not None:
            out[name] = str(int(value)) if kind == "switch" else str(value)
    return out, [args.training_script, *args.training_script_args], sys.executable


def options_of(args):
    """What the launcher is told."""
    return _dist.launch_options(*_given(args))


def run(args):
    """Runs a program as parsed flags say; the status to exit with."""
    return _dist.launch(*_given(args))


def main(args=None):
    try:
        status = run(parse_args(args))
    except (ValueError, _C.DistError) as error:
        print(f"torchrun: {error}", file=sys.stderr)
        status = 2
    sys.exit(status)


if __name__ == "__main__":
    main()
