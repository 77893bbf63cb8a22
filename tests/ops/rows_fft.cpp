// Rows of the Fourier transforms. Complex inputs are made of two real ones, complex results are
// seen as pairs, and the reference is the sum by which the transform is defined.
#include <cmath>
#include <complex>
#include <numbers>

#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/spectral/fft.h"
#include "taeda/ops/spectral/stft.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

using Complex = std::complex<double>;

/// Row-major complex numbers.
struct Spectrum {
  std::vector<int64_t> sizes;
  std::vector<Complex> data;
};

Spectrum spectrum_of(const Arrays& in) {
  Spectrum out{in[0].sizes, {}};
  for (size_t i = 0; i < in[0].data.size(); ++i)
    out.data.emplace_back(in[0].data[i], in.size() > 1 ? in[1].data[i] : 0);
  return out;
}
Array pairs_of(const Spectrum& s) {
  Array out{s.sizes, {}};
  out.sizes.push_back(2);
  for (const Complex z : s.data) out.data.push_back(z.real()), out.data.push_back(z.imag());
  return out;
}
Array reals_of(const Spectrum& s) {
  Array out{s.sizes, {}};
  for (const Complex z : s.data) out.data.push_back(z.real());
  return out;
}

/// Replaces every line along `dim` by what `f` makes of it, `n` numbers.
template <class F>
Spectrum along_lines(const Spectrum& in, size_t dim, int64_t n, F f) {
  Spectrum out{in.sizes, {}};
  out.sizes[dim] = n;
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < in.sizes.size(); ++d)
    if (d != dim) (d < dim ? outer : inner) *= in.sizes[d];
  out.data.resize(static_cast<size_t>(outer * n * inner));
  const int64_t m = in.sizes[dim];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<Complex> line;
      for (int64_t k = 0; k < m; ++k)
        line.push_back(in.data[static_cast<size_t>((o * m + k) * inner + i)]);
      line = f(line);
      for (int64_t k = 0; k < n; ++k)
        out.data[static_cast<size_t>((o * n + k) * inner + i)] = line[static_cast<size_t>(k)];
    }
  return out;
}

Spectrum resize_lines(const Spectrum& in, size_t dim, int64_t n) {
  return along_lines(in, dim, n, [n](std::vector<Complex> line) {
    line.resize(static_cast<size_t>(n));
    return line;
  });
}

/// sum_j x[j] exp(sign 2 pi i j k / n), times `scale`.
Spectrum dft(const Spectrum& in, size_t dim, int sign, double scale = 1) {
  return along_lines(in, dim, in.sizes[dim], [&](const std::vector<Complex>& x) {
    const size_t n = x.size();
    std::vector<Complex> out(n);
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j)
        out[k] +=
            x[j] * std::polar(scale, sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                         static_cast<double>(n));
    return out;
  });
}

/// The n numbers of which the first n / 2 + 1 are given, the others being their conjugates.
Spectrum with_conjugates(const Spectrum& in, size_t dim, int64_t n) {
  return along_lines(resize_lines(in, dim, n / 2 + 1), dim, n, [n](std::vector<Complex> x) {
    x[0] = x[0].real();
    if (n % 2 == 0) x[static_cast<size_t>(n / 2)] = x[static_cast<size_t>(n / 2)].real();
    for (int64_t k = n / 2 + 1; k < n; ++k) x.push_back(std::conj(x[static_cast<size_t>(n - k)]));
    return x;
  });
}

using SpectrumFn = std::function<Spectrum(const Spectrum&)>;

/// `call` takes a complex tensor (a real one if `from_real`) and gives a complex one (a real one if
/// `to_real`).
OpRow fft_row(std::string name, std::vector<std::vector<int64_t>> shapes,
              std::function<Tensor(const Tensor&)> call, SpectrumFn reference,
              bool from_real = false, bool to_real = false) {
  OpRow row;
  row.name = std::move(name);
  row.call = [=](const Tensors& t) {
    const Tensor out = call(from_real ? t[0] : make_complex(t[0], t[1]));
    return Tensors{to_real ? out : view_as_real(out)};
  };
  for (const auto& sizes : shapes)
    row.samples.push_back(from_real ? Sample{real(sizes)} : Sample{real(sizes), real(sizes)});
  row.reference = [=](const Arrays& in) {
    const Spectrum out = reference(spectrum_of(in));
    return Arrays{to_real ? reals_of(out) : pairs_of(out)};
  };
  row.dtypes = kWide;
  row.tolerance = 8;
  return row;
}

size_t last_dim(const Spectrum& s) { return s.sizes.size() - 1; }
double length_of(const Spectrum& s, size_t dim) { return static_cast<double>(s.sizes[dim]); }

std::vector<OpRow> complex_rows() {
  const std::vector<std::vector<int64_t>> lines = {{2, 5}, {8}, {3, 1}, {0, 4}, {12}, {7}};
  return {
      fft_row(
          "fft", lines, [](const Tensor& t) { return fft::fft(t); },
          [](const Spectrum& s) { return dft(s, last_dim(s), -1); }),
      fft_row(
          "fft.padded", {{4, 3}}, [](const Tensor& t) { return fft::fft(t, 6, 0, "ortho"); },
          [](const Spectrum& s) { return dft(resize_lines(s, 0, 6), 0, -1, 1 / std::sqrt(6)); }),
      fft_row(
          "fft.cut", {{5, 2}}, [](const Tensor& t) { return fft::fft(t, 3, -2, "forward"); },
          [](const Spectrum& s) { return dft(resize_lines(s, 0, 3), 0, -1, 1.0 / 3); }),
      fft_row(
          "fft.real", {{2, 6}}, [](const Tensor& t) { return fft::fft(t); },
          [](const Spectrum& s) { return dft(s, last_dim(s), -1); }, true),
      fft_row(
          "ifft", lines, [](const Tensor& t) { return fft::ifft(t); },
          [](const Spectrum& s) { return dft(s, last_dim(s), 1, 1 / length_of(s, last_dim(s))); }),
      fft_row(
          "ifft.forward", {{2, 4, 3}},
          [](const Tensor& t) { return fft::ifft(t, {}, 1, "forward"); },
          [](const Spectrum& s) { return dft(s, 1, 1); }),
      fft_row(
          "fft2", {{2, 3, 4}}, [](const Tensor& t) { return fft::fft2(t); },
          [](const Spectrum& s) { return dft(dft(s, 1, -1), 2, -1); }),
      fft_row(
          "fft2.sizes", {{3, 2, 3}},
          [](const Tensor& t) {
            return fft::fft2(t, {2, 4}, {0, 2}, "ortho");
          },
          [](const Spectrum& s) {
            const Spectrum x = resize_lines(resize_lines(s, 0, 2), 2, 4);
            return dft(dft(x, 0, -1), 2, -1, 1 / std::sqrt(8));
          }),
      fft_row(
          "ifft2", {{2, 3, 4}}, [](const Tensor& t) { return fft::ifft2(t); },
          [](const Spectrum& s) { return dft(dft(s, 1, 1), 2, 1, 1.0 / 12); }),
      fft_row(
          "fftn", {{2, 3, 2}, {4}}, [](const Tensor& t) { return fft::fftn(t); },
          [](Spectrum s) {
            for (size_t d = 0; d < s.sizes.size(); ++d) s = dft(s, d, -1);
            return s;
          }),
      fft_row(
          "fftn.four", {{2, 2, 3, 2}},
          [](const Tensor& t) {
            return fft::fftn(t, {}, {3, 1, 0, 2});
          },
          [](Spectrum s) {
            for (size_t d = 0; d < 4; ++d) s = dft(s, d, -1);
            return s;
          }),
      fft_row(
          "ifftn", {{3, 2, 2}},
          [](const Tensor& t) {
            return fft::ifftn(t, {-1, 3}, {0, 2});
          },
          [](const Spectrum& s) { return dft(dft(resize_lines(s, 2, 3), 0, 1), 2, 1, 1.0 / 9); }),
      fft_row(
          "fftshift", {{4, 5}, {3}}, [](const Tensor& t) { return fft::fftshift(t); },
          [](Spectrum s) {
            for (size_t d = 0; d < s.sizes.size(); ++d)
              s = along_lines(s, d, s.sizes[d], [](std::vector<Complex> x) {
                std::rotate(x.begin(), x.end() - static_cast<ptrdiff_t>(x.size() / 2), x.end());
                return x;
              });
            return s;
          }),
      fft_row(
          "ifftshift", {{4, 5}, {3}}, [](const Tensor& t) { return fft::ifftshift(t, {-1}); },
          [](const Spectrum& s) {
            return along_lines(s, last_dim(s), s.sizes.back(), [](std::vector<Complex> x) {
              std::rotate(x.begin(), x.begin() + static_cast<ptrdiff_t>(x.size() / 2), x.end());
              return x;
            });
          }),
  };
}

std::vector<OpRow> real_rows() {
  const std::vector<std::vector<int64_t>> lines = {{2, 6}, {5}, {3, 1}, {0, 4}, {8}, {2}};
  const auto rfft = [](const Spectrum& s, size_t dim) {
    return resize_lines(dft(s, dim, -1), dim, s.sizes[dim] / 2 + 1);
  };
  const auto irfft = [](const Spectrum& s, size_t dim, int64_t n) {
    return dft(with_conjugates(s, dim, n), dim, 1, 1 / static_cast<double>(n));
  };
  return {
      fft_row(
          "rfft", lines, [](const Tensor& t) { return fft::rfft(t); },
          [=](const Spectrum& s) { return rfft(s, last_dim(s)); }, true),
      fft_row(
          "rfft.dim", {{5, 3}}, [](const Tensor& t) { return fft::rfft(t, 7, 0, "forward"); },
          [=](const Spectrum& s) {
            return resize_lines(dft(resize_lines(s, 0, 7), 0, -1, 1.0 / 7), 0, 4);
          },
          true),
      fft_row(
          "ihfft", lines, [](const Tensor& t) { return fft::ihfft(t); },
          [=](const Spectrum& s) {
            const auto n = static_cast<double>(s.sizes.back());
            return resize_lines(dft(s, last_dim(s), 1, 1 / n), last_dim(s), s.sizes.back() / 2 + 1);
          },
          true),
      fft_row(
          "irfft", {{2, 4}, {2}, {0, 3}}, [](const Tensor& t) { return fft::irfft(t); },
          [=](const Spectrum& s) { return irfft(s, last_dim(s), 2 * (s.sizes.back() - 1)); }, false,
          true),
      fft_row(
          "irfft.odd", {{3, 2}, {1, 2}}, [](const Tensor& t) { return fft::irfft(t, 5, 0); },
          [=](const Spectrum& s) { return irfft(s, 0, 5); }, false, true),
      fft_row(
          "irfft.one", {{2, 3}}, [](const Tensor& t) { return fft::irfft(t, 1); },
          [=](const Spectrum& s) { return irfft(s, 1, 1); }, false, true),
      fft_row(
          "hfft", {{2, 4}, {3}}, [](const Tensor& t) { return fft::hfft(t, 5); },
          [=](const Spectrum& s) {
            return dft(with_conjugates(s, last_dim(s), 5), last_dim(s), -1);
          },
          false, true),
      fft_row(
          "rfft2", {{2, 3, 4}}, [](const Tensor& t) { return fft::rfft2(t); },
          [=](const Spectrum& s) { return dft(rfft(s, 2), 1, -1); }, true),
      fft_row(
          "irfft2", {{2, 3, 3}}, [](const Tensor& t) { return fft::irfft2(t); },
          [=](const Spectrum& s) { return irfft(dft(s, 1, 1, 1.0 / 3), 2, 4); }, false, true),
      fft_row(
          "rfftn", {{3, 4, 2}},
          [](const Tensor& t) {
            return fft::rfftn(t, {}, {2, 0, 1});
          },
          [=](const Spectrum& s) { return dft(dft(rfft(s, 1), 0, -1), 2, -1); }, true),
      fft_row(
          "irfftn", {{3, 2, 2}},
          [](const Tensor& t) {
            return fft::irfftn(t, {2, 5}, {2, 0}, "ortho");
          },
          [=](const Spectrum& s) {
            const double scale = std::sqrt(10.0);
            return irfft(dft(s, 2, 1, scale / 2), 0, 5);
          },
          false, true),
  };
}

// ---- short-time transforms ----

constexpr int64_t kFft = 8, kHop = 3, kWindow = 6;

/// The window with zeros at both sides.
double window_at(const Array& window, int64_t k) {
  const int64_t i = k - (kFft - kWindow) / 2;
  return i >= 0 && i < kWindow ? window.data[static_cast<size_t>(i)] : 0;
}

Arrays stft_reference(const Arrays& in) {
  const int64_t batch = in[0].sizes[0], n = in[0].sizes[1], frames = 1 + n / kHop;
  Spectrum cut{{batch, frames, kFft}, {}};
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t f = 0; f < frames; ++f)
      for (int64_t k = 0; k < kFft; ++k) {
        int64_t at = std::abs(f * kHop + k - kFft / 2);
        if (at >= n) at = 2 * (n - 1) - at;
        cut.data.emplace_back(in[0].data[static_cast<size_t>(b * n + at)] * window_at(in[1], k));
      }
  const Spectrum s = resize_lines(dft(cut, 2, -1), 2, kFft / 2 + 1);
  Spectrum turned{{batch, kFft / 2 + 1, frames}, {}};
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t k = 0; k <= kFft / 2; ++k)
      for (int64_t f = 0; f < frames; ++f)
        turned.data.push_back(s.data[static_cast<size_t>((b * frames + f) * (kFft / 2 + 1) + k)]);
  return {pairs_of(turned)};
}

/// Frames added with their windows, over the sum of the squared windows.
Arrays istft_reference(const Arrays& in) {
  const int64_t frames = in[0].sizes[2], count = kFft / 2 + 1, hop = 2;
  Spectrum turned{{frames, count}, {}};
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t k = 0; k < count; ++k) {
      const auto at = static_cast<size_t>(k * frames + f);
      turned.data.emplace_back(in[0].data[at], in[1].data[at]);
    }
  const Array cut =
      reals_of(dft(with_conjugates(turned, 1, kFft), 1, 1, 1 / std::sqrt(double(kFft))));
  const int64_t samples = kFft + hop * (frames - 1);
  std::vector<double> sum(static_cast<size_t>(samples)), weight(sum);
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t k = 0; k < kFft; ++k) {
      const auto at = static_cast<size_t>(f * hop + k);
      const double w = in[2].data[static_cast<size_t>(k)];
      sum[at] += w * cut.data[static_cast<size_t>(f * kFft + k)], weight[at] += w * w;
    }
  Array out{{1, samples - kFft}, {}};
  for (int64_t i = kFft / 2; i < samples - kFft / 2; ++i)
    out.data.push_back(sum[static_cast<size_t>(i)] / weight[static_cast<size_t>(i)]);
  return {out};
}

std::vector<OpRow> frame_rows() {
  OpRow forward, back;
  forward.name = "stft";
  forward.call = [](const Tensors& t) {
    return Tensors{view_as_real(
        stft(t[0], kFft, kHop, kWindow, t[1], true, "reflect", false, std::nullopt, true))};
  };
  forward.samples = {{real({2, 10}), real({kWindow})}, {real({1, 13}), real({kWindow})}};
  forward.reference = stft_reference;
  back.name = "istft";
  back.call = [](const Tensors& t) {
    return Tensors{istft(make_complex(t[0], t[1]), kFft, 2, {}, t[2], true, true)};
  };
  const std::vector<int64_t> spectrum = {1, kFft / 2 + 1, 4};
  back.samples = {{real(spectrum), real(spectrum), real({kFft}, 0.5, 1.5)}};
  back.reference = istft_reference;
  for (OpRow* row : {&forward, &back}) row->dtypes = kWide, row->tolerance = 16;
  return {forward, back};
}

/// Makes numbers of the dtype and on the device that the options name.
OpRow numbers_row(std::string name, std::function<Tensor(const TensorOptions&)> make,
                  std::vector<double> want) {
  OpRow row;
  row.name = std::move(name);
  row.call = [make](const Tensors& t) {
    return Tensors{make(TensorOptions(t[0].dtype()).device(t[0].device()))};
  };
  row.samples = {{real({2})}};
  row.reference = [want](const Arrays&) {
    return Arrays{{{static_cast<int64_t>(want.size())}, want}};
  };
  row.dtypes = kFloats;
  row.differentiable = false;
  return row;
}

/// Five numbers f(2 pi k / over).
std::vector<double> five(double over, double (*f)(double)) {
  std::vector<double> out;
  for (int k = 0; k < 5; ++k) out.push_back(f(2 * std::numbers::pi * k / over));
  return out;
}

std::vector<OpRow> number_rows() {
  using O = TensorOptions;
  const auto hann = [](double t) { return 0.5 - 0.5 * std::cos(t); };
  const auto hamming = [](double t) { return 0.54 - 0.46 * std::cos(t); };
  const auto blackman = [](double t) { return 0.42 - 0.5 * std::cos(t) + 0.08 * std::cos(2 * t); };
  return {
      numbers_row("fftfreq", [](const O& o) { return fft::fftfreq(5, 0.5, o); },
                  {0, 0.4, 0.8, -0.8, -0.4}),
      numbers_row("fftfreq.even", [](const O& o) { return fft::fftfreq(4, 1, o); },
                  {0, 0.25, -0.5, -0.25}),
      numbers_row("rfftfreq", [](const O& o) { return fft::rfftfreq(5, 2, o); }, {0, 0.1, 0.2}),
      numbers_row(
          "hann_window", [](const O& o) { return hann_window(5, true, o); }, five(5, hann)),
      numbers_row(
          "hann_window.symmetric", [](const O& o) { return hann_window(5, false, o); },
          five(4, hann)),
      numbers_row(
          "hamming_window", [](const O& o) { return hamming_window(5, true, 0.54, 0.46, o); },
          five(5, hamming)),
      numbers_row(
          "blackman_window", [](const O& o) { return blackman_window(5, false, o); },
          five(4, blackman)),
      numbers_row("bartlett_window", [](const O& o) { return bartlett_window(5, true, o); },
                  {0, 0.4, 0.8, 0.8, 0.4}),
      numbers_row("bartlett_window.one", [](const O& o) { return bartlett_window(1, true, o); },
                  {1}),
  };
}

}  // namespace

std::vector<OpRow> fft_rows() {
  std::vector<OpRow> rows = complex_rows();
  for (const auto& family : {&real_rows, &frame_rows, &number_rows})
    for (OpRow& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
