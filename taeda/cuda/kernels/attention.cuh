// What the two families of attention kernels share: where operands lie, and what becomes of a score
// before it is looked at.
#pragma once

#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/kernels/attention.h"

namespace taeda::inline v0_2::gpu {

/// The matrices of a tensor (batch, head, row, column); columns are dense.
struct HeadMatrices {
  char* data = nullptr;
  ScalarType dtype = kFloat;
  int item = 4;
  int64_t batch = 0, head = 0, row = 0;
  int width = 0;
  bool vector = false;  ///< rows start at multiples of 16 bytes and end there

  HeadMatrices() = default;
  explicit HeadMatrices(const Tensor& t)
      : data(static_cast<char*>(t.data_ptr())),
        dtype(t.dtype()),
        item(static_cast<int>(t.element_size())),
        batch(t.strides()[0]),
        head(t.strides()[1]),
        row(t.strides()[2]),
        width(static_cast<int>(t.size(3))) {
    const auto fits = [&](int64_t n) { return n * item % 16 == 0; };
    vector = is_aligned(data) && fits(batch) && fits(head) && fits(row) && fits(width);
  }
  __device__ char* at(int64_t b, int64_t h, int64_t i) const {
    return data + (b * batch + h * head + i * row) * item;
  }
};

struct AttentionProblem : AttentionCall {
  HeadMatrices query, key, value;

  AttentionProblem(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m,
                   AttentionSpec s, const PhiloxState& philox)
      : AttentionCall(q, k, m, s, philox), query(q), key(k), value(v) {}

  /// The score from the product of a query and a key; -infinity where the query does not look, or
  /// where there is no such query or key.
  template <class A>
  __device__ A score(int64_t b, int64_t h, int64_t i, int64_t j, A product) const {
    if (i >= queries || j >= keys || (spec.causal && j > i)) return minus_infinity<A>();
    product *= static_cast<A>(spec.scale);
    if (!mask) return product;
    const char* m = mask_at(b, h, i, j);
    if (mask_dtype == kBool)
      return *reinterpret_cast<const bool*>(m) ? product : minus_infinity<A>();
    return product + load_as<A>(m, mask_dtype);
  }
};

/// Dropout's decisions on neighbours, which share the numbers of a counter.
class Dropper {
 public:
  __device__ Dropper(const AttentionProblem& p, int64_t b, int64_t h) : p_(p) {
    first_ = static_cast<uint64_t>((b * p.heads + h) * p.queries) * static_cast<uint64_t>(p.keys);
    active_ = p.spec.dropout > 0;
  }
  __device__ bool active() const { return active_; }
  /// Whether the weight of query i and key j is kept, 1 or 0.
  __device__ float factor(int64_t i, int64_t j) {
    if (!active_) return 1;
    const uint64_t e = first_ + static_cast<uint64_t>(i * p_.keys + j);
    if (e / 4 != counter_) {
      counter_ = e / 4;
      words_ = philox::words(p_.state.key(), p_.state.counter(), counter_);
    }
    return words_.w[e % 4] < p_.kept_below ? 1 : 0;
  }

 private:
  const AttentionProblem& p_;
  uint64_t first_, counter_ = ~uint64_t{0};
  bool active_;
  philox::Words words_;
};

/// A row that looked nowhere has seen no weight: zeros, and +infinity for its logarithm.
template <class A>
__device__ A log_of_sum(A top, A sum) {
  return sum == A(0) ? -minus_infinity<A>() : top + ::log(sum);
}
template <class A>
__device__ A inverse_of_sum(A sum) {
  return sum == A(0) ? A(0) : A(1) / sum;
}

/// What the gradient reads and writes.
struct AttentionGradients {
  HeadMatrices grad, grad_query, grad_key, grad_value;
};

/// Whether the current device runs kernels that multiply tiles of 16-bit floats (compiled for
/// compute capability 8.0 or newer), and these take heads of these widths.
bool fits_mma(const AttentionProblem& p);
void attention_by_mma(const Context& context, const AttentionProblem& p, const HeadMatrices& out,
                      float* log_sum);
/// `delta` holds sum_j grad out for each row.
void attention_backward_by_mma(const Context& context, const AttentionProblem& p,
                               const AttentionGradients& g, const float* log_sum,
                               const float* delta);

/// The same for 32-bit floats, forward or backward (Note [Floats on tensor cores]).
bool fits_tf32(const AttentionProblem& p, bool gradient);
void attention_by_tf32(const Context& context, const AttentionProblem& p, const HeadMatrices& out,
                       float* log_sum);
void attention_backward_by_tf32(const Context& context, const AttentionProblem& p,
                                const AttentionGradients& g, const float* log_sum,
                                const float* delta);

}  // namespace taeda::inline v0_2::gpu
