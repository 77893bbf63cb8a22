"""Loads the extension. A wheel has no OpenSSL: where the machine has none either, the interpreter's own will do."""

try:
    from .. import _C  # noqa: F401
except ImportError as error:
    if "libcrypto.so" not in str(error) and "libssl.so" not in str(error):
        raise
    import ssl  # noqa: F401
    from .. import _C  # noqa: F401

from .missing import speak_of_missing

speak_of_missing(_C)
