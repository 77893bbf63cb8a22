// Filling, and copies between dtypes and layouts. Pairs that training uses a lot have kernels of
// their own; the others convert through the widest type of their kind, told apart at run time.
#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/copy.h"

namespace taeda::inline v0_2::gpu {

namespace {

template <class To>
struct Cast {
  template <class From>
  __device__ To operator()(From v) const {
    return convert<To>(v);
  }
};

template <class To, class From>
void cast(const Iter& it) {
  run_formula<Cast<opmath_t<To>>, To, From>(it, {});
}

/// Runs the kernel of the pair (To, From) if it is on the list.
template <class To, class... From>
bool try_cast(const Iter& it) {
  return it.output_dtype() == dtype_of<To>() &&
         ((it.common_dtype() == dtype_of<From>() && (cast<To, From>(it), true)) || ...);
}

template <class Wide>
__global__ void wide_kernel(const __grid_constant__ StridedOperands<2> o, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t at[2];
    o.offsets.at(i, at);
    const char* from = o.is_value[1] ? o.value[1] : o.data[1] + at[1];
    Wide value{};
    with_dtype(AllTypes{}, o.dtype[1], [&]<class T>(T) { value = load_converted<Wide, T>(from); });
    with_dtype(AllTypes{}, o.dtype[0],
               [&]<class T>(T) { store_converted<T>(o.data[0] + at[0], value); });
  }
}

template <class Wide>
void cast_wide(const Iter& it) {
  StridedOperands<2> o{};
  o.dtype[0] = it.output_dtype();
  o.dtype[1] = it.common_dtype();
  o.data[0] = it.data(0);
  o.is_value[1] = it.is_scalar(1);
  if (o.is_value[1])
    std::memcpy(o.value[1], it.data(1), sizeof(o.value[1]));
  else
    o.data[1] = it.data(1);
  for (int d = 0; d < it.ndim(); ++d) {
    const int64_t strides[2] = {it.stride(0, d), it.stride(1, d)};
    o.offsets.add(it.size(d), strides);
  }
  o.offsets.finish();
  const Context context(it.device());
  wide_kernel<Wide><<<blocks_for(it.numel()), kThreads, 0, context.stream>>>(o, it.numel());
  context.launched("copy");
}

template <class W>
__global__ void __launch_bounds__(kThreads)
    copy_words_kernel(W* out, const W* in, const __grid_constant__ Offsets<2> places, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t at[2];
    places.at(i, at);
    out[at[0]] = in[at[1]];
  }
}

/// The largest word that dense runs of both operands can be copied in; at least an element.
int64_t run_word(const Iter& it, int64_t item) {
  if (it.is_scalar(1) || it.ndim() == 0 || it.stride(0, 0) != item || it.stride(1, 0) != item)
    return item;
  uint64_t bits = static_cast<uint64_t>(it.size(0) * item);
  for (int k = 0; k < 2; ++k) {
    bits |= reinterpret_cast<uintptr_t>(it.data(k));
    for (int d = 1; d < it.ndim(); ++d) bits |= static_cast<uint64_t>(it.stride(k, d));
  }
  int64_t word = 16;
  while (word > item && bits % static_cast<uint64_t>(word) != 0) word /= 2;
  return word;
}

/// Copies runs of `item` bytes an element in words of `word` bytes.
void copy_words(const Iter& it, int64_t item, int64_t word) {
  Offsets<2> places;
  places.add(it.size(0) * item / word, {1, 1});
  for (int d = 1; d < it.ndim(); ++d)
    places.add(it.size(d), {it.stride(0, d) / word, it.stride(1, d) / word});
  places.finish();
  const int64_t n = places.numel;
  const Context context(it.device());
  with_word(word, [&]<class W>(W) {
    copy_words_kernel<W><<<blocks_for(n), kThreads, 0, context.stream>>>(
        reinterpret_cast<W*>(it.data(0)), reinterpret_cast<const W*>(it.data(1)), places, n);
  });
  context.launched("copy");
}

/// Elements as they are: bytes in one piece, or words.
void move(const Iter& it) {
  const int64_t item = element_size(it.common_dtype());
  if (is_array(it, 0, item) && is_array(it, 1, item)) {
    const Context context(it.device());
    check(cudaMemcpyAsync(it.data(0), it.data(1), static_cast<size_t>(it.numel() * item),
                          cudaMemcpyDeviceToDevice, context.stream),
          "copy");
    return context.launched("copy");
  }
  if (const int64_t word = run_word(it, item); word > item) return copy_words(it, item, word);
  switch (item) {
    case 1: return cast<uint8_t, uint8_t>(it);
    case 2: return cast<int16_t, int16_t>(it);
    case 4: return cast<int32_t, int32_t>(it);
    case 8: return cast<int64_t, int64_t>(it);
    default: return cast<complex<double>, complex<double>>(it);
  }
}

void copy_cuda(const Iter& it) {
  if (it.numel() == 0) return;
  const ScalarType from = it.common_dtype(), to = it.output_dtype();
  if (from == to) return move(it);
  if (try_cast<float, double, Half, BFloat16, int64_t, int32_t, uint8_t, bool>(it) ||
      try_cast<double, float, int64_t>(it) || try_cast<int64_t, float, int32_t, bool>(it) ||
      try_cast<BFloat16, float>(it) || try_cast<Half, float>(it) || try_cast<bool, float>(it))
    return;
  if (is_complex(from))
    cast_wide<complex<double>>(it);
  else if (is_floating_point(from))
    cast_wide<double>(it);
  else
    cast_wide<int64_t>(it);
}

}  // namespace

void register_copy() {
  register_pointwise<OpList<Fill>>();
  copy_slot.set(kCUDA, &copy_cuda);
}

}  // namespace taeda::gpu
