// Random numbers by Philox: a thread draws for four neighbouring elements, whose words come from
// one counter, or from two for double.
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/philox.h"
#include "taeda/kernels/random.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// Where results go; `vector`: whole packs can be stored at once.
struct Target {
  char* data;
  ScalarType dtype;
  int item;
  bool vector;
  int64_t n;

  explicit Target(const Tensor& t)
      : data(static_cast<char*>(t.data_ptr())),
        dtype(t.dtype()),
        item(static_cast<int>(t.element_size())),
        vector(is_aligned(data)),
        n(t.numel()) {}
  unsigned blocks() const { return blocks_for((n + 3) / 4); }

  template <class M>
  __device__ void store(int64_t i, const M (&values)[4]) const {
    if (vector) return store4<M>(data, dtype, i, n, values);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k < n) store_as<M>(data + (i + k) * item, dtype, values[k]);
  }
};

/// The bits of elements 4p .. 4p + 3: 32 for float, 64 for double.
__device__ void draw(const PhiloxState& s, int64_t p, uint32_t (&bits)[4]) {
  const philox::Words x = philox::words(s.key(), s.counter(), static_cast<uint64_t>(p));
#pragma unroll
  for (int k = 0; k < 4; ++k) bits[k] = x.w[k];
}
__device__ void draw(const PhiloxState& s, int64_t p, uint64_t (&bits)[4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const philox::Words x =
        philox::words(s.key(), s.counter(), static_cast<uint64_t>(2 * p + half));
    bits[2 * half] = uint64_t{x.w[1]} << 32 | x.w[0];
    bits[2 * half + 1] = uint64_t{x.w[3]} << 32 | x.w[2];
  }
}
template <class M>
using bits_t = std::conditional_t<sizeof(M) == 8, uint64_t, uint32_t>;

/// shift + scale * x, with x uniform in [0, 1) or standard normal. What is uniform and would be
/// rounded up to `end` becomes `shift`.
template <class M>
__global__ void __launch_bounds__(kThreads)
    distribution_kernel(const Target out, bool normal, M shift, M scale, M end,
                        const PhiloxState state) {
  for (int64_t p = thread_index(); 4 * p < out.n; p += thread_count()) {
    bits_t<M> bits[4];
    draw(state, p, bits);
    M x[4];
    if (normal) {
      philox::to_normal(bits[0], bits[1], &x[0], &x[1]);
      philox::to_normal(bits[2], bits[3], &x[2], &x[3]);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[k] = philox::to_uniform(bits[k]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = shift + scale * x[k];
    if (!normal)
      with_stored<M>(out.dtype, [&]<class T>(T) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
          if (static_cast<M>(widen(narrow<T>(x[k]))) >= end) x[k] = shift;
      });
    out.store(4 * p, x);
  }
}

void distribution(const char* op, const Tensor& out, bool normal, double shift, double scale,
                  double end, const PhiloxState& state) {
  if (out.numel() == 0) return;
  const Context context(out.device());
  dispatch_compute(FloatCompute{}, op, out.dtype(), [&]<class M>() {
    const Target target(out);
    distribution_kernel<M><<<target.blocks(), kThreads, 0, context.stream>>>(
        target, normal, static_cast<M>(shift), static_cast<M>(scale), static_cast<M>(end), state);
  });
  context.launched(op);
}

void uniform_cuda(const Tensor& out, double from, double to, const PhiloxState& state) {
  distribution("uniform_", out, false, from, to - from, to, state);
}
void normal_cuda(const Tensor& out, double mean, double std, const PhiloxState& state) {
  distribution("normal_", out, true, mean, std, 0, state);
}

/// An integer as an element of any real type.
__device__ void store_integer(char* p, ScalarType t, int64_t value) {
  if (t == kDouble)
    *reinterpret_cast<double*>(p) = static_cast<double>(value);
  else if (is_floating_point(t))
    store_as<float>(p, t, static_cast<float>(value));
  else
    store_as<int64_t>(p, t, value);
}

template <class Bits>
__global__ void __launch_bounds__(kThreads)
    randint_kernel(const Target out, int64_t from, uint64_t range, const PhiloxState state) {
  for (int64_t p = thread_index(); 4 * p < out.n; p += thread_count()) {
    Bits bits[4];
    draw(state, p, bits);
    for (int k = 0; k < 4 && 4 * p + k < out.n; ++k)
      store_integer(out.data + (4 * p + k) * out.item, out.dtype,
                    static_cast<int64_t>(bits[k] % range + static_cast<uint64_t>(from)));
  }
}

void randint_cuda(const Tensor& out, int64_t from, uint64_t range, const PhiloxState& state) {
  if (out.numel() == 0) return;
  const Context context(out.device());
  const Target target(out);
  if (range > UINT32_MAX)
    randint_kernel<uint64_t>
        <<<target.blocks(), kThreads, 0, context.stream>>>(target, from, range, state);
  else
    randint_kernel<uint32_t>
        <<<target.blocks(), kThreads, 0, context.stream>>>(target, from, range, state);
  context.launched("random_");
}

/// Elements [i, i + 4) of an array like the target.
template <class M>
__device__ void load_pack(const Target& like, const char* in, int64_t i, M (&x)[4]) {
  if (like.vector) return load4<M>(in, like.dtype, i, like.n, x);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k < like.n) x[k] = load_as<M>(in + (i + k) * like.item, like.dtype);
}

/// A thread draws for two packs, whose keys of ten rounds it computes once: on a GPU that has more
/// memory than integer arithmetic these count.
template <class M>
__global__ void __launch_bounds__(kThreads)
    dropout_kernel(const Target out, const char* in, uint32_t below, M factor,
                   const PhiloxState state) {
  constexpr int kPacks = 2;
  const int64_t packs = (out.n + 3) / 4;
  for (int64_t first = thread_index() / kThreads * kThreads * kPacks + threadIdx.x; first < packs;
       first += kPacks * thread_count()) {
    uint32_t bits[kPacks][4];
    M x[kPacks][4] = {};
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      const int64_t p = first + j * kThreads;
      if (p < packs) load_pack(out, in, 4 * p, x[j]);
    }
#pragma unroll
    for (int j = 0; j < kPacks; ++j) draw(state, first + j * kThreads, bits[j]);
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      const int64_t p = first + j * kThreads;
#pragma unroll
      for (int k = 0; k < 4; ++k) x[j][k] *= bits[j][k] < below ? factor : M(0);
      if (p < packs) out.store(4 * p, x[j]);
    }
  }
}

void dropout_cuda(const Tensor& out, const Tensor& in, double keep, double scale,
                  const PhiloxState& state) {
  if (out.numel() == 0) return;
  const Context context(out.device());
  dispatch_compute(FloatCompute{}, "dropout", out.dtype(), [&]<class M>() {
    Target target(out);
    target.vector &= is_aligned(in.data_ptr());
    dropout_kernel<M><<<(target.blocks() + 1) / 2, kThreads, 0, context.stream>>>(
        target, static_cast<const char*>(in.data_ptr()), philox::kept_below(keep),
        static_cast<M>(scale), state);
  });
  context.launched("dropout");
}

template <class M>
__global__ void __launch_bounds__(kThreads)
    dropout_kept_kernel(const Target out, const char* in, const uint64_t* kept, M factor) {
  for (int64_t i = thread_index(); i < out.n; i += thread_count()) {
    const M x = load_as<M>(in + i * out.item, out.dtype);
    const bool stays = kept[i / 64] >> i % 64 & 1;
    store_as<M>(out.data + i * out.item, out.dtype, x * (stays ? factor : M(0)));
  }
}

void dropout_kept_cuda(const Tensor& out, const Tensor& in, const Tensor& kept, double keep) {
  if (out.numel() == 0) return;
  const Context context(out.device());
  dispatch_compute(FloatCompute{}, "dropout", out.dtype(), [&]<class M>() {
    const Target target(out);
    M factor = M(1) / static_cast<M>(keep);
    if (out.dtype() == kHalf) factor = static_cast<M>(static_cast<Half>(factor));
    if (out.dtype() == kBFloat16) factor = static_cast<M>(static_cast<BFloat16>(factor));
    dropout_kept_kernel<M><<<target.blocks(), kThreads, 0, context.stream>>>(
        target, static_cast<const char*>(in.data_ptr()),
        static_cast<const uint64_t*>(kept.data_ptr()), factor);
  });
  context.launched("dropout");
}

}  // namespace

void register_random() {
  fill_slots<On<uniform_slot, uniform_cuda>, On<normal_slot, normal_cuda>,
             On<randint_slot, randint_cuda>, On<dropout_slot, dropout_cuda>,
             On<dropout_kept_slot, dropout_kept_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
