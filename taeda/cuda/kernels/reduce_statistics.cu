// norm, variance, and extreme values with their positions.
#include "taeda/cuda/kernels/reduce.cuh"
#include "taeda/cuda/register.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// What a moment adds up, told apart at run time.
enum class Term : int { Value, Deviation, Absolute, Square, Nonzero, Power, Largest, Smallest };
/// What becomes of the sum.
enum class Finish : int { Nothing, Divide, DivideRoot, SquareRoot, Root };

template <class A>
struct MomentOp {
  using In = A;
  using Acc = A;
  Term term;
  Finish finish;
  A number = A(1);  // the divisor, or the exponent

  __device__ A identity() const {
    return term == Term::Smallest ? std::numeric_limits<A>::infinity() : A(0);
  }
  __device__ A map(A x, int64_t, A shift) const {
    switch (term) {
      case Term::Value: return x;
      case Term::Deviation: return (x - shift) * (x - shift);
      case Term::Square: return x * x;
      case Term::Nonzero: return x != 0 ? A(1) : A(0);
      case Term::Power: return ::pow(::fabs(x), number);
      default: return ::fabs(x);
    }
  }
  __device__ A combine(A a, A b) const {
    if (term == Term::Largest) return b > a || b != b ? b : a;
    if (term == Term::Smallest) return b < a || b != b ? b : a;
    return a + b;
  }
  __device__ void store(const ReduceArgs& r, int64_t output, A acc, char* out, char*) const {
    A result = acc;
    if (finish == Finish::Divide) result = acc / number;
    if (finish == Finish::DivideRoot) result = ::sqrt(acc / number);
    if (finish == Finish::SquareRoot) result = ::sqrt(acc);
    if (finish == Finish::Root) result = ::pow(acc, A(1) / number);
    if (r.unrounded) static_cast<A*>(r.unrounded)[output] = result;
    store_as<A>(out, r.out_dtype[0], result);
  }
};

template <class A>
MomentOp<A> norm_op(double p) {
  if (p == 0) return {Term::Nonzero, Finish::Nothing};
  if (p == 1) return {Term::Absolute, Finish::Nothing};
  if (p == 2) return {Term::Square, Finish::SquareRoot};
  if (p == std::numeric_limits<double>::infinity()) return {Term::Largest, Finish::Nothing};
  if (p == -std::numeric_limits<double>::infinity()) return {Term::Smallest, Finish::Nothing};
  return {Term::Power, Finish::Root, static_cast<A>(p)};
}

void norm_cuda(const Tensor& out, const Tensor& in, DimMask dims, double p) {
  dispatch_compute(FloatCompute{}, "norm", in.dtype(), [&]<class A>() {
    run_reduction("norm", in.device(), ReduceArgs(out, Tensor(), in, dims), norm_op<A>(p));
  });
}

/// Two passes: the mean, then the squared deviations from it.
void var_cuda(const Tensor& var, const Tensor& mean, const Tensor& in, DimMask dims,
              double correction, bool root) {
  ReduceArgs first(mean, Tensor(), in, dims), second(var, Tensor(), in, dims);
  const Scratch means(in.device(), first.outputs * static_cast<int64_t>(sizeof(double)));
  const double count = static_cast<double>(first.count);
  first.unrounded = means.as<void>();
  second.shift = means.as<void>();
  run_reduction("var", in.device(), first, MomentOp<double>{Term::Value, Finish::Divide, count});
  run_reduction("var", in.device(), second,
                MomentOp<double>{Term::Deviation, root ? Finish::DivideRoot : Finish::Divide,
                                 std::max(0.0, count - correction)});
}

/// The first extreme element; an index of -1 is none.
template <class A>
struct Found {
  A value;
  int64_t index;
};

template <class A>
struct ArgOp {
  using In = A;
  using Acc = Found<A>;
  bool smallest;

  __device__ Acc identity() const { return {A(0), -1}; }
  __device__ Acc map(A x, int64_t position, A) const { return {x, position}; }
  /// Of equal ones the first stays: it was there before.
  __device__ void accumulate(Acc& acc, A x, int64_t position, A) const {
    bool wins = acc.index < 0 || (smallest ? x < acc.value : x > acc.value);
    if constexpr (std::is_floating_point_v<A>) wins |= x != x && acc.value == acc.value;
    if (wins) acc = {x, position};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    if (b.index < 0) return a;
    if (a.index < 0) return b;
    bool a_nan = false, b_nan = false;
    if constexpr (std::is_floating_point_v<A>) {
      a_nan = a.value != a.value;
      b_nan = b.value != b.value;
    }
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a_nan || a.value == b.value) return a.index < b.index ? a : b;
    return (smallest ? b.value < a.value : b.value > a.value) ? b : a;
  }
  __device__ void store(const ReduceArgs& r, int64_t, const Acc& acc, char* values,
                        char* indices) const {
    if (r.out[0]) store_as<A>(values, r.out_dtype[0], acc.value);
    *reinterpret_cast<int64_t*>(indices) = acc.index;
  }
};

void arg_extreme(const char* name, const Tensor& values, const Tensor& indices, const Tensor& in,
                 int64_t dim, bool smallest) {
  DimMask dims;
  if (in.dim() > 0) dims.add(dim);
  dispatch_compute(RealCompute{}, name, in.dtype(), [&]<class A>() {
    run_reduction(name, in.device(), ReduceArgs(values, indices, in, dims), ArgOp<A>{smallest});
  });
}
void max_dim_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  arg_extreme("max", values, indices, in, dim, false);
}
void min_dim_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  arg_extreme("min", values, indices, in, dim, true);
}

}  // namespace

void register_reduce_statistics() {
  fill_slots<On<norm_slot, norm_cuda>, On<var_slot, var_cuda>, On<max_dim_slot, max_dim_cuda>,
             On<min_dim_slot, min_dim_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
