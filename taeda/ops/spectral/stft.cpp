#include "taeda/ops/spectral/stft.h"

#include <cmath>
#include <numbers>
#include <sstream>

#include "bodies/stft.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/meta_guard.h"
#include "taeda/ops/nn/unfold_backward.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/spectral/fft.h"
#include "taeda/ops/spectral/fft_common.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

/// The arguments of a call, as errors name them.
struct StftCall {
  const char* name;
  Tensor self, window;
  int64_t n_fft, hop_length, win_length;
  bool normalized;
  std::optional<bool> onesided;

  std::string str() const {
    std::ostringstream out;
    out << name << '(' << detail::tensor_type_name(self) << self.sizes() << ", n_fft=" << n_fft
        << ", hop_length=" << hop_length << ", win_length=" << win_length << ", window=";
    if (window.defined())
      out << detail::tensor_type_name(window) << '{' << window.sizes() << '}';
    else
      out << "None";
    out << ", normalized=" << normalized << ", onesided=";
    if (onesided)
      out << *onesided;
    else
      out << "None";
    out << ')';
    return out.str();
  }
};

StftCall stft_call(const char* name, const Tensor& self, int64_t n_fft, OptionalDim hop_length,
                   OptionalDim win_length, const Tensor& window, bool normalized,
                   std::optional<bool> onesided) {
  return {name,
          self,
          window,
          n_fft,
          hop_length.value_or(n_fft / 4),
          win_length.value_or(n_fft),
          normalized,
          onesided};
}

/// `p` samples more at both ends of the last dimension.
Tensor pad_signal(const Tensor& x, int64_t p, std::string_view mode) {
  const int64_t n = x.size(-1);
  if (mode == "constant") {
    DimVector border(x.sizes());
    border.back() = p;
    const Tensor zero = zeros(border, x.options());
    return cat({zero, x, zero}, -1);
  }
  TAEDA_CHECK_NOT_IMPLEMENTED(mode == "reflect" || mode == "replicate" || mode == "circular",
                              "Unrecognised padding mode ", mode);
  if (mode == "reflect") {
    TAEDA_CHECK(p < n,
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                "but got: padding (",
                p, ", ", p, ") at dimension ", x.dim() - 1, " of input ", x.sizes());
    return cat({x.narrow(-1, 1, p).flip({-1}), x, x.narrow(-1, n - 1 - p, p).flip({-1})}, -1);
  }
  TAEDA_CHECK(n > 0, "Expected a non-empty input to pad, but got ", x.sizes());
  if (mode == "replicate") {
    DimVector border(x.sizes());
    border.back() = p;
    return cat({x.narrow(-1, 0, 1).expand(border), x, x.narrow(-1, n - 1, 1).expand(border)}, -1);
  }
  TAEDA_CHECK(p <= n, "Padding value causes wrapping around more than once.");
  return cat({x.narrow(-1, n - p, p), x, x.narrow(-1, 0, p)}, -1);
}

/// The window with zeros at both sides, n_fft numbers in all.
Tensor full_window(const StftCall& call, const TensorOptions& options) {
  const Tensor window = call.window.defined() ? call.window : ones({call.win_length}, options);
  const int64_t missing = call.n_fft - call.win_length, left = missing / 2;
  if (missing == 0) return window;
  return cat({zeros({left}, window.options()), window, zeros({missing - left}, window.options())});
}

double stft_scale(bool normalized, int64_t n_fft) {
  return normalized ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1;
}

void check_stft(const StftCall& call) {
  const Tensor& x = call.self;
  TAEDA_CHECK(is_differentiable(x.dtype()), call.str(),
              ": expected a tensor of floating point or complex values");
  TAEDA_CHECK(x.dim() == 1 || x.dim() == 2, call.str(), " : expected a 1D or 2D tensor");
  const int64_t samples = x.size(-1);
  TAEDA_CHECK(call.n_fft > 0 && call.n_fft <= samples, call.str(), " : expected 0 < n_fft < ",
              samples, ", but got n_fft=", call.n_fft);
  TAEDA_CHECK(call.hop_length > 0, call.str(),
              " : expected hop_length > 0, but got hop_length=", call.hop_length);
  TAEDA_CHECK(call.win_length > 0 && call.win_length <= call.n_fft, call.str(),
              " : expected 0 < win_length <= n_fft, but got win_length=", call.win_length);
  if (call.window.defined())
    TAEDA_CHECK(call.window.dim() == 1 && call.window.size(0) == call.win_length, call.str(),
                " : expected a 1D window tensor of size equal to win_length=", call.win_length,
                ", but got window with size ", call.window.sizes());
}

}  // namespace

Tensor do_stft(const Tensor& self, int64_t n_fft, OptionalDim hop_length, OptionalDim win_length,
               const Tensor& window, bool center, std::string_view pad_mode, bool normalized,
               std::optional<bool> onesided, std::optional<bool> return_complex) {
  if (!window.defined())
    TAEDA_WARN_ONCE(
        "A window was not provided. A rectangular window will be applied, which is known to cause "
        "spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are "
        "recommended to reduce spectral leakage. To suppress this warning and use a rectangular "
        "window, explicitly set `window=torch.ones(n_fft, device=<device>)`.");
  StftCall call =
      stft_call("stft", self, n_fft, hop_length, win_length, window, normalized, onesided);
  const bool from_complex = self.is_complex() || (window.defined() && window.is_complex());
  TAEDA_CHECK(return_complex || from_complex,
              "stft requires the return_complex parameter be given for real inputs, and will "
              "further require that return_complex=True in a future PyTorch release.");
  if (return_complex == false)
    TAEDA_WARN_ONCE(
        "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
        "return complex tensors for all inputs, and return_complex=False will raise an error.\n"
        "Note: you can still call torch.view_as_real on the complex output to recover the old "
        "return format.");
  if (center && (self.dim() == 1 || self.dim() == 2) && n_fft > 0)
    call.self = pad_signal(self, n_fft / 2, pad_mode);
  check_stft(call);
  const bool half = onesided.value_or(!from_complex);
  TAEDA_CHECK(!half || !from_complex, "Cannot have onesided output if window or input is complex");

  Tensor frames = detail::fft_input(call.self, false).unfold(-1, n_fft, call.hop_length);
  if (window.defined() || call.win_length < n_fft)
    frames = frames.mul(full_window(call, frames.options()));
  const fft::OptionalNorm norm = normalized ? fft::OptionalNorm("ortho") : fft::OptionalNorm();
  const Tensor out = half ? fft::rfft(frames, {}, -1, norm) : fft::fft(frames, {}, -1, norm);
  const Tensor turned = out.transpose(-1, -2);
  return return_complex.value_or(true) ? turned : view_as_real(turned);
}

namespace {

void check_istft(const StftCall& call, bool half) {
  const Tensor& x = call.self;
  TAEDA_CHECK_TYPE(x.is_complex(),
                   "istft requires a complex-valued input tensor matching the output from stft "
                   "with return_complex=True.");
  TAEDA_CHECK(x.dim() == 2 || x.dim() == 3, call.str(),
              " : expected a tensor with 2 or 3 dimensions, but got ", x.dim());
  TAEDA_CHECK(x.numel() > 0, call.str(), " : input tensor cannot be empty.");
  const int64_t frequencies = x.size(-2);
  if (half)
    TAEDA_CHECK(frequencies == call.n_fft / 2 + 1, call.str(),
                " : expected the frequency dimension (3rd to the last) of the input tensor to "
                "match n_fft / 2 + 1 when onesided=True, but got ",
                frequencies);
  else
    TAEDA_CHECK(frequencies == call.n_fft, call.str(),
                " : expected the frequency dimension (3rd to the last) of the input tensor to "
                "match n_fft when onesided=False, but got ",
                frequencies);
  TAEDA_CHECK(call.hop_length > 0 && call.hop_length <= call.win_length, call.str(),
              " : expected 0 < hop_length <= win_length");
  TAEDA_CHECK(call.win_length > 0 && call.win_length <= call.n_fft, call.str(),
              " : expected 0 < win_length <= n_fft");
  if (call.window.defined())
    TAEDA_CHECK(call.window.dim() == 1 && call.window.size(0) == call.win_length, call.str(),
                " : Invalid window shape. window has to be 1D and length of `win_length`");
}

/// The frames of [batch, frames, frequencies].
Tensor istft_frames(const Tensor& spectrum, const StftCall& call, bool half, bool to_complex) {
  const double scale =
      1 / (stft_scale(call.normalized, call.n_fft) * static_cast<double>(call.n_fft));
  if (to_complex) {
    TAEDA_CHECK(!half, "Cannot have onesided output if window or input is complex");
    return detail::fft_c2c(spectrum, {2}, false, scale);
  }
  TAEDA_CHECK(!call.window.defined() || !call.window.is_complex(),
              "Complex windows are incompatible with return_complex=False");
  return detail::fft_c2r(half ? spectrum : spectrum.narrow(2, 0, call.n_fft / 2 + 1), {2},
                         call.n_fft, scale);
}

}  // namespace

Tensor do_istft(const Tensor& self, int64_t n_fft, OptionalDim hop_length, OptionalDim win_length,
                const Tensor& window, bool center, bool normalized, std::optional<bool> onesided,
                OptionalDim length, bool return_complex) {
  const StftCall call =
      stft_call("istft", self, n_fft, hop_length, win_length, window, normalized, onesided);
  const bool half = onesided.value_or(self.dim() < 2 || self.size(-2) != n_fft);
  check_istft(call, half);
  const Tensor spectrum = (self.dim() == 2 ? self.unsqueeze(0) : self).transpose(1, 2);
  const int64_t batch = spectrum.size(0), count = spectrum.size(1),
                samples = n_fft + call.hop_length * (count - 1);

  const Tensor frames = istft_frames(spectrum, call, half, return_complex);
  const Tensor weight =
      full_window(call, TensorOptions(to_real_type(self.dtype())).device(self.device()));
  const Tensor weighted = frames.mul(weight), squares = weight.mul(weight);
  Tensor signal = detail::unfold_backward(weighted, {batch, samples}, 1, n_fft, call.hop_length);
  Tensor envelope = detail::unfold_backward(squares.expand({1, count, n_fft}), {1, samples}, 1,
                                            n_fft, call.hop_length);
  const int64_t start = center ? n_fft / 2 : 0,
                end = length   ? start + *length
                      : center ? samples - n_fft / 2
                               : samples,
                kept = std::max<int64_t>(0, std::min(end, samples) - start);
  signal = signal.narrow(1, start, kept);
  envelope = envelope.narrow(1, start, kept);
  if (kept > 0)
    TAEDA_CHECK(envelope.is_meta() || envelope.abs().min().item<double>() >= 1e-11, call.str(),
                " window overlap add min: 1");
  signal = signal.div(envelope);
  if (end > samples) signal = cat({signal, zeros({batch, end - samples}, signal.options())}, 1);
  return self.dim() == 2 ? signal.squeeze(0) : signal;
}

namespace {

/// 2 pi t of each position, in double precision; `formula` makes the window of it.
template <class Formula>
Tensor make_window(const char* name, int64_t length, bool periodic, const TensorOptions& options,
                   Formula formula) {
  TAEDA_CHECK(is_floating_point(options.dtype()), name,
              " expects floating point dtypes, got: ", to_string(options.dtype()));
  TAEDA_CHECK(length >= 0, name,
              " requires non-negative window_length, got window_length=", length);
  if (length <= 1) return ones({length}, options);
  NoGradGuard guard;
  const TensorOptions numbers = TensorOptions(kDouble).device(detail::device_of(options));
  const double step = 2 * std::numbers::pi / static_cast<double>(periodic ? length : length - 1);
  const Tensor window = formula(arange(length, numbers).mul(step));
  return window.to(options.dtype()).requires_grad_(options.requires_grad());
}

}  // namespace

Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                      const TensorOptions& options) {
  return make_window("hamming_window", window_length, periodic, options,
                     [=](const Tensor& t) { return t.cos().mul(-beta).add(alpha); });
}

Tensor hann_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return make_window("hann_window", window_length, periodic, options,
                     [](const Tensor& t) { return t.cos().mul(-0.5).add(0.5); });
}

Tensor blackman_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return make_window("blackman_window", window_length, periodic, options, [](const Tensor& t) {
    return t.mul(2).cos().mul(0.08).sub(t.cos().mul(0.5)).add(0.42);
  });
}

Tensor bartlett_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return make_window("bartlett_window", window_length, periodic, options, [](const Tensor& t) {
    return t.div(std::numbers::pi).sub(1).abs().neg().add(1);
  });
}

}  // namespace taeda::inline v0_2
