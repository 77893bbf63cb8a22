// Discrete Fourier transforms. Many lines are transformed side by side, a vector lane each; a long
// line is cut into rows and columns, which are then transformed side by side. Which of the two
// depends on the shape alone.
#include "taeda/kernels/fft.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/fft_lanes.h"
#include "taeda/cpu/kernels/fft_real.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

// ---- one line ----

template <class P>
Lines<P> fft_line(P* at, int64_t step, int64_t part, bool is_real = false) {
  Lines<P> line;
  line.at[0] = at;
  line.count = 1;
  line.step = step;
  line.part = part;
  line.is_real = is_real;
  return line;
}
template <class T>
Lines<T> fft_line(complex<T>* at) {
  return fft_line(reinterpret_cast<T*>(at), 2, 1);
}
template <class T>
Lines<const T> fft_line(const complex<T>* at) {
  return fft_line(reinterpret_cast<const T*>(at), 2, 1);
}

/// Lines `first`, `first + 1`, ... of those that start at every element of `line` and take every
/// `stride`-th of its elements.
template <class P>
Lines<P> fft_comb(const Lines<P>& line, int64_t first, int64_t count, int64_t stride) {
  Lines<P> out = line;
  out.count = static_cast<int>(count);
  for (int64_t k = 0; k < count; ++k) out.at[k] = line.at[0] + (first + k) * line.step;
  out.step = line.step * stride;
  return out;
}

/// Multiplies element i of lane k with the plan's root (first + k) * i.
template <class T>
void multiply_roots(const FftPlan<T>& plan, ComplexLanes<T>* z, int64_t first, int64_t count) {
  const int64_t n = plan.columns->n;
  int64_t step = 1;
  while (step * step < n) step *= 2;
  const auto roots_of = [&](int64_t i) {
    T re[kLanes<T>] = {}, im[kLanes<T>] = {};
    for (int64_t k = 0; k < count; ++k) {
      const complex<T> w(plan.root((first + k) * i));
      re[k] = w.re, im[k] = w.im;
    }
    return ComplexLanes<T>{load(re), load(im)};
  };
  const ScratchArray<ComplexLanes<T>> fine(step);
  for (int64_t i = 0; i < std::min(step, n); ++i) fine.get()[i] = roots_of(i);
  for (int64_t begin = 0; begin < n; begin += step) {
    const ComplexLanes<T> coarse = roots_of(begin);
    for (int64_t i = begin; i < std::min(begin + step, n); ++i)
      z[i] = z[i] * (coarse * fine.get()[i - begin]);
  }
}

template <class T>
int64_t fft_grain(int64_t length) {
  return std::max<int64_t>(1, kParallelGrain / (4 * length * kLanes<T>));
}

/// Calls `f(first, count, a, b)` for groups of neighbouring lines of `length` elements, with two
/// buffers of `length + 1` elements.
template <class T, class F>
void for_line_groups(int64_t lines, int64_t length, F&& f) {
  constexpr int64_t L = kLanes<T>;
  parallel_for(0, (lines + L - 1) / L, fft_grain<T>(length), [&](int64_t begin, int64_t end) {
    const ScratchArray<ComplexLanes<T>> buffer(2 * (length + 1));
    for (int64_t g = begin; g < end; ++g)
      f(g * L, std::min(L, lines - g * L), buffer.get(), buffer.get() + length + 1);
  });
}

template <class T>
void transform_cut(const FftPlan<T>& plan, const Lines<const T>& in, bool swap_in,
                   const Lines<T>& out, bool swap_out, T scale) {
  const int64_t rows = plan.columns->n, columns = plan.rows->n;
  const ScratchArray<complex<T>> middle(plan.n);
  const Lines<T> inside = fft_line(middle.get());
  for_line_groups<T>(columns, plan.columns->work_length(),
                     [&](int64_t first, int64_t count, auto* a, auto* b) {
                       gather(fft_comb(in, first, count, columns), a, rows, swap_in);
                       ComplexLanes<T>* z = transform_lanes(*plan.columns, a, b);
                       multiply_roots(plan, z, first, count);
                       scatter(fft_comb(inside, first, count, columns), z, rows, false, T(1));
                     });
  for_line_groups<T>(rows, plan.rows->work_length(),
                     [&](int64_t first, int64_t count, auto* a, auto* b) {
                       Lines<const T> row;
                       row.count = static_cast<int>(count), row.step = 2, row.part = 1;
                       for (int64_t k = 0; k < count; ++k)
                         row.at[k] = inside.at[0] + 2 * (first + k) * columns;
                       gather(row, a, columns);
                       scatter(fft_comb(out, first, count, rows), transform_lanes(*plan.rows, a, b),
                               columns, swap_out, scale);
                     });
}

/// Calls `f(begin, end)` for ranges of [0, n), `n` complex numbers.
template <class F>
void for_elements(int64_t n, F&& f) {
  parallel_for(0, n, kParallelGrain / 8, f);
}

template <class T>
complex<T> element(const Lines<const T>& line, int64_t i, bool swap = false) {
  const T re = line.at[0][i * line.step],
          im = line.is_real ? T(0) : line.at[0][i * line.step + line.part];
  return swap ? complex<T>(im, re) : complex<T>(re, im);
}
template <class T>
void put_element(const Lines<T>& line, int64_t i, complex<T> z, bool swap = false) {
  line.at[0][i * line.step] = swap ? z.im : z.re;
  if (!line.is_real) line.at[0][i * line.step + line.part] = swap ? z.re : z.im;
}

template <class T>
void transform_line(const FftPlan<T>& plan, const Lines<const T>& in, bool swap_in,
                    const Lines<T>& out, bool swap_out, T scale);

/// Bluestein's convolution, as in transform_lanes.
template <class T>
void transform_convolution(const FftPlan<T>& plan, const Lines<const T>& in, bool swap_in,
                           const Lines<T>& out, bool swap_out, T scale) {
  const FftPlan<T>& inner = *plan.convolution;
  const ScratchArray<complex<T>> work(inner.n);
  complex<T>* z = work.get();
  const complex<T>*chirp = plan.chirp.data(), *kernel = plan.kernel.data();
  for_elements(inner.n, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      z[k] = k < plan.n ? element(in, k, swap_in) * chirp[k] : complex<T>(0);
  });
  const Lines<T> line = fft_line(z);
  const Lines<const T> source = fft_line(static_cast<const complex<T>*>(z));
  transform_line(inner, source, false, line, false, T(1));
  for_elements(inner.n, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) z[k] = z[k] * kernel[k];
  });
  transform_line(inner, source, true, line, true, T(1));
  for_elements(plan.n, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const complex<T> y = z[k] * chirp[k];
      put_element(out, k, complex<T>(y.re * scale, y.im * scale), swap_out);
    }
  });
}

/// One line; `out` may be `in`. Swapping real and imaginary parts before and after turns a
/// transform into its inverse.
template <class T>
void transform_line(const FftPlan<T>& plan, const Lines<const T>& in, bool swap_in,
                    const Lines<T>& out, bool swap_out, T scale) {
  if (plan.rows) return transform_cut(plan, in, swap_in, out, swap_out, scale);
  if (plan.convolution && plan.convolution->rows)
    return transform_convolution(plan, in, swap_in, out, swap_out, scale);
  const int64_t length = plan.work_length();
  const ScratchArray<ComplexLanes<T>> buffer(2 * length);
  ComplexLanes<T>*a = buffer.get(), *b = a + length;
  gather(in, a, plan.n, swap_in);
  scatter(out, transform_lanes(plan, a, b), plan.n, swap_out, scale);
}

/// What plans make their kernels by.
template <class T>
void transform_kernel(const FftPlan<T>& plan, complex<T>* line) {
  transform_line(plan, fft_line(static_cast<const complex<T>*>(line)), false, fft_line(line), false,
                 T(1));
}

// ---- what a slot asks for along one dimension ----

enum class FftKind { Complex, RealToComplex, ComplexToReal };

template <class T>
struct FftJob {
  FftKind kind;
  int64_t n;
  bool forward;
  T scale;
  FftUse use;
  std::shared_ptr<const FftPlan<T>> plan;
  std::shared_ptr<const std::vector<complex<T>>> roots;

  FftJob(FftKind k, int64_t length, bool to_frequencies, double factor, int64_t lines)
      : kind(k), n(length), forward(to_frequencies), scale(static_cast<T>(factor)) {
    const int64_t m = pairs() ? n / 2 : n;
    use = fft_use(m, lines, kLanes<T>);
    plan = fft_plan<T>(m, use, &transform_kernel<T>);
    if (pairs()) roots = fft_real_roots<T>(n);
    if (pairs() && kind == FftKind::ComplexToReal) scale *= 2;  // join_real gives halves
  }
  /// Whether real numbers are taken two by two as complex ones.
  bool pairs() const { return kind != FftKind::Complex && n % 2 == 0; }
  int64_t buffer_length() const { return std::max(plan->work_length(), n / 2 + 1); }
};

template <class T>
void run_lanes(const FftJob<T>& job, const Lines<const T>& in, const Lines<T>& out,
               ComplexLanes<T>* a, ComplexLanes<T>* b) {
  const int64_t n = job.n, half = n / 2;
  const auto other = [a, b](const ComplexLanes<T>* z) { return z == a ? b : a; };
  const complex<T>* roots = job.pairs() ? job.roots->data() : nullptr;
  if (job.kind == FftKind::Complex) {
    gather(in, a, n, !job.forward);
    scatter(out, transform_lanes(*job.plan, a, b), n, !job.forward, job.scale);
  } else if (job.kind == FftKind::RealToComplex) {
    gather(in, a, job.plan->n);
    ComplexLanes<T>* z = transform_lanes(*job.plan, a, b);
    if (job.pairs()) {
      fft::split_real(z, other(z), half, roots, 0, half / 2 + 1);
      z = other(z);
    }
    scatter(out, z, half + 1, false, job.scale);
  } else {
    gather(in, a, half + 1);
    if (job.pairs()) {
      fft::join_real(a, b, half, roots, 0, half / 2 + 1);
      std::swap(a, b);
    } else {
      fft::extend_conjugates(a, n);
    }
    scatter(out, transform_lanes(*job.plan, a, b), job.plan->n, true, job.scale);
  }
}

template <class T>
void run_line(const FftJob<T>& job, const Lines<const T>& in, const Lines<T>& out) {
  const FftPlan<T>& plan = *job.plan;
  if (job.kind == FftKind::Complex)
    return transform_line(plan, in, !job.forward, out, !job.forward, job.scale);
  const int64_t half = job.n / 2;
  const ScratchArray<complex<T>> frequencies(std::max(plan.n, half + 1)), pairs(half);
  complex<T>*x = frequencies.get(), *z = pairs.get();
  const auto for_pairs = [&](auto&& f) {
    for_elements(half / 2 + 1,
                 [&](int64_t begin, int64_t end) { f(job.roots->data(), begin, end); });
  };
  if (job.kind == FftKind::RealToComplex) {
    transform_line(plan, in, false, fft_line(job.pairs() ? z : x), false, job.scale);
    if (job.pairs())
      for_pairs([&](auto* roots, auto begin, auto end) {
        fft::split_real(z, x, half, roots, begin, end);
      });
    for_elements(half + 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) put_element(out, k, x[k]);
    });
    return;
  }
  for_elements(half + 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) x[k] = element(in, k);
  });
  if (job.pairs())
    for_pairs(
        [&](auto* roots, auto begin, auto end) { fft::join_real(x, z, half, roots, begin, end); });
  else
    fft::extend_conjugates(x, job.n);
  transform_line(plan, fft_line(static_cast<const complex<T>*>(job.pairs() ? z : x)), false, out,
                 true, job.scale);
}

/// How the lines of a contiguous tensor lie along a dimension with `inner` elements behind it.
struct FftSide {
  int64_t size, width;  // elements in a line; numbers in an element
  int64_t step, part;
  bool is_real;
  int64_t inner;

  FftSide(bool real_numbers, bool pairs, int64_t elements, int64_t behind)
      : size(elements),
        width(real_numbers ? 1 : 2),
        step(real_numbers && !pairs ? behind : 2 * behind),
        part(real_numbers ? behind : 1),
        is_real(real_numbers && !pairs),
        inner(behind) {}

  template <class P>
  Lines<P> lines(P* data, int64_t first, int64_t count) const {
    Lines<P> out = fft_line(data, step, part, is_real);
    out.count = static_cast<int>(count);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t line = first + k;
      out.at[k] = data + (line / inner * size * inner + line % inner) * width;
    }
    return out;
  }
};

template <class T>
void run_job(const FftJob<T>& job, const T* in, T* out, int64_t outer, int64_t inner) {
  const int64_t half = job.n / 2 + 1;
  const bool from_real = job.kind == FftKind::RealToComplex,
             to_real = job.kind == FftKind::ComplexToReal;
  const FftSide source(from_real, job.pairs(), to_real ? half : job.n, inner),
      target(to_real, job.pairs(), from_real ? half : job.n, inner);
  if (job.use == FftUse::Line) {
    for (int64_t line = 0; line < outer * inner; ++line)
      run_line(job, source.lines(in, line, 1), target.lines(out, line, 1));
    return;
  }
  // Lanes are neighbours in memory where a group stays within one outer index.
  const bool columns = inner >= kLanes<T>;
  const int64_t blocks = columns ? outer : 1, width = columns ? inner : outer * inner,
                groups = (width + kLanes<T> - 1) / kLanes<T>, length = job.buffer_length();
  parallel_for(0, blocks * groups, fft_grain<T>(length), [&](int64_t begin, int64_t end) {
    const ScratchArray<ComplexLanes<T>> buffer(2 * length);
    for (int64_t g = begin; g < end; ++g) {
      const int64_t at = g % groups * kLanes<T>, first = g / groups * width + at,
                    count = std::min<int64_t>(kLanes<T>, width - at);
      run_lanes(job, source.lines(in, first, count), target.lines(out, first, count), buffer.get(),
                buffer.get() + length);
    }
  });
}

template <class T>
void along(FftKind kind, const void* in, const Tensor& out, int64_t dim, int64_t n, bool forward,
           double scale) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < out.dim(); ++d)
    if (d != dim) (d < dim ? outer : inner) *= out.size(d);
  run_job(FftJob<T>(kind, n, forward, scale, outer * inner), static_cast<const T*>(in),
          static_cast<T*>(out.data_ptr()), outer, inner);
}

// ---- slots ----

void fft_c2c(const Tensor& out, const Tensor& in, IntArrayRef dims, bool forward, double scale) {
  dispatch(ComplexTypes{}, "fft_c2c", in.dtype(), [&]<class C>() {
    const void* from = in.data_ptr();
    for (size_t i = dims.size(); i-- > 0;) {
      along<typename C::value_type>(FftKind::Complex, from, out, dims[i], out.size(dims[i]),
                                    forward, scale);
      from = out.data_ptr();
      scale = 1;
    }
  });
}

void fft_r2c(const Tensor& out, const Tensor& in, IntArrayRef dims, double scale) {
  dispatch(ComplexTypes{}, "fft_r2c", out.dtype(), [&]<class C>() {
    along<typename C::value_type>(FftKind::RealToComplex, in.data_ptr(), out, dims.back(),
                                  in.size(dims.back()), true, scale);
  });
  if (dims.size() > 1) fft_c2c(out, out, dims.slice(0, dims.size() - 1), true, 1);
}

void fft_c2r(const Tensor& out, const Tensor& in, IntArrayRef dims, double scale) {
  dispatch(ComplexTypes{}, "fft_c2r", in.dtype(), [&]<class C>() {
    using T = typename C::value_type;
    const void* from = in.data_ptr();
    const ScratchArray<C> lines(dims.size() > 1 ? in.numel() : 0);
    for (size_t i = dims.size() - 1; i-- > 0;) {
      int64_t outer = 1, inner = 1;
      for (int64_t d = 0; d < in.dim(); ++d)
        if (d != dims[i]) (d < dims[i] ? outer : inner) *= in.size(d);
      run_job(FftJob<T>(FftKind::Complex, in.size(dims[i]), false, 1, outer * inner),
              static_cast<const T*>(from), reinterpret_cast<T*>(lines.get()), outer, inner);
      from = lines.get();
    }
    along<T>(FftKind::ComplexToReal, from, out, dims.back(), out.size(dims.back()), false, scale);
  });
}

}  // namespace

void register_fft() {
  fill_slots<On<fft_c2c_slot, fft_c2c>, On<fft_r2c_slot, fft_r2c>, On<fft_c2r_slot, fft_c2r>>(kCPU);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
