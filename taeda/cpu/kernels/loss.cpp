// Cross entropy over logits and negative log-likelihood over log-probabilities, with gradients. The
// logits are read twice forward (maximum, sum of exponentials) and once backward; probabilities are
// never stored.
#include "taeda/kernels/loss.h"

#include "taeda/cpu/kernels/rows.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kColumns = 128;
constexpr int64_t kSumBlock = 4096;

/// Sum in an order that depends on the length alone.
template <class A>
double sum_all(const A* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += kSumBlock) sum += row_sum(x + i, std::min(kSumBlock, n - i));
  return sum;
}

/// log(sum exp) of `w` neighbouring columns.
template <class T, class A>
void log_sum_columns(const T* x, int64_t n, int64_t stride, int64_t w, A* out) {
  A top[kColumns], sum[kColumns];
  std::fill_n(top, w, MaxReduce<A>{}.identity());
  std::fill_n(sum, w, A(0));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < w; ++k)
      top[k] = MaxReduce<A>{}.combine(top[k], static_cast<A>(x[i * stride + k]));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < w; ++k) sum[k] += math::exp(static_cast<A>(x[i * stride + k]) - top[k]);
  for (int64_t k = 0; k < w; ++k) out[k] = top[k] + math::log(sum[k]);
}

/// One (outer, inner) position after the other; `T` is the input's type, `A` the computing type.
template <class T>
struct Classes {
  using A = opmath_t<T>;
  const T* in;
  const int64_t* target;
  const A* weight;
  ClassLoss spec;

  int64_t positions() const { return spec.shape.outer * spec.shape.inner; }
  /// The class of a position, or -1 if it is ignored.
  int64_t class_of(int64_t position) const {
    const int64_t t = target[position];
    if (t == spec.ignore_index) return -1;
    if (t < 0 || t >= spec.shape.n)
      throw IndexError(taeda::detail::concat("Target ", t, " is out of bounds."));
    return t;
  }
  A weight_of(int64_t t) const { return weight ? weight[t] : A(1); }
  int64_t offset(int64_t position, int64_t t) const {
    const int64_t inner = spec.shape.inner;
    return (position / inner * spec.shape.n + t) * inner + position % inner;
  }
};

template <class T>
void compute_log_sums(const Classes<T>& c, opmath_t<T>* log_sum) {
  using A = opmath_t<T>;
  const SoftmaxShape s = c.spec.shape;
  if (s.inner == 1) {
    parallel_for(0, s.outer, row_grain(4 * s.n), [&](int64_t begin, int64_t end) {
      RowReader<T> read(s.n);
      for (int64_t r = begin; r < end; ++r) {
        const A* x = read(c.in + r * s.n, s.n);
        const A top = row_max(x, s.n);
        log_sum[r] = top + math::log(row_exp_sum<A>(x, top, nullptr, s.n));
      }
    });
    return;
  }
  const int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  parallel_for(0, s.outer * blocks, row_grain(4 * s.n * std::min(s.inner, kColumns)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t column = b % blocks * kColumns, outer = b / blocks;
                   log_sum_columns<T, A>(c.in + outer * s.n * s.inner + column, s.n, s.inner,
                                         std::min(kColumns, s.inner - column),
                                         log_sum + outer * s.inner + column);
                 }
               });
}

void class_loss(const Tensor& loss, const Tensor& total_weight, const Tensor& log_sum,
                const Tensor& in, const Tensor& target, const Tensor& weight, ClassLoss spec) {
  dispatch(FloatTypes{}, "nll_loss", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const Classes<T> c{in.data_ptr<T>(), target.data_ptr<int64_t>(),
                       weight.defined() ? weight.data_ptr<A>() : nullptr, spec};
    const int64_t n = c.positions();
    if (spec.logits) compute_log_sums(c, log_sum.data_ptr<A>());
    const A* lse = spec.logits ? log_sum.data_ptr<A>() : nullptr;
    const ScratchArray<A> losses_of(n), weights_of(n);
    A *const losses = losses_of.get(), *const weights = weights_of.get();
    parallel_for(0, n, kParallelGrain / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t t = c.class_of(i);
        const size_t at = static_cast<size_t>(i);
        weights[at] = t < 0 ? A(0) : c.weight_of(t);
        losses[at] =
            t < 0 ? A(0)
                  : ((lse ? lse[i] : A(0)) - static_cast<A>(c.in[c.offset(i, t)])) * weights[at];
      }
    });
    const double total = sum_all(weights, n);
    *total_weight.data_ptr<A>() = static_cast<A>(total);
    T* out = loss.data_ptr<T>();
    if (spec.reduction == Reduction::None) {
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(losses[static_cast<size_t>(i)]);
    } else {
      const double sum = sum_all(losses, n);
      *out = static_cast<T>(static_cast<A>(spec.reduction == Reduction::Mean ? sum / total : sum));
    }
  });
}

/// d loss / d logits = (softmax - onehot) scale; d loss / d log p = -onehot scale.
template <class T>
void backward_row(const Classes<T>& c, T* dx, int64_t row, opmath_t<T> scale,
                  const opmath_t<T>* lse) {
  using A = opmath_t<T>;
  const int64_t n = c.spec.shape.n, t = c.class_of(row);
  if (t < 0 || !lse) {
    std::fill_n(dx, n, T(0));
    if (t >= 0) dx[t] = static_cast<T>(-scale);
    return;
  }
  const T* x = c.in + row * n;
  const A shift = lse[row];
  for (int64_t i = 0; i < n; ++i)
    dx[i] = static_cast<T>(math::exp(static_cast<A>(x[i]) - shift) * scale);
  dx[t] = static_cast<T>((math::exp(static_cast<A>(x[t]) - shift) - A(1)) * scale);
}

/// The same for all positions of one outer index, class by class.
template <class T>
void backward_columns(const Classes<T>& c, T* dx, int64_t outer, const opmath_t<T>* scales,
                      const opmath_t<T>* lse) {
  using A = opmath_t<T>;
  const SoftmaxShape s = c.spec.shape;
  const int64_t first = outer * s.inner, plane = outer * s.n * s.inner;
  for (int64_t i = 0; i < s.n; ++i) {
    const T* x = c.in + plane + i * s.inner;
    T* out = dx + plane + i * s.inner;
    if (lse) {
      for (int64_t k = 0; k < s.inner; ++k)
        out[k] = static_cast<T>(math::exp(static_cast<A>(x[k]) - lse[first + k]) * scales[k]);
    } else {
      std::fill_n(out, s.inner, T(0));
    }
  }
  for (int64_t k = 0; k < s.inner; ++k) {
    const int64_t t = c.class_of(first + k);
    if (t < 0) continue;
    const int64_t at = c.offset(first + k, t);
    const A p = lse ? math::exp(static_cast<A>(c.in[at]) - lse[first + k]) : A(0);
    dx[at] = static_cast<T>((p - A(1)) * scales[k]);
  }
}

void class_loss_backward(const Tensor& grad_in, const Tensor& grad, const Tensor& total_weight,
                         const Tensor& log_sum, const Tensor& in, const Tensor& target,
                         const Tensor& weight, ClassLoss spec) {
  dispatch(FloatTypes{}, "nll_loss_backward", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const Classes<T> c{in.data_ptr<T>(), target.data_ptr<int64_t>(),
                       weight.defined() ? weight.data_ptr<A>() : nullptr, spec};
    const SoftmaxShape s = spec.shape;
    const T* g = grad.data_ptr<T>();
    T* dx = grad_in.data_ptr<T>();
    const A* lse = spec.logits ? log_sum.data_ptr<A>() : nullptr;
    const A divisor = spec.reduction == Reduction::Mean ? *total_weight.data_ptr<A>() : A(1);
    const auto scale = [&](int64_t position) {
      const int64_t t = c.class_of(position);
      if (t < 0) return A(0);
      return static_cast<A>(g[spec.reduction == Reduction::None ? position : 0]) * c.weight_of(t) /
             divisor;
    };
    parallel_for(0, s.outer, row_grain(2 * s.n * s.inner), [&](int64_t begin, int64_t end) {
      const ScratchArray<A> scales_of(s.inner);
      A* const scales = scales_of.get();
      for (int64_t o = begin; o < end; ++o) {
        if (s.inner == 1) {
          backward_row(c, dx + o * s.n, o, scale(o), lse);
          continue;
        }
        for (int64_t k = 0; k < s.inner; ++k) scales[k] = scale(o * s.inner + k);
        backward_columns(c, dx, o, scales, lse);
      }
    });
  });
}

}  // namespace

void register_loss() {
  class_loss_slot.set(kCPU, &class_loss);
  class_loss_backward_slot.set(kCPU, &class_loss_backward);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
