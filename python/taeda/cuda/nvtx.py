"""Ranges for profilers of NVIDIA: accepted, and not recorded."""

import contextlib


def range_push(msg):
    return 0


def range_pop():
    return 0


def range_start(msg):
    return 0


def range_end(range_id):
    return None


def mark(msg):
    return None


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    yield
