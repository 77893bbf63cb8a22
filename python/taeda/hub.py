"""Files from the network, kept in a folder. Programs from the network are not loaded."""

import os
import re
import urllib.parse
from urllib.parse import urlparse  # noqa: F401

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # resnet18-f37072fd.pth

_folder = None


def get_dir():
    """The folder of what was fetched: $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    if _folder is not None:
        return _folder
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home():
    """$TORCH_HOME, or ~/.cache/torch."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME") or os.path.join(cache, "torch"))


def set_dir(d):
    global _folder
    _folder = os.path.expanduser(d)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None,
                             weights_only=True):
    """Fetches a file once, and loads it. RuntimeError with the reason when it cannot be fetched."""
    from .serialization import load
    from ._files.fetch import fetch
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    name = file_name or os.path.basename(urllib.parse.urlparse(url).path)
    return load(fetch([url], folder, name), map_location, weights_only=weights_only)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Fetches a file. RuntimeError where its SHA-256 does not begin with `hash_prefix`; nothing is left at `dst` then."""
    import hashlib
    import urllib.request
    from ._files.atomic_file import replacing
    digest = hashlib.sha256()
    with urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": "torch.hub"})) as source:
        with replacing(os.path.expanduser(dst)) as file:
            while block := source.read(1 << 16):
                digest.update(block)
                file.write(block)
            if hash_prefix is not None and digest.hexdigest()[:len(hash_prefix)] != hash_prefix:
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')


def load(repo_or_dir, model, *args, **kwargs):
    raise NotImplementedError(f"torch.hub.load({repo_or_dir!r}, {model!r}): Taeda runs no programs from the network; "
                              "torch.hub.load_state_dict_from_url loads weights")
