"""How processes find each other."""

from datetime import timedelta

from .. import _C


def rendezvous(url, rank=-1, world_size=-1, timeout=timedelta(minutes=5), **options):
    """Gives, once, the store of the job that `url` names (env://, tcp://host:port, file:///path), this rank and the size."""
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    yield _C._distributed.rendezvous(url, rank, world_size, timeout)
