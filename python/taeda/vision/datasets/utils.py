"""Files of data sets that programs write: fetched, checked, unpacked, listed."""

import gzip
import os
import tarfile
import zipfile

from ..._files import fetch as files

__all__ = ["calculate_md5", "check_integrity", "check_md5", "download_and_extract_archive", "download_url", "extract_archive",
           "iterable_to_str", "list_dir", "list_files", "verify_str_arg"]


def calculate_md5(fpath, chunk_size=1024 * 1024):
    return files.md5_of(fpath)


def check_md5(fpath, md5, **kwargs):
    return files.md5_of(fpath) == md5


def check_integrity(fpath, md5=None):
    """Whether a file is there and, with `md5`, the one meant."""
    return files.is_good(fpath, md5)


def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """Fetches a file to a folder, unless it is there. RuntimeError where it does not come, or is not the one meant."""
    return files.fetch([url], os.path.expanduser(root), filename or os.path.basename(url), md5)


def _members(archive):
    """Names of an archive, which must stay within the folder."""
    for name in archive.namelist():
        if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            raise RuntimeError(f"the archive names a file outside of its folder: {name}")
        yield name


def extract_archive(from_path, to_path=None, remove_finished=False):
    """Unpacks a .tar, .tar.gz, .tgz, .tar.bz2, .tar.xz or .zip file to a folder, or a .gz file beside it; where to."""
    from_path = os.fspath(from_path)
    to_path = os.path.dirname(from_path) if to_path is None else os.fspath(to_path)
    if from_path.endswith((".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tar.xz")) or tarfile.is_tarfile(from_path):
        files.unpack(from_path, to_path)
    elif from_path.endswith(".zip"):
        with zipfile.ZipFile(from_path) as archive:
            archive.extractall(to_path, members=list(_members(archive)))
    elif from_path.endswith(".gz"):
        to_path = os.path.join(to_path, os.path.basename(from_path)[:-len(".gz")]) if os.path.isdir(to_path) else to_path
        with gzip.open(from_path) as source, open(to_path, "wb") as file:
            while block := source.read(1 << 20):
                file.write(block)
    else:
        raise RuntimeError(f"Unknown compression or archive type: '{os.path.basename(from_path)}'")
    if remove_finished:
        os.remove(from_path)
    return to_path


def download_and_extract_archive(url, download_root, extract_root=None, filename=None, md5=None, remove_finished=False):
    """Fetches an archive and unpacks it."""
    download_root = os.path.expanduser(download_root)
    archive = download_url(url, download_root, filename, md5)
    extract_archive(archive, extract_root or download_root, remove_finished)


def list_dir(root, prefix=False):
    """The folders in a folder, with their paths where `prefix` holds."""
    root = os.path.expanduser(root)
    found = [name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))]
    return [os.path.join(root, name) for name in found] if prefix else found


def list_files(root, suffix, prefix=False):
    """The files in a folder that end in `suffix` (or one of several), with their paths where `prefix` holds."""
    root = os.path.expanduser(root)
    found = [name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name)) and name.endswith(suffix)]
    return [os.path.join(root, name) for name in found] if prefix else found


def iterable_to_str(iterable):
    return "'" + "', '".join(str(item) for item in iterable) + "'"


def verify_str_arg(value, arg=None, valid_values=None, custom_msg=None):
    """The text, which must be one of several. ValueError with what may be given."""
    if not isinstance(value, str):
        where = "" if arg is None else f" for argument {arg}"
        raise ValueError(f"Expected type str{where}, but got type {type(value)}.")
    if valid_values is None or value in valid_values:
        return value
    raise ValueError(custom_msg or f"Unknown value '{value}' for argument {arg}. Valid values are "
                                   f"{{{iterable_to_str(valid_values)}}}.")
