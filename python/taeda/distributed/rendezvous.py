"""How processes find each other."""

from datetime import timedelta

from .. import _C


def rendezvous(url, rank=-1, world_size=-1, timeout=timedelta(minutes=5), **options):
    """Gives, once, the store of the job that `url` names (env://, tcp://host:port, file:///path), this rank and the size. The
    argument is a text.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "store")
    >>> store, rank, world_size = next(torch.distributed.rendezvous(f"file://{path}", 0, 1))
    >>> rank, world_size
    (0, 1)
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    yield _C._distributed.rendezvous(url, rank, world_size, timeout)
