"""Functions of torch on frequencies."""

from .. import _C

__all__ = ["stft"]


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
         onesided=None, return_complex=None, align_to_window=None):
    """The short-time Fourier transform of a signal, or of a batch of them: the transform of each window.

    n_fft: of a window
    hop_length: how far windows are apart; n_fft / 4 unless given
    win_length: of the window function, which is padded to n_fft; n_fft unless given
    window: a vector [win_length]; ones unless given
    center: whether windows lie around their places, the signal being padded by n_fft / 2 (as `pad_mode` says, "reflect"
        unless given); True unless given
    normalized: whether it is divided by the root of n_fft; False unless given
    onesided: whether frequencies above n_fft / 2 are left out; True for real signals unless given
    return_complex: True; for real signals it must be said, else RuntimeError

    Shapes: [*, n] to [*, n_fft / 2 + 1, windows], complex.

    >>> torch.stft(torch.ones(16), n_fft=8, window=torch.hann_window(8), return_complex=True).shape
    torch.Size([5, 9])
    """
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if return_complex is None and not input.is_complex() and not (window is not None and window.is_complex()):
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require "
                           "that return_complex=True in a future PyTorch release.")
    if align_to_window and win_length is not None:  # the first frame's window begins where the signal does
        left = (n_fft - win_length) // 2
        input = _C._functional.pad(input, [left, n_fft - win_length - left], "constant", 0)
    return _C.stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)
