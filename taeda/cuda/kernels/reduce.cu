// sum, nansum, mean, prod, any, all, amax, amin, aminmax.
#include "taeda/cuda/kernels/reduce.cuh"
#include "taeda/cuda/register.h"

namespace taeda::inline v0_2::gpu {

namespace {

template <class A>
struct SumOp {
  using In = A;
  using Acc = A;
  A divisor = A(1);
  bool divides = false;

  __device__ A identity() const { return A(0); }
  __device__ A map(A x, int64_t, A) const { return x; }
  __device__ A combine(A a, A b) const { return a + b; }
  __device__ void store(const ReduceArgs& r, int64_t, A acc, char* out, char*) const {
    store_as<A>(out, r.out_dtype[0], divides ? acc / divisor : acc);
  }
};

/// Of what is not NaN.
template <class A>
struct NumberSumOp : SumOp<A> {
  __device__ A map(A x, int64_t, A) const { return x == x ? x : A(0); }
};

template <class A>
struct ProductOp {
  using In = A;
  using Acc = A;
  __device__ A identity() const { return A(1); }
  __device__ A map(A x, int64_t, A) const { return x; }
  __device__ A combine(A a, A b) const { return a * b; }
  __device__ void store(const ReduceArgs& r, int64_t, A acc, char* out, char*) const {
    store_as<A>(out, r.out_dtype[0], acc);
  }
};

/// NaN wins: once there, it stays.
template <class A>
struct ExtremeOp {
  using In = A;
  using Acc = A;
  A start;
  bool smallest;

  __device__ A identity() const { return start; }
  __device__ A map(A x, int64_t, A) const { return x; }
  __device__ A combine(A a, A b) const {
    if constexpr (std::is_floating_point_v<A>)
      if (b != b) return b;
    return (smallest ? b < a : b > a) ? b : a;
  }
  __device__ void store(const ReduceArgs& r, int64_t, A acc, char* out, char*) const {
    store_as<A>(out, r.out_dtype[0], acc);
  }
};

template <class A>
struct Extremes {
  A least, most;
};

template <class A>
struct ExtremesOp {
  using In = A;
  using Acc = Extremes<A>;
  ExtremeOp<A> smallest, largest;

  __device__ Acc identity() const { return {smallest.start, largest.start}; }
  __device__ Acc map(A x, int64_t, A) const { return {x, x}; }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    return {smallest.combine(a.least, b.least), largest.combine(a.most, b.most)};
  }
  __device__ void store(const ReduceArgs& r, int64_t, const Acc& acc, char* least,
                        char* most) const {
    store_as<A>(least, r.out_dtype[0], acc.least);
    store_as<A>(most, r.out_dtype[1], acc.most);
  }
};

void sum_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch_compute(AllCompute{}, "sum", in.dtype(), [&]<class A>() {
    run_reduction("sum", in.device(), ReduceArgs(out, Tensor(), in, dims), SumOp<A>{});
  });
}

void nansum_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch_compute(FloatCompute{}, "nansum", in.dtype(), [&]<class A>() {
    run_reduction("nansum", in.device(), ReduceArgs(out, Tensor(), in, dims), NumberSumOp<A>{});
  });
}

void mean_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch_compute(TypeList<float, double, complex<double>>{}, "mean", in.dtype(), [&]<class A>() {
    const ReduceArgs args(out, Tensor(), in, dims);
    const A count(static_cast<double>(args.count));
    run_reduction("mean", in.device(), args, SumOp<A>{count, true});
  });
}

/// Floating types multiply in double.
void prod_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  const ReduceArgs args(out, Tensor(), in, dims);
  const ScalarType t = compute_dtype(in.dtype());
  if (t == kLong)
    run_reduction("prod", in.device(), args, ProductOp<int64_t>{});
  else if (is_complex(t))
    run_reduction("prod", in.device(), args, ProductOp<complex<double>>{});
  else
    run_reduction("prod", in.device(), args, ProductOp<double>{});
}

template <class A>
constexpr A limit_of(bool smallest) {
  if constexpr (std::is_floating_point_v<A>)
    return smallest ? std::numeric_limits<A>::infinity() : -std::numeric_limits<A>::infinity();
  else
    return smallest ? std::numeric_limits<A>::max() : std::numeric_limits<A>::lowest();
}

void extreme(const char* name, const Tensor& out, const Tensor& in, DimMask dims, bool smallest) {
  dispatch_compute(RealCompute{}, name, in.dtype(), [&]<class A>() {
    run_reduction(name, in.device(), ReduceArgs(out, Tensor(), in, dims),
                  ExtremeOp<A>{limit_of<A>(smallest), smallest});
  });
}
void amax_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  extreme("amax", out, in, dims, false);
}
void amin_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  extreme("amin", out, in, dims, true);
}

void aminmax_cuda(const Tensor& least, const Tensor& most, const Tensor& in, DimMask dims) {
  dispatch_compute(RealCompute{}, "aminmax", in.dtype(), [&]<class A>() {
    run_reduction("aminmax", in.device(), ReduceArgs(least, most, in, dims),
                  ExtremesOp<A>{{limit_of<A>(true), true}, {limit_of<A>(false), false}});
  });
}

// "any" is the largest and "all" the smallest; of nothing, false and true.
void any_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  run_reduction("any", in.device(), ReduceArgs(out, Tensor(), in, dims),
                ExtremeOp<int64_t>{0, false});
}
void all_cuda(const Tensor& out, const Tensor& in, DimMask dims) {
  run_reduction("all", in.device(), ReduceArgs(out, Tensor(), in, dims),
                ExtremeOp<int64_t>{1, true});
}

}  // namespace

void register_reduce() {
  fill_slots<On<sum_slot, sum_cuda>, On<nansum_slot, nansum_cuda>, On<mean_slot, mean_cuda>,
             On<prod_slot, prod_cuda>, On<amax_slot, amax_cuda>, On<amin_slot, amin_cuda>,
             On<aminmax_slot, aminmax_cuda>, On<any_slot, any_cuda>, On<all_slot, all_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
