// Short-time Fourier transforms of signals, and the windows they are taken with.
// [operations, composite]
#pragma once

#include <optional>
#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The transforms of frames of `n_fft` samples that begin every `hop_length` samples (default
/// n_fft / 4).
///
/// `self` is [samples] or [batch, samples]; the result [batch,] frequencies, frames. `window` has
/// `win_length` numbers (default n_fft) and is zero-padded at both sides to n_fft; without one all
/// are 1. `center` pads the signal by n_fft / 2 at both ends as `pad_mode` says ("reflect",
/// "constant", "replicate", "circular"), so that frame t is centred at t hop_length. `normalized`
/// divides by sqrt(n_fft). `onesided` (default for a real signal and window) keeps n_fft / 2 + 1
/// frequencies. `return_complex` must be given for a real signal and window; without it the last
/// dimension are pairs of real and imaginary parts. Throws Error for lengths that do not fit.
/// [method]
Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = {},
            std::optional<int64_t> win_length = {}, const Tensor& window = {}, bool center = true,
            std::string_view pad_mode = "reflect", bool normalized = false,
            std::optional<bool> onesided = {}, std::optional<bool> return_complex = {});
/// libtorch's other order, which does not centre.
/// [method]
inline Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                   std::optional<int64_t> win_length, const Tensor& window, bool normalized,
                   std::optional<bool> onesided, std::optional<bool> return_complex = {}) {
  return stft(self, n_fft, hop_length, win_length, window, false, "reflect", normalized, onesided,
              return_complex);
}

/// The signal of which `self` ([batch,] frequencies, frames; complex) is the stft with the same
/// arguments: the least-squares estimate of Griffin and Lim (1984). `onesided` defaults to whether
/// there are fewer than n_fft frequencies. `length` cuts the signal or pads it with zeros; without
/// it a centred signal ends n_fft / 2 before the last frame does. `return_complex` asks for a
/// complex signal. Throws Error where windows leave a sample (nearly) without weight.
/// [method]
Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = {},
             std::optional<int64_t> win_length = {}, const Tensor& window = {}, bool center = true,
             bool normalized = false, std::optional<bool> onesided = {},
             std::optional<int64_t> length = {}, bool return_complex = false);

/// Windows of `window_length` numbers, with t = k / window_length if `periodic` (for transforms),
/// else k / (window_length - 1): symmetric. Throws Error for a negative length and a dtype that is
/// not floating.
///
/// alpha - beta cos(2 pi t) with 0.54 and 0.46.
Tensor hamming_window(int64_t window_length, bool periodic = true, double alpha = 0.54,
                      double beta = 0.46, const TensorOptions& options = {});
inline Tensor hamming_window(int64_t window_length, bool periodic, double alpha,
                             const TensorOptions& options) {
  return hamming_window(window_length, periodic, alpha, 0.46, options);
}
inline Tensor hamming_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return hamming_window(window_length, periodic, 0.54, options);
}
inline Tensor hamming_window(int64_t window_length, const TensorOptions& options) {
  return hamming_window(window_length, true, options);
}
/// 0.5 - 0.5 cos(2 pi t).
Tensor hann_window(int64_t window_length, bool periodic = true, const TensorOptions& options = {});
inline Tensor hann_window(int64_t window_length, const TensorOptions& options) {
  return hann_window(window_length, true, options);
}
/// 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t).
Tensor blackman_window(int64_t window_length, bool periodic = true,
                       const TensorOptions& options = {});
inline Tensor blackman_window(int64_t window_length, const TensorOptions& options) {
  return blackman_window(window_length, true, options);
}
/// 1 - |2 t - 1|.
Tensor bartlett_window(int64_t window_length, bool periodic = true,
                       const TensorOptions& options = {});
inline Tensor bartlett_window(int64_t window_length, const TensorOptions& options) {
  return bartlett_window(window_length, true, options);
}

}  // namespace taeda::inline v0_2
