// Concatenation and reversal: only bytes move.
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/join.h"

namespace taeda::inline v0_2::gpu {

namespace {

template <class W>
__global__ void __launch_bounds__(kThreads)
    strided_move_kernel(W* out, const W* in, const __grid_constant__ Offsets<2> offsets,
                        int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t at[2];
    offsets.at(i, at);
    out[at[0]] = in[at[1]];
  }
}

/// The largest word in which runs of elements that lie side by side in both operands can be moved;
/// at least an element.
int64_t move_word(const Offsets<2>& offsets, int64_t item, const void* to, const void* from) {
  if (offsets.ndim == 0 || offsets.stride[0][0] != 1 || offsets.stride[1][0] != 1) return item;
  uint64_t bits = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) |
                  static_cast<uint64_t>(offsets.size[0].divisor * item);
  for (int d = 1; d < offsets.ndim; ++d)
    bits |= static_cast<uint64_t>((offsets.stride[0][d] | offsets.stride[1][d]) * item);
  int64_t word = 16;
  while (word > item && bits % static_cast<uint64_t>(word) != 0) word /= 2;
  return word;
}

/// `in` into a block that starts at `to`. Strides are in elements.
void strided_move(const Context& context, void* to, IntArrayRef to_strides, const Tensor& in,
                  const void* from, IntArrayRef from_strides) {
  if (in.numel() == 0) return;
  const int64_t item = in.element_size();
  const Offsets<2> elements(in.sizes(), {to_strides, from_strides});
  const int64_t word = move_word(elements, item, to, from);
  Offsets<2> offsets;  // in words
  for (int d = 0; d < elements.ndim; ++d) {
    const bool run = d == 0 && word > item;
    offsets.add(run ? elements.size[0].divisor * item / word : elements.size[d].divisor,
                {run ? 1 : elements.stride[0][d] * item / word,
                 run ? 1 : elements.stride[1][d] * item / word});
  }
  offsets.finish();
  const int64_t n = offsets.numel;
  with_word(word, [&]<class W>(W) {
    strided_move_kernel<W><<<blocks_for(n), kThreads, 0, context.stream>>>(
        static_cast<W*>(to), static_cast<const W*>(from), offsets, n);
  });
}

constexpr int kMaxRuns = 64;

/// Contiguous inputs side by side: input k gives columns [begin[k], begin[k + 1]) of a piece of
/// every row. Counted in words.
struct RunTable {
  const char* data[kMaxRuns];
  int64_t begin[kMaxRuns + 1] = {};
  int count = 0;
  Divider width;       // of the piece
  int64_t row, first;  // the row's words, and the first one of the piece
};

template <class W>
__global__ void __launch_bounds__(kThreads)
    runs_kernel(W* out, const __grid_constant__ RunTable t, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t row, column;
    t.width.divide(i, row, column);
    int low = 0, high = t.count;  // the last input that begins at or before the column
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (t.begin[middle] <= column ? low : high) = middle;
    }
    const int64_t length = t.begin[low + 1] - t.begin[low];
    const W* from = reinterpret_cast<const W*>(t.data[low]);
    out[row * t.row + t.first + column] = from[row * length + column - t.begin[low]];
  }
}

/// The largest word that all runs and addresses are multiples of.
int64_t common_word(const Tensor& out, TensorList inputs, int64_t outer) {
  uint64_t bits = reinterpret_cast<uintptr_t>(out.data_ptr());
  for (const Tensor& in : inputs)
    if (in.numel() > 0)
      bits |= reinterpret_cast<uintptr_t>(in.data_ptr()) |
              static_cast<uint64_t>(in.numel() / outer * in.element_size());
  for (int64_t word = 16; word > 1; word /= 2)
    if (bits % static_cast<uint64_t>(word) == 0) return word;
  return 1;
}

void cat_runs(const Context& context, const Tensor& out, TensorList inputs, int64_t outer) {
  const int64_t word = common_word(out, inputs, outer);
  RunTable table;
  table.row = out.numel() * out.element_size() / outer / word;
  table.first = 0;
  const auto launch = [&] {
    const int64_t width = table.begin[table.count];
    if (width == 0) return;
    table.width = Divider(width);
    with_word(word, [&]<class W>(W) {
      runs_kernel<W><<<blocks_for(outer * width), kThreads, 0, context.stream>>>(
          static_cast<W*>(out.data_ptr()), table, outer * width);
    });
    table.first += width;
    table.count = 0;
  };
  for (const Tensor& in : inputs) {
    if (in.numel() == 0) continue;
    const int64_t length = in.numel() / outer * in.element_size() / word;
    table.data[table.count] = static_cast<const char*>(in.data_ptr());
    table.begin[table.count + 1] = table.begin[table.count] + length;
    if (++table.count == kMaxRuns) launch();
  }
  if (table.count > 0) launch();
}

void cat_cuda(const Tensor& out, TensorList inputs, int64_t dim) {
  if (out.numel() == 0) return;
  const Context context(out.device());
  bool contiguous = true;
  for (const Tensor& in : inputs) contiguous &= in.is_contiguous();
  if (contiguous) {
    cat_runs(context, out, inputs, product(out.sizes().slice(0, static_cast<size_t>(dim))));
    return context.launched("cat");
  }
  char* to = static_cast<char*>(out.data_ptr());
  for (const Tensor& in : inputs) {
    strided_move(context, to, out.strides(), in, in.data_ptr(), in.strides());
    to += in.sizes()[dim] * out.strides()[dim] * out.element_size();
  }
  context.launched("cat");
}

void flip_cuda(const Tensor& out, const Tensor& in, int64_t dims) {
  if (out.numel() == 0) return;
  const auto [strides, start] = Backwards(in, dims);
  const Context context(out.device());
  strided_move(context, out.data_ptr(), out.strides(), in,
               static_cast<const char*>(in.data_ptr()) + start * in.element_size(), strides);
  context.launched("flip");
}

}  // namespace

void register_join() {
  cat_slot.set(kCUDA, &cat_cuda);
  flip_slot.set(kCUDA, &flip_cuda);
}

}  // namespace taeda::inline v0_2::gpu
