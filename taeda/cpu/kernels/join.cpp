// Concatenation and reversal: only bytes move.
#include "taeda/kernels/join.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/strided.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// `in` into its place in `out`, as any copy between layouts.
template <class W>
void place(const Tensor& out, int64_t dim, int64_t first, const Tensor& in) {
  Layout layout{in.sizes(), out.strides(), out.storage_offset() + first * out.strides()[dim]};
  Tensor block(make_intrusive<TensorImpl>(out.storage(), std::move(layout), out.dtype()));
  Tensor* const outputs[] = {&block};
  const ScalarType dtypes[] = {out.dtype()};
  const Operand inputs[] = {in};
  move_elements<W>(Iter("cat", outputs, dtypes, inputs, out.dtype()));
}

/// Two to four inputs that contribute a word of the same size to every row of `rows`; false for
/// others.
bool cat_words(char* to, TensorList inputs, int64_t rows) {
  const int64_t item = rows == 0 ? 0 : inputs[0].nbytes() / rows;
  const size_t n = inputs.size();
  if (n < 2 || n > 4 || (item != 1 && item != 2 && item != 4 && item != 8)) return false;
  for (const Tensor& in : inputs)
    if (in.nbytes() != inputs[0].nbytes()) return false;
  with_word(item, [&]<class W>(W) {
    parallel_for(0, rows, kParallelGrain, [&](int64_t begin, int64_t end) {
      const W* from[4];
      for (size_t k = 0; k < n; ++k) from[k] = static_cast<const W*>(inputs[k].data_ptr()) + begin;
      W* const out = reinterpret_cast<W*>(to) + begin * static_cast<int64_t>(n);
      if (n == 2)
        interleave_columns<2>(out, from, end - begin);
      else if (n == 3)
        interleave_columns<3>(out, from, end - begin);
      else
        interleave_columns<4>(out, from, end - begin);
    });
  });
  return true;
}

/// All inputs contiguous: each contributes one run of bytes to every outer row.
void cat_runs(const Tensor& out, TensorList inputs, int64_t dim) {
  const int64_t item = out.element_size();
  const int64_t outer = product(out.sizes().slice(0, static_cast<size_t>(dim)));
  const int64_t row = outer == 0 ? 0 : out.numel() / outer * item;
  char* to = static_cast<char*>(out.data_ptr());
  if (row <= 32 && cat_words(to, inputs, outer)) return;
  const int64_t grain = std::max<int64_t>(1, kParallelGrain * 4 / std::max<int64_t>(row, 1));
  parallel_for(0, outer, grain, [&](int64_t begin, int64_t end) {
    // Row by row: the result is written in order.
    for (int64_t r = begin; r < end; ++r) {
      char* at = to + r * row;
      for (const Tensor& in : inputs) {
        const int64_t run = in.numel() / outer * item;
        move_row(at, static_cast<const char*>(in.data_ptr()) + r * run, run);
        at += run;
      }
    }
  });
}

void cat_kernel(const Tensor& out, TensorList inputs, int64_t dim) {
  bool contiguous = true;
  for (const Tensor& in : inputs) contiguous &= in.is_contiguous();
  const bool one_long_run = dim == 0 || out.sizes()[0] == out.numel();
  if (contiguous && !one_long_run) return cat_runs(out, inputs, dim);
  with_word(out.element_size(), [&]<class W>(W) {
    int64_t first = 0;
    for (const Tensor& in : inputs) {
      if (contiguous) {
        W* to = static_cast<W*>(out.data_ptr()) + first * out.strides()[dim];
        const W* from = static_cast<const W*>(in.data_ptr());
        parallel_for(0, in.numel(), kParallelGrain,
                     [&](int64_t b, int64_t e) { move_run(to + b, 1, from + b, 1, e - b); });
      } else if (in.numel() > 0) {
        place<W>(out, dim, first, in);
      }
      first += in.sizes()[dim];
    }
  });
}

void flip_kernel(const Tensor& out, const Tensor& in, int64_t dims) {
  const auto [strides, start] = Backwards(in, dims);
  const Walk<2> walk(in.sizes(), {out.strides(), strides});
  with_word(out.element_size(), [&]<class W>(W) {
    W* to = static_cast<W*>(out.data_ptr());
    const W* from = static_cast<const W*>(in.data_ptr()) + start;
    parallel_for(0, walk.numel, kParallelGrain, [&](int64_t begin, int64_t end) {
      walk.for_range(begin, end, [&](const int64_t* at, int64_t n) {
        move_run(to + at[0], walk.strides[0][0], from + at[1], walk.strides[1][0], n);
      });
    });
  });
}

}  // namespace

void register_join() {
  cat_slot.set(kCPU, &cat_kernel);
  flip_slot.set(kCPU, &flip_kernel);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
