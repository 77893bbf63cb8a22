#!/usr/bin/env python3
"""What a compiler reads of ours for three programs: header_weight.py COMPILER SOURCE GENERATED COMPAT

Counts the lines of our headers, written and made, that are left after the preprocessor. The limits only fall: a header that
must grow takes the lines from another.
"""

import re
import subprocess
import sys

LIMITS = {"taeda/tensor/tensor.h": 2048, "taeda/taeda.h": 14700, "torch/torch.h": 19650}
MARKER = re.compile(r'# \d+ "([^"]*)"')


def weight(preprocessed, folders):
    """How many lines that are not empty come from files in the folders."""
    count, ours = 0, False
    for line in preprocessed.splitlines():
        if marker := MARKER.match(line):
            ours = marker[1].startswith(tuple(folders))
        elif ours and line.strip():
            count += 1
    return count


def preprocess(compiler, header, folders):
    run = subprocess.run([compiler, "-std=c++20", "-E", "-x", "c++", *(f"-I{folder}" for folder in folders), "-"],
                         input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{header} does not compile:\n{run.stderr}")
    return run.stdout


def main():
    compiler, *folders = sys.argv[1:]
    heavy = False
    for header, limit in LIMITS.items():
        lines = weight(preprocess(compiler, header, folders), folders)
        print(f"{header}: {lines} lines, at most {limit}")
        heavy |= lines > limit
    return heavy


if __name__ == "__main__":
    sys.exit(main())
