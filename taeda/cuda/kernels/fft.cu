// Fourier transforms: which transforms cuFFT is asked for, and what it leaves to do.
//
// A plan of cuFFT's takes up to three neighbouring dimensions and one batch. With dimensions before
// and behind them there are two batches: the smaller one becomes a loop.
#include <algorithm>

#include "taeda/cuda/cufft.h"
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/fft.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr size_t kMaxRank = 3;

template <class T>
__global__ void __launch_bounds__(kThreads) scale_kernel(T* x, T factor, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) x[i] *= factor;
}

/// `out`, complex or real, times `scale`.
void scale_result(const Context& context, const Tensor& out, double scale) {
  if (scale == 1) return;
  const int64_t n = out.is_complex() ? 2 * out.numel() : out.numel();
  dispatch(TypeList<float, double>{}, "fft", to_real_type(out.dtype()), [&]<class T>() {
    scale_kernel<T><<<blocks_for(n), kThreads, 0, context.stream>>>(static_cast<T*>(out.data_ptr()),
                                                                    static_cast<T>(scale), n);
  });
  context.launched("fft");
}

/// Sets the imaginary parts of the first and, if `ends`, of the last of `count` frequencies to
/// zero, along a dimension with `inner` elements behind it.
template <class T>
__global__ void __launch_bounds__(kThreads)
    clear_imaginary_kernel(complex<T>* x, int64_t count, int64_t inner, bool ends, int64_t lines) {
  for (int64_t i = thread_index(); i < lines; i += thread_count()) {
    complex<T>* line = x + i / inner * count * inner + i % inner;
    line[0].im = 0;
    if (ends) line[(count - 1) * inner].im = 0;
  }
}

/// One side of a transform: memory, and the sizes that it has there.
struct Side {
  char* data;
  int64_t item;    // bytes of an element
  int64_t volume;  // elements of one transform
};

bool misaligned(const void* p, int64_t item) {
  return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(2 * item) != 0;
}

/// Runs `shape` on the slabs at `in` and `out`; a real side that is not aligned goes through other
/// memory. `slab` is the number of elements, gaps included, that the transforms reach over.
void transform_slab(const Context& context, const Tensor& like, const FftShape& shape, Side in,
                    Side out, int64_t in_slab, int64_t out_slab, bool forward) {
  const bool from_real = shape.type == FftShape::Type::RealToComplex,
             to_real = shape.type == FftShape::Type::ComplexToReal;
  const bool copy_in = from_real && misaligned(in.data, in.item),
             copy_out = to_real && misaligned(out.data, out.item);
  const Scratch other(like.device(), copy_in    ? in_slab * in.item
                                     : copy_out ? out_slab * out.item
                                                : 0);
  if (copy_in)
    check(cudaMemcpyAsync(other.as<void>(), in.data, static_cast<size_t>(in_slab * in.item),
                          cudaMemcpyDeviceToDevice, context.stream),
          "fft");
  // Elements between those of the transforms keep what they hold.
  if (copy_out)
    check(cudaMemcpyAsync(other.as<void>(), out.data, static_cast<size_t>(out_slab * out.item),
                          cudaMemcpyDeviceToDevice, context.stream),
          "fft");
  cufft_transform(context, shape, copy_in ? other.as<void>() : in.data,
                  copy_out ? other.as<void>() : out.data, forward);
  if (copy_out)
    check(cudaMemcpyAsync(out.data, other.as<void>(), static_cast<size_t>(out_slab * out.item),
                          cudaMemcpyDeviceToDevice, context.stream),
          "fft");
}

/// Along dimensions [first, first + rank) of tensors that have the sizes of `sizes` but for the
/// last of these dimensions. `sizes` are those of the complex, or of the real, tensor.
void transform_dims(const Context& context, const Tensor& like, FftShape::Type type,
                    IntArrayRef sizes, size_t first, size_t rank, const void* in_data,
                    void* out_data, bool forward) {
  FftShape shape{};
  shape.type = type;
  shape.is_double = to_real_type(like.dtype()) == kDouble;
  shape.rank = static_cast<int>(rank);
  int64_t outer = 1, inner = 1, rows = 1;
  for (size_t d = 0; d < first; ++d) outer *= sizes[d];
  for (size_t d = first + rank; d < sizes.size(); ++d) inner *= sizes[d];
  for (size_t i = 0; i < rank; ++i) shape.sizes[i] = sizes[first + i];
  for (size_t i = 0; i + 1 < rank; ++i) rows *= shape.sizes[i];
  const int64_t n = shape.sizes[rank - 1], half = n / 2 + 1, number = shape.is_double ? 8 : 4;
  const bool from_real = type == FftShape::Type::RealToComplex,
             to_real = type == FftShape::Type::ComplexToReal;
  Side in{static_cast<char*>(const_cast<void*>(in_data)), from_real ? number : 2 * number,
          rows * (to_real ? half : n)},
      out{static_cast<char*>(out_data), to_real ? number : 2 * number,
          rows * (from_real ? half : n)};

  shape.step = inner;
  const bool over_inner = inner > 1 && outer <= inner;  // the batch lies behind the dimensions
  const int64_t loops = inner == 1 ? 1 : std::min(outer, inner);
  shape.batch = over_inner ? inner : outer;
  shape.in_distance = over_inner ? 1 : in.volume * inner;
  shape.out_distance = over_inner ? 1 : out.volume * inner;
  const int64_t in_next = over_inner ? in.volume * inner : 1,
                out_next = over_inner ? out.volume * inner : 1;
  const int64_t in_slab = over_inner ? in_next : outer * in.volume * inner - (inner - 1),
                out_slab = over_inner ? out_next : outer * out.volume * inner - (inner - 1);
  for (int64_t i = 0; i < loops; ++i) {
    transform_slab(context, like, shape, in, out, in_slab, out_slab, forward);
    in.data += in_next * in.item;
    out.data += out_next * out.item;
  }
}

/// Complex numbers of shape `sizes`, from `in` to `out`, along `dims` in ascending order.
void transform_complex(const Context& context, const Tensor& like, IntArrayRef sizes,
                       IntArrayRef dims, const void* in, void* out, bool forward) {
  for (size_t i = 0; i < dims.size();) {
    size_t rank = 1;
    while (rank < kMaxRank && i + rank < dims.size() && dims[i + rank] == dims[i] + int64_t(rank))
      ++rank;
    transform_dims(context, like, FftShape::Type::Complex, sizes, static_cast<size_t>(dims[i]),
                   rank, in, out, forward);
    in = out;
    i += rank;
  }
}

DimVector sorted(IntArrayRef dims) {
  DimVector out(dims);
  std::sort(out.begin(), out.end());
  return out;
}

void fft_c2c_cuda(const Tensor& out, const Tensor& in, IntArrayRef dims, bool forward,
                  double scale) {
  const Context context(out.device());
  transform_complex(context, out, out.sizes(), sorted(dims), in.data_ptr(), out.data_ptr(),
                    forward);
  scale_result(context, out, scale);
}

void fft_r2c_cuda(const Tensor& out, const Tensor& in, IntArrayRef dims, double scale) {
  const Context context(out.device());
  DimVector others = sorted(dims.slice(0, dims.size() - 1));
  // Dimensions right before the last one share its plan.
  auto first = static_cast<size_t>(dims.back());
  size_t rank = 1;
  while (rank < kMaxRank && !others.empty() && others.back() + 1 == static_cast<int64_t>(first)) {
    others.pop_back();
    --first, ++rank;
  }
  transform_dims(context, in, FftShape::Type::RealToComplex, in.sizes(), first, rank, in.data_ptr(),
                 out.data_ptr(), true);
  transform_complex(context, out, out.sizes(), others, out.data_ptr(), out.data_ptr(), true);
  scale_result(context, out, scale);
}

void fft_c2r_cuda(const Tensor& out, const Tensor& in, IntArrayRef dims, double scale) {
  const Context context(out.device());
  // cuFFT may overwrite its input, and does not promise to ignore imaginary parts.
  const Scratch copy(in.device(), in.nbytes());
  check(cudaMemcpyAsync(copy.as<void>(), in.data_ptr(), static_cast<size_t>(in.nbytes()),
                        cudaMemcpyDeviceToDevice, context.stream),
        "fft");
  transform_complex(context, in, in.sizes(), sorted(dims.slice(0, dims.size() - 1)),
                    copy.as<void>(), copy.as<void>(), false);
  const int64_t last = dims.back(), count = in.size(last);
  int64_t inner = 1;
  for (int64_t d = last + 1; d < in.dim(); ++d) inner *= in.size(d);
  const int64_t lines = in.numel() / count;
  dispatch(ComplexTypes{}, "fft", in.dtype(), [&]<class C>() {
    clear_imaginary_kernel<typename C::value_type>
        <<<blocks_for(lines), kThreads, 0, context.stream>>>(copy.as<C>(), count, inner,
                                                             out.size(last) % 2 == 0, lines);
  });
  context.launched("fft");
  transform_dims(context, out, FftShape::Type::ComplexToReal, out.sizes(),
                 static_cast<size_t>(last), 1, copy.as<void>(), out.data_ptr(), false);
  scale_result(context, out, scale);
}

}  // namespace

void register_fft() {
  fill_slots<On<fft_c2c_slot, fft_c2c_cuda>, On<fft_r2c_slot, fft_r2c_cuda>,
             On<fft_c2r_slot, fft_c2r_cuda>>(kCUDA);
}

}  // namespace taeda::gpu
