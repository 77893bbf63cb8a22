// Note [Small images]
// Convolving image by image reads all weights again for each. Of 512 channels of 2 x 2 that is
// 9 MB for 4 positions, and the memory beyond the second cache sets the time. Here the inputs of
// all positions of all images are rows of one matrix, weights are another as they lie in memory,
// and a product reads both as often as a product must. What the rows cost is written and read once;
// their share is one in the number of output channels. Nothing is reordered but images, which are
// small.
#include "taeda/cpu/kernels/conv_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/host_copy.h"
#include "taeda/cpu/kernels/matmul.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

using RowTypes = TypeList<float, BFloat16>;

constexpr int64_t kMostElements = int64_t{1} << 21;  // of the matrix of inputs, for some images

Tensor view_of(const Tensor& t, DimVector sizes, DimVector strides, int64_t offset = 0) {
  Layout layout{std::move(sizes), std::move(strides), t.storage_offset() + offset};
  return Tensor(make_intrusive<TensorImpl>(t.storage(), std::move(layout), t.dtype()));
}

/// Strides in elements: of an image, a channel, and three spatial dimensions.
struct Steps {
  int64_t image, channel, at[3] = {0, 0, 0};

  explicit Steps(const Tensor& t) : image(t.stride(0)), channel(t.stride(1)) {
    const int64_t n = t.dim() - 2;
    for (int64_t d = 0; d < n; ++d) at[3 - n + d] = t.stride(d + 2);
  }
};

/// Where the taps of an output position read an image: the offset, or -1 for padding.
struct Reads {
  int64_t positions, taps;
  std::vector<int64_t> offsets;

  Reads(const Shape& s, const Steps& steps)
      : positions(s.out_size()),
        taps(s.tap_count()),
        offsets(static_cast<size_t>(positions * taps)) {
    for (int64_t p = 0; p < positions; ++p)
      for (int64_t t = 0; t < taps; ++t)
        offsets[static_cast<size_t>(p * taps + t)] = at(s, steps, p, t);
  }
  const int64_t* of(int64_t position) const { return offsets.data() + position * taps; }

 private:
  static int64_t at(const Shape& s, const Steps& steps, int64_t p, int64_t t) {
    int64_t offset = 0;
    for (int d = 2; d >= 0; --d) {
      const int64_t i = p % s.out[d] * s.stride[d] + t % s.taps[d] * s.dilation[d] - s.padding[d];
      if (i < 0 || i >= s.in[d]) return -1;
      offset += i * steps.at[d];
      p /= s.out[d], t /= s.taps[d];
    }
    return offset;
  }
};

/// Sizes and strides with the dimension of channels last.
Layout channels_behind(const Tensor& t) {
  Layout layout{DimVector(t.sizes()), DimVector(t.strides()), 0};
  std::rotate(layout.sizes.begin() + 1, layout.sizes.begin() + 2, layout.sizes.end());
  std::rotate(layout.strides.begin() + 1, layout.strides.begin() + 2, layout.strides.end());
  return layout;
}

/// How weights lie: as a matrix [output channels, channels x taps], or [output channels, taps x
/// channels] if channels are the closest.
struct FilterOrder {
  bool taps_first;
  Layout layout;   ///< of the weights, in the order of the matrix
  bool is_matrix;  ///< their memory is that

  FilterOrder(const Tensor& weight, int64_t taps)
      : taps_first(taps > 1 && weight.size(1) > 1 && weight.stride(1) == 1),
        layout(taps_first ? channels_behind(weight)
                          : Layout{DimVector(weight.sizes()), DimVector(weight.strides()), 0}),
        is_matrix(layout.is_contiguous()) {}
};

/// The matrix of weights.
struct Filters {
  bool taps_first;
  Tensor matrix;

  Filters(const Tensor& weight, int64_t taps) {
    const FilterOrder order(weight, taps);
    const int64_t o = weight.size(0), k = weight.size(1) * taps;
    taps_first = order.taps_first;
    if (order.is_matrix) {
      matrix = view_of(weight, {o, k}, {k, 1});
      return;
    }
    matrix = make_tensor({o, k}, weight.dtype(), kCPU);
    copy_on_host("convolution", matrix.data_ptr(), Layout::contiguous(order.layout.sizes),
                 weight.data_ptr(), order.layout, weight.dtype());
  }
};

/// Images [first, first + count) of a tensor as a matrix [images x positions, channels]: its memory
/// if it lies so, else memory to copy into or out of.
class ChannelRows {
 public:
  ChannelRows(const Tensor& t, int64_t first, int64_t count)
      : at_(static_cast<char*>(t.data_ptr()) + first * t.stride(0) * t.element_size()),
        layout_(channels_behind(t)),
        is_view_(layout_.is_contiguous()) {
    layout_.sizes[0] = count;
    const int64_t channels = t.size(1);
    const DimVector sizes{layout_.numel() / channels, channels}, strides{channels, 1};
    matrix_ = is_view_ ? view_of(t, sizes, strides, first * t.stride(0))
                       : make_tensor(sizes, t.dtype(), kCPU);
  }
  const Tensor& matrix() const { return matrix_; }
  void read() const {
    if (!is_view_)
      copy_on_host("convolution", matrix_.data_ptr(), Layout::contiguous(layout_.sizes), at_,
                   layout_, matrix_.dtype());
  }
  void write() const {
    if (!is_view_)
      copy_on_host("convolution", at_, layout_, matrix_.data_ptr(),
                   Layout::contiguous(layout_.sizes), matrix_.dtype());
  }

 private:
  char* at_;
  Layout layout_;
  bool is_view_;
  Tensor matrix_;
};

/// The row of what one position's taps read.
template <class T>
void gather_row(const Shape& s, const int64_t* reads, const Steps& steps, bool taps_first,
                const T* image, T* row) {
  const int64_t taps = s.tap_count(), channels = s.in_channels;
  if (taps_first || taps == 1) {
    for (int64_t t = 0; t < taps; ++t, row += channels) {
      const T* from = image + reads[t];
      if (reads[t] < 0)
        std::memset(static_cast<void*>(row), 0, static_cast<size_t>(channels) * sizeof(T));
      else
        for (int64_t c = 0; c < channels; ++c) row[c] = from[c * steps.channel];
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c, row += taps, image += steps.channel)
    for (int64_t t = 0; t < taps; ++t) row[t] = reads[t] < 0 ? T(0) : image[reads[t]];
}

template <class T>
void add(T& sum, T number) {
  sum = static_cast<T>(static_cast<opmath_t<T>>(sum) + static_cast<opmath_t<T>>(number));
}

/// The opposite: adds the row to what it was read from.
template <class T>
void scatter_row(const Shape& s, const int64_t* reads, const Steps& steps, bool taps_first,
                 T* image, const T* row) {
  const int64_t taps = s.tap_count(), channels = s.in_channels;
  if (taps_first || taps == 1) {
    for (int64_t t = 0; t < taps; ++t, row += channels) {
      if (reads[t] < 0) continue;
      T* to = image + reads[t];
      for (int64_t c = 0; c < channels; ++c) add(to[c * steps.channel], row[c]);
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c, row += taps, image += steps.channel)
    for (int64_t t = 0; t < taps; ++t)
      if (reads[t] >= 0) add(image[reads[t]], row[t]);
}

/// What the convolution does a few images at a time, so that their matrix stays in a cache.
template <class F>
void for_each_chunk(const Shape& s, F&& f) {
  const int64_t size = std::max<int64_t>(1, s.rows() * s.out_size());
  const int64_t most = std::clamp<int64_t>(kMostElements / size, 1, s.images);
  const int64_t chunks = (s.images + most - 1) / most, even = (s.images + chunks - 1) / chunks;
  for (int64_t first = 0; first < s.images; first += even)
    f(first, std::min(even, s.images - first));
}

int64_t image_grain(const Shape& s) {
  return std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, s.rows() * s.out_size()));
}

/// The inputs of the positions of some images, [images x positions, channels x taps] in the order
/// of the filters.
template <class T>
Tensor inputs_of(const Shape& s, const Reads& reads, const Tensor& in, bool taps_first,
                 int64_t first, int64_t count) {
  const Steps steps(in);
  const int64_t positions = s.out_size(), k = s.rows();
  const Tensor matrix = make_tensor({count * positions, k}, in.dtype(), kCPU);
  parallel_for(0, count, image_grain(s), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      for (int64_t p = 0; p < positions; ++p)
        gather_row(s, reads.of(p), steps, taps_first,
                   static_cast<const T*>(in.data_ptr()) + (first + n) * steps.image,
                   static_cast<T*>(matrix.data_ptr()) + (n * positions + p) * k);
  });
  return matrix;
}

/// Where one tap reads every position in its turn, the images are the matrix.
template <class T>
Tensor matrix_of(const Shape& s, const Reads& reads, const Tensor& in, bool taps_first,
                 int64_t first, int64_t count) {
  if (!s.is_pointwise()) return inputs_of<T>(s, reads, in, taps_first, first, count);
  const ChannelRows rows(in, first, count);
  rows.read();
  return rows.matrix();
}

/// Gradients of the inputs of some images from those of their rows.
template <class T>
void scatter(const Shape& s, const Reads& reads, const Tensor& grad_in, const Tensor& bias,
             const Tensor& matrix, bool taps_first, int64_t first, int64_t count) {
  const Steps steps(grad_in);
  const int64_t positions = s.out_size(), k = s.rows();
  const T* const base = bias.defined() ? static_cast<const T*>(bias.data_ptr()) : nullptr;
  parallel_for(0, count, image_grain(s), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* const image = static_cast<T*>(grad_in.data_ptr()) + (first + n) * steps.image;
      for (int64_t z = 0; z < s.in[0]; ++z)
        for (int64_t y = 0; y < s.in[1]; ++y)
          for (int64_t x = 0; x < s.in[2]; ++x) {
            T* const at = image + z * steps.at[0] + y * steps.at[1] + x * steps.at[2];
            for (int64_t c = 0; c < s.in_channels; ++c)
              at[c * steps.channel] = base ? base[c] : T(0);
          }
      for (int64_t p = 0; p < positions; ++p)
        scatter_row(s, reads.of(p), steps, taps_first, image,
                    static_cast<const T*>(matrix.data_ptr()) + (n * positions + p) * k);
    }
  });
}

/// One row for all: the addend of a product with `rows` rows.
Tensor repeated(const Tensor& bias, int64_t rows) {
  return bias.defined() ? view_of(bias, {rows, bias.size(0)}, {0, bias.stride(0)}) : bias;
}

Tensor transposed(const Tensor& matrix) {
  return view_of(matrix, {matrix.size(1), matrix.size(0)}, {matrix.stride(1), matrix.stride(0)});
}

template <class T>
void add_to(const Tensor& sums, const Tensor& more) {
  parallel_for(0, sums.numel(), kParallelGrain, [&](int64_t begin, int64_t end) {
    T* const to = static_cast<T*>(sums.data_ptr());
    const T* const from = static_cast<const T*>(more.data_ptr());
    for (int64_t i = begin; i < end; ++i) add(to[i], from[i]);
  });
}

/// Sums of the columns of `rows`, added to `sums`.
template <class T>
void add_columns(const Tensor& rows, std::vector<opmath_t<T>>& sums) {
  const int64_t n = rows.size(1);
  const T* from = static_cast<const T*>(rows.data_ptr());
  for (int64_t r = 0; r < rows.size(0); ++r, from += n)
    for (int64_t c = 0; c < n; ++c)
      sums[static_cast<size_t>(c)] += static_cast<opmath_t<T>>(from[c]);
}

}  // namespace

bool is_in_parts(const Shape& s) { return s.images * s.out_size() * s.rows() > kMostElements; }

static bool is_wide(const Shape& s) {
  return s.groups == 1 && s.rows() >= 64 && s.out_channels >= 32 && s.images * s.out_size() >= 16;
}

bool prefers_rows(const Shape& s) { return is_wide(s) && s.tap_count() == 1 && s.out_size() <= 4; }

bool prefers_rows_for_weights(const Shape& s) {
  return is_wide(s) && (s.out_size() <= 16 || s.images * s.out_size() <= 256);
}

void conv_rows(const Shape& s, const Tensor& out, const Tensor& in, const Tensor& weight,
               const Tensor& bias) {
  const Filters filters(weight, s.tap_count());
  const Tensor by_channel = transposed(filters.matrix);
  const Reads reads(s, Steps(in));
  dispatch(RowTypes{}, "convolution", in.dtype(), [&]<class T>() {
    for_each_chunk(s, [&](int64_t first, int64_t count) {
      const ChannelRows rows(out, first, count);
      matmul_kernel(rows.matrix(), matrix_of<T>(s, reads, in, filters.taps_first, first, count),
                    by_channel, repeated(bias, rows.matrix().size(0)), 1, 1);
      rows.write();
    });
  });
}

void input_grad_rows(const Shape& s, const Tensor& grad_in, const Tensor& grad_out,
                     const Tensor& weight, const Tensor& bias) {
  const Filters filters(weight, s.tap_count());
  const Reads reads(s, Steps(grad_in));
  dispatch(RowTypes{}, "convolution_input_grad", grad_in.dtype(), [&]<class T>() {
    for_each_chunk(s, [&](int64_t first, int64_t count) {
      const ChannelRows rows(grad_out, first, count);
      rows.read();
      if (s.is_pointwise()) {
        const ChannelRows target(grad_in, first, count);
        matmul_kernel(target.matrix(), rows.matrix(), filters.matrix,
                      repeated(bias, target.matrix().size(0)), 1, 1);
        return target.write();
      }
      const Tensor matrix = make_tensor({rows.matrix().size(0), s.rows()}, grad_in.dtype(), kCPU);
      matmul_kernel(matrix, rows.matrix(), filters.matrix, {}, 1, 1);
      scatter<T>(s, reads, grad_in, bias, matrix, filters.taps_first, first, count);
    });
  });
}

void weight_grad_rows(const Shape& s, const Tensor& grad_weight, const Tensor& grad_bias,
                      const Tensor& in, const Tensor& grad_out) {
  const FilterOrder order(grad_weight, s.tap_count());
  const int64_t o = s.out_channels, k = s.rows();
  const Tensor sums = order.is_matrix ? view_of(grad_weight, {o, k}, {k, 1})
                                      : make_tensor({o, k}, grad_weight.dtype(), kCPU);
  const Reads reads(s, Steps(in));
  dispatch(RowTypes{}, "convolution_weight_grad", in.dtype(), [&]<class T>() {
    std::vector<opmath_t<T>> bias(static_cast<size_t>(grad_bias.defined() ? o : 0));
    Tensor part;
    for_each_chunk(s, [&](int64_t first, int64_t count) {
      const ChannelRows rows(grad_out, first, count);
      rows.read();
      if (first > 0 && !part.defined()) part = make_tensor({o, k}, grad_weight.dtype(), kCPU);
      matmul_kernel(first > 0 ? part : sums, transposed(rows.matrix()),
                    matrix_of<T>(s, reads, in, order.taps_first, first, count), {}, 1, 1);
      if (first > 0) add_to<T>(sums, part);
      if (grad_bias.defined()) add_columns<T>(rows.matrix(), bias);
    });
    for (size_t c = 0; c < bias.size(); ++c)
      static_cast<T*>(grad_bias.data_ptr())[static_cast<int64_t>(c) * grad_bias.stride(0)] =
          static_cast<T>(bias[c]);
  });
  if (!order.is_matrix)
    copy_on_host("convolution", grad_weight.data_ptr(), order.layout, sums.data_ptr(),
                 Layout::contiguous(order.layout.sizes), grad_weight.dtype());
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
