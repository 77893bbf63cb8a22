"""python -m taeda.compat: runs a program under PyTorch's names."""

import os
import runpy
import sys

from . import install

USAGE = "usage: python -m taeda.compat (program.py | -m module | -c command) [arguments]"


def show(kind, error, trace):
    """Shows what ended a program without the frames by which it was started."""
    ours = main.__code__.co_filename, runpy.run_path.__code__.co_filename
    while trace is not None and trace.tb_frame.f_code.co_filename in ours:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if arguments else 2
    install()
    sys.excepthook = show
    if arguments[0] == "-m":
        if len(arguments) < 2:
            print(USAGE, file=sys.stderr)
            return 2
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        if len(arguments) < 2:
            print(USAGE, file=sys.stderr)
            return 2
        sys.argv = ["-c"] + arguments[2:]
        sys.path.insert(0, "")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        program = arguments[0]
        if not os.path.exists(program):
            print(f"taeda.compat: can't open file '{program}'", file=sys.stderr)
            return 2
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
        runpy.run_path(program, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
