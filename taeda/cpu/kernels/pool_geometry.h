// What pooling runs over: planes, windows, and the parts of planes that are averaged.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/scratch.h"
#include "taeda/kernels/pool.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

constexpr int kPlaneBlock = 32;  // channels that go together in channels-last memory

/// Spatial sizes with three dimensions; missing ones are 1, at the front.
struct Planes {
  int64_t count = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t channels = 1, step = 1;  // elements from a position to the next one of its channel

  Planes(const Tensor& input, const Tensor& output, int ndim) {
    for (int64_t d = 0; d < input.dim() - ndim; ++d) count *= input.size(d);
    for (int d = 0; d < ndim; ++d) {
      in[3 - ndim + d] = input.size(d - ndim);
      out[3 - ndim + d] = output.size(d - ndim);
    }
    if (is_channels_last_only(input) || is_channels_last_only(output))
      step = channels = input.size(1);
  }
  bool last() const { return step != 1; }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  /// Where plane i begins in memory of `size` positions for each plane.
  int64_t begin(int64_t i, int64_t size) const {
    return last() ? i / channels * size * channels + i % channels : i * size;
  }
  template <class F>
  void for_each(int64_t work, F&& f) const {
    parallel_for(0, count, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) f(i);
                 });
  }
  /// Calls f.operator()<B>(first plane, planes) with as many neighbouring planes as go together, at
  /// most B.
  template <class F>
  void for_each_block(int64_t work, F&& f) const {
    if (!last()) return for_each(work, [&](int64_t i) { f.template operator()<1>(i, 1); });
    const int64_t blocks = (channels + kPlaneBlock - 1) / kPlaneBlock;
    parallel_for(0, count / channels * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % blocks * kPlaneBlock;
        f.template operator()<kPlaneBlock>(
            i / blocks * channels + first,
            static_cast<int>(std::min<int64_t>(kPlaneBlock, channels - first)));
      }
    });
  }
};

/// A geometry with three dimensions.
struct Window {
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0},
          dilation[3] = {1, 1, 1};

  explicit Window(const PoolGeometry& g) {
    for (int d = 0; d < g.ndim; ++d) {
      const int at = 3 - g.ndim + d;
      kernel[at] = g.kernel[d], stride[at] = g.stride[d];
      padding[at] = g.padding[d], dilation[at] = g.dilation[d];
    }
  }
  int64_t size() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Window positions of output o that lie inside, along dimension d.
  std::pair<int64_t, int64_t> inside(int d, int64_t o, int64_t in) const {
    const int64_t start = o * stride[d] - padding[d];
    const int64_t begin = start >= 0 ? 0 : (-start + dilation[d] - 1) / dilation[d];
    const int64_t room = in - start;
    const int64_t end = room <= 0 ? 0 : std::min(kernel[d], (room + dilation[d] - 1) / dilation[d]);
    return {std::min(begin, end), end};
  }
  int64_t input(int d, int64_t o, int64_t k) const {
    return o * stride[d] - padding[d] + k * dilation[d];
  }
  /// The height of windows of 1 x 2 or 2 x 2 that stand side by side within planes whose rows are
  /// contiguous; 0 for others.
  int pair_rows(const Planes& p) const {
    const bool columns = kernel[2] == 2 && stride[2] == 2 && padding[2] == 0 && dilation[2] == 1 &&
                         2 * p.out[2] <= p.in[2];
    const bool rows = (kernel[1] == 1 || (kernel[1] == 2 && dilation[1] == 1)) &&
                      stride[1] == kernel[1] && padding[1] == 0 && kernel[1] * p.out[1] <= p.in[1];
    const bool flat = p.in[0] == 1 && kernel[0] == 1 && stride[0] == 1 && padding[0] == 0;
    return flat && rows && columns && !p.last() ? static_cast<int>(kernel[1]) : 0;
  }
};

/// Calls f(output number, z, y, x) for every output position of a channel.
template <class F>
void for_each_output(const Planes& p, F&& f) {
  int64_t o = 0;
  for (int64_t z = 0; z < p.out[0]; ++z)
    for (int64_t y = 0; y < p.out[1]; ++y)
      for (int64_t x = 0; x < p.out[2]; ++x) f(o++, z, y, x);
}

/// Where positions of windows lie in the channel. How far a position is from the first of its
/// window is found once.
class WindowOffsets {
 public:
  WindowOffsets(const Planes& p, const Window& w) : p_(p), w_(w), from_first_(w.size()) {
    int64_t* to = from_first_.get();
    for (int64_t z = 0; z < w.kernel[0]; ++z)
      for (int64_t y = 0; y < w.kernel[1]; ++y)
        for (int64_t x = 0; x < w.kernel[2]; ++x)
          *to++ = (z * w.dilation[0] * p.in[1] + y * w.dilation[1]) * p.in[2] + x * w.dilation[2];
  }
  /// Of window position k of output (z, y, x).
  int64_t position(int64_t z, int64_t y, int64_t x, int64_t k) const {
    return (w_.input(0, z, 0) * p_.in[1] + w_.input(1, y, 0)) * p_.in[2] + w_.input(2, x, 0) +
           from_first_.get()[k];
  }

 private:
  const Planes& p_;
  const Window& w_;
  ScratchArray<int64_t> from_first_;
};

/// Where the numbers of winners go: to bytes or to int32, or nowhere.
class Winners {
 public:
  Winners(void* numbers, bool bytes) : at_(static_cast<char*>(numbers)), bytes_(bytes) {}
  explicit Winners(const Tensor& window)
      : Winners(window.defined() ? window.data_ptr() : nullptr,
                !window.defined() || window.dtype() == kByte) {}

  bool wanted() const { return at_ != nullptr; }
  bool are_bytes() const { return bytes_; }
  int64_t item() const { return bytes_ ? 1 : 4; }
  char* at(int64_t i) const { return at_ ? at_ + i * item() : nullptr; }
  uint8_t* bytes_at(int64_t i) const { return reinterpret_cast<uint8_t*>(at(i)); }
  Winners from(int64_t i) const { return {at(i), bytes_}; }
  void set(int64_t i, int32_t number) const {
    if (bytes_)
      *at(i) = static_cast<char>(number);
    else
      std::memcpy(at(i), &number, sizeof number);
  }
  void set(int64_t i, const int32_t* numbers, int64_t n) const {
    if (bytes_)
      std::copy_n(numbers, n, bytes_at(i));
    else
      std::copy_n(numbers, n, reinterpret_cast<int32_t*>(at(i)));
  }

 private:
  char* at_;
  bool bytes_;
};

template <class T>
bool beats(T value, T best) {
  return value > best || value != value;
}

/// The window of one output, without what lies outside of the input.
class Taps {
 public:
  Taps(const Planes& p, const Window& w, int64_t z, int64_t y, int64_t x)
      : p_(p), w_(w), at_{z, y, x} {
    for (int d = 0; d < 3; ++d) inside_[d] = w.inside(d, at_[d], p.in[d]);
  }

  /// The number of the first of them.
  int32_t first() const { return number(inside_[0].first, inside_[1].first, inside_[2].first); }
  /// Calls f(position in the input's plane, number in the window) in order.
  template <class F>
  void for_each(F&& f) const {
    for (int64_t kz = inside_[0].first; kz < inside_[0].second; ++kz)
      for (int64_t ky = inside_[1].first; ky < inside_[1].second; ++ky) {
        const int64_t row =
            (w_.input(0, at_[0], kz) * p_.in[1] + w_.input(1, at_[1], ky)) * p_.in[2];
        for (int64_t kx = inside_[2].first; kx < inside_[2].second; ++kx)
          f(row + w_.input(2, at_[2], kx), number(kz, ky, kx));
      }
  }

 private:
  int32_t number(int64_t kz, int64_t ky, int64_t kx) const {
    return static_cast<int32_t>((kz * w_.kernel[1] + ky) * w_.kernel[2] + kx);
  }

  const Planes& p_;
  const Window& w_;
  int64_t at_[3];
  std::pair<int64_t, int64_t> inside_[3];
};

/// One output's part of the input, and what its sum is divided by.
struct Region {
  int64_t begin[3], end[3];
  double divisor;

  /// Whether it is a whole plane.
  bool covers(const Planes& p) const {
    for (int d = 0; d < 3; ++d)
      if (begin[d] != 0 || end[d] != p.in[d]) return false;
    return true;
  }
};

/// The regions of all outputs: those of each dimension are found once.
class Regions {
 public:
  /// Of an average over windows.
  Regions(const Planes& p, const Window& w, const AveragePoolGeometry& g)
      : Regions(p, static_cast<double>(g.divisor), [&](int d, int64_t o) {
          const int64_t start = o * w.stride[d] - w.padding[d];
          const int64_t end = std::min(start + w.kernel[d], p.in[d] + w.padding[d]);
          const int64_t first = std::max<int64_t>(start, 0), last = std::min(end, p.in[d]);
          return Span{first, last,
                      g.count_include_pad ? end - start : std::max<int64_t>(last - first, 0)};
        }) {}
  /// Of an adaptive average.
  explicit Regions(const Planes& p)
      : Regions(p, 0, [&](int d, int64_t o) {
          const int64_t first = o * p.in[d] / p.out[d],
                        last = ((o + 1) * p.in[d] + p.out[d] - 1) / p.out[d];
          return Span{first, last, last - first};
        }) {}

  Region operator()(int64_t z, int64_t y, int64_t x) const {
    const Span &a = spans_.get()[z], &b = spans_.get()[y_ + y], &c = spans_.get()[x_ + x];
    return {{a.begin, b.begin, c.begin},
            {a.end, b.end, c.end},
            divisor_ != 0 ? divisor_ : static_cast<double>(a.count * b.count * c.count)};
  }

 private:
  struct Span {
    int64_t begin, end, count;
  };

  template <class F>
  Regions(const Planes& p, double divisor, F&& span)
      : y_(p.out[0]),
        x_(p.out[0] + p.out[1]),
        divisor_(divisor),
        spans_(p.out[0] + p.out[1] + p.out[2]) {
    Span* to = spans_.get();
    for (int d = 0; d < 3; ++d)
      for (int64_t o = 0; o < p.out[d]; ++o) *to++ = span(d, o);
  }

  int64_t y_, x_;
  double divisor_;
  ScratchArray<Span> spans_;
};

/// Calls f(position) for the input positions of a region, in order.
template <class F>
void for_each_input(const Planes& p, const Region& r, F&& f) {
  for (int64_t z = r.begin[0]; z < r.end[0]; ++z)
    for (int64_t y = r.begin[1]; y < r.end[1]; ++y)
      for (int64_t x = r.begin[2]; x < r.end[2]; ++x) f((z * p.in[1] + y) * p.in[2] + x);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
