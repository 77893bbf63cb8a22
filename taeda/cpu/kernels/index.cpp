// Indexing; see Note [Rows] in kernels/index.h. Values are moved as words of their size: only
// accumulating, masks and conditions look at them.
#include "taeda/kernels/index.h"

#include <atomic>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/strided.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

[[noreturn]] void throw_out_of_bounds(int64_t index, int64_t dim, int64_t size) {
  if (dim < 0) throw IndexError("index out of range in self");
  throw IndexError(::taeda::detail::concat("index ", index, " is out of bounds for dimension ", dim,
                                           " with size ", size));
}

/// Offsets of a first term whose n indices lie side by side and are all within the dimension; false
/// if they are not.
bool first_offsets(int64_t* __restrict out, const int64_t* __restrict from, int64_t n,
                   const IndexTerm& term) {
  const int64_t size = term.size, stride = term.stride, wrap = term.wraps ? size : 0;
  int wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    wrong |= static_cast<uint64_t>(from[i]) + static_cast<uint64_t>(wrap) >=
             static_cast<uint64_t>(size + wrap);
  if (wrong) return false;
  for (int64_t i = 0; i < n; ++i) out[i] = (from[i] + (from[i] < 0 ? size : 0)) * stride;
  return true;
}

void index_offsets_kernel(const Tensor& offsets, const Tensor& index, const IndexTerm& term) {
  int64_t* out = static_cast<int64_t*>(offsets.data_ptr());
  const int64_t* from = static_cast<const int64_t*>(index.data_ptr());
  const int64_t lowest = term.wraps ? -term.size : 0;
  const Walk<2> walk(index.sizes(), {offsets.strides(), index.strides()});
  std::atomic<const int64_t*> wrong{nullptr};
  parallel_for(0, walk.numel, kParallelGrain, [&](int64_t begin, int64_t end) {
    walk.for_range(begin, end, [&](const int64_t* at, int64_t n) {
      if (term.first && walk.strides[0][0] == 1 && walk.strides[1][0] == 1 &&
          first_offsets(out + at[0], from + at[1], n, term))
        return;
      for (int64_t j = 0; j < n; ++j) {
        const int64_t* source = from + at[1] + j * walk.strides[1][0];
        int64_t i = *source;
        if (i < lowest || i >= term.size) {
          wrong = source;
          i = 0;  // kernels queued behind this one must not leave the tensor
        }
        if (i < 0) i += term.size;
        int64_t& offset = out[at[0] + j * walk.strides[0][0]];
        offset = (term.first ? 0 : offset) + i * term.stride;
      }
    });
  });
  if (wrong) throw_out_of_bounds(*wrong, term.dim, term.size);
}

/// Strides of all dimensions but the first.
IntArrayRef rest(IntArrayRef list) { return list.slice(1, list.size() - 1); }

/// Bytes of a row that are asked for while the one before it is written: rows lie anywhere, and the
/// hardware notices a row only when it is being read.
constexpr int64_t kRowAhead = 1024;

/// Rows [begin, end) of n adjacent elements each.
template <class W>
void get_rows(W* to, int64_t to_step, const W* from, const int64_t* offset, int64_t n,
              int64_t begin, int64_t end) {
  const int64_t bytes = n * static_cast<int64_t>(sizeof(W)), ahead = std::min(bytes, kRowAhead);
  for (int64_t i = begin; i < end; ++i) {
    const char* next = reinterpret_cast<const char*>(from + offset[std::min(i + 1, end - 1)]);
    for (int64_t b = 0; b < ahead; b += 64) __builtin_prefetch(next + b);
    move_row(reinterpret_cast<char*>(to + i * to_step),
             reinterpret_cast<const char*>(from + offset[i]), bytes);
  }
}

/// The same for elements that lie in a line of the cache each: a few of all rows at a time, so that
/// indices which share lines find them in the cache.
template <class W>
void get_spread_rows(W* to, int64_t to_step, const W* from, int64_t from_step,
                     const int64_t* offset, int64_t n, int64_t begin, int64_t end) {
  constexpr int64_t kGroup = 64 / static_cast<int64_t>(sizeof(W));
  for (int64_t k = 0; k < n; k += kGroup) {
    const int64_t count = std::min(kGroup, n - k);
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = k; j < k + count; ++j) to[i * to_step + j] = from[offset[i] + j * from_step];
  }
}

/// Whether the places of the indices are neighbours in memory where those of the block are not:
/// columns are picked, row by row.
template <int N>
bool are_columns(int64_t step, const Walk<N>& walk, int operand) {
  return step == 1 && walk.numel > 1 && std::abs(walk.strides[operand][0]) > 1;
}

/// Calls f(offsets of an element of the block) for elements [begin, end) of a walk.
template <int N, class F>
void for_each_element(const Walk<N>& walk, int64_t begin, int64_t end, F&& f) {
  walk.for_range(begin, end, [&](const int64_t* at, int64_t count) {
    int64_t here[N];
    std::copy_n(at, N, here);
    for (int64_t j = 0; j < count; ++j) {
      f(static_cast<const int64_t*>(here));
      for (int i = 0; i < N; ++i) here[i] += walk.strides[i][0];
    }
  });
}

template <class W>
void get_element_of_each(W* __restrict to, const W* __restrict from,
                         const int64_t* __restrict offset, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[offset[i]];
}

void index_get_kernel(const Tensor& out, const Tensor& block, const Tensor& offsets) {
  const int64_t n = offsets.numel(), out_step = out.strides()[0];
  const int64_t* offset = static_cast<const int64_t*>(offsets.data_ptr());
  const Walk<2> walk(block.sizes(), {rest(out.strides()), block.strides()});
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(walk.numel, 1));
  with_word(out.element_size(), [&]<class W>(W) {
    W* to = static_cast<W*>(out.data_ptr());
    const W* from = static_cast<const W*>(block.data_ptr());
    if (are_columns(out_step, walk, 0)) {
      const int64_t rows = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(n, 1));
      return parallel_for(0, walk.numel, rows, [&](int64_t begin, int64_t end) {
        for_each_element(walk, begin, end, [&](const int64_t* at) {
          get_element_of_each(to + at[0], from + at[1], offset, n);
        });
      });
    }
    parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
      if (walk.numel == 1) {
        for (int64_t i = begin; i < end; ++i) to[i * out_step] = from[offset[i]];
        return;
      }
      if (walk.ndim == 1 && walk.strides[0][0] == 1) {
        const int64_t step = walk.strides[1][0];
        if (step == 1) return get_rows(to, out_step, from, offset, walk.numel, begin, end);
        if (std::abs(step) * static_cast<int64_t>(sizeof(W)) >= 64)
          return get_spread_rows(to, out_step, from, step, offset, walk.numel, begin, end);
      }
      for (int64_t i = begin; i < end; ++i)
        walk.for_range(0, walk.numel, [&](const int64_t* at, int64_t count) {
          move_run(to + i * out_step + at[0], walk.strides[0][0], from + offset[i] + at[1],
                   walk.strides[1][0], count);
        });
    });
  });
}

/// Visits all indices in order for ranges of the block: an element has one owner.
template <class T, class Run>
void put_rows(const Tensor& block, const Tensor& offsets, const Tensor& values, Run run) {
  const int64_t n = offsets.numel(), value_step = values.strides()[0];
  const int64_t* offset = static_cast<const int64_t*>(offsets.data_ptr());
  const Walk<2> walk(block.sizes(), {block.strides(), rest(values.strides())});
  const int64_t grain = std::max<int64_t>(16, kParallelGrain / std::max<int64_t>(n, 1));
  T* to = static_cast<T*>(block.data_ptr());
  const T* from = static_cast<const T*>(values.data_ptr());
  if (walk.numel == 1) {
    for (int64_t i = 0; i < n; ++i) run(to + offset[i], 1, from + i * value_step, 1, 1);
    return;
  }
  if (are_columns(value_step, walk, 1))
    return parallel_for(0, walk.numel, grain, [&](int64_t begin, int64_t end) {
      for_each_element(walk, begin, end, [&](const int64_t* at) {
        for (int64_t i = 0; i < n; ++i) run(to + at[0] + offset[i], 1, from + at[1] + i, 1, 1);
      });
    });
  const bool rows = walk.ndim == 1 && walk.strides[0][0] == 1;
  parallel_for(0, walk.numel, grain, [&](int64_t begin, int64_t end) {
    const int64_t ahead = rows ? std::min<int64_t>((end - begin) * sizeof(T), kRowAhead) : 0;
    for (int64_t i = 0; i < n; ++i) {
      const T* next = to + offset[std::min(i + 1, n - 1)] + begin;
      for (int64_t b = 0; b < ahead; b += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(next) + b, 1);
      walk.for_range(begin, end, [&](const int64_t* at, int64_t count) {
        run(to + offset[i] + at[0], walk.strides[0][0], from + i * value_step + at[1],
            walk.strides[1][0], count);
      });
    }
  });
}

template <class T>
TAEDA_ALWAYS_INLINE void accumulate_into(T& to, T value) {
  if constexpr (std::is_same_v<T, bool>)
    to = to || value;
  else
    to = static_cast<T>(static_cast<opmath_t<T>>(to) + static_cast<opmath_t<T>>(value));
}

void index_put_kernel(const Tensor& block, const Tensor& offsets, const Tensor& values,
                      bool accumulate) {
  if (!accumulate) {
    with_word(block.element_size(), [&]<class W>(W) {
      put_rows<W>(block, offsets, values,
                  [](W* to, int64_t to_step, const W* from, int64_t from_step, int64_t n) {
                    if (n == 1)
                      *to = *from;
                    else
                      move_run(to, to_step, from, from_step, n);
                  });
    });
    return;
  }
  dispatch(AllTypes{}, "index_put_", block.dtype(), [&]<class T>() {
    put_rows<T>(block, offsets, values,
                [](T* to, int64_t to_step, const T* from, int64_t from_step, int64_t n) {
                  if (n == 1) return accumulate_into(*to, *from);
                  if (to_step == 1 && from_step == 1) {
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) accumulate_into(to[i], from[i]);
                    return;
                  }
                  for (int64_t i = 0; i < n; ++i)
                    accumulate_into(to[i * to_step], from[i * from_step]);
                });
  });
}

/// Sizes or strides without dimension `dim`.
DimVector without(IntArrayRef list, int64_t dim) {
  DimVector out(list);
  out.erase(static_cast<size_t>(dim));
  return out;
}

/// The first of n indices outside of [0, size), or null.
const int64_t* find_out_of_bounds(const int64_t* index, int64_t n, int64_t size) {
  int wrong = 0;
  for (int64_t k = 0; k < n; ++k)
    wrong |= static_cast<uint64_t>(index[k]) >= static_cast<uint64_t>(size);
  if (!wrong) return nullptr;
  while (*index >= 0 && *index < size) ++index;
  return index;
}

/// Lines along `dim` of an index tensor and of the operand shaped like it ("like"), beside lines of
/// the operand that is indexed ("self"). Calls `f(like&, self_line, index)` element by element, in
/// order along every line. A line belongs to one thread.
template <class W, class F>
void for_each_indexed(const Tensor& like, const Tensor& self, const Tensor& index, int64_t dim,
                      F f) {
  const DimVector sizes = without(index.sizes(), dim), a = without(like.strides(), dim),
                  b = without(self.strides(), dim), c = without(index.strides(), dim);
  const Walk<3> walk(sizes, {a, b, c});
  const int64_t n = index.sizes()[dim], size = self.sizes()[dim];
  const int64_t like_step = like.strides()[dim], self_step = self.strides()[dim],
                index_step = index.strides()[dim];
  W* like_data = static_cast<W*>(like.data_ptr());
  W* self_data = static_cast<W*>(self.data_ptr());
  const int64_t* index_data = static_cast<const int64_t*>(index.data_ptr());
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(n, 1));
  const bool along_lines = std::abs(index_step) <= std::abs(walk.strides[2][0]);
  const bool dense_lines =
      along_lines && index_step == 1 && like_step == 1 && self_step == 1 && n > 1;
  const bool shared = walk.strides[2][0] == 0;  // one index for a whole run of lines
  parallel_for(0, walk.numel, grain, [&](int64_t begin, int64_t end) {
    walk.for_range(begin, end, [&](const int64_t* at, int64_t count) {
      const auto visit = [&](int64_t j, int64_t k) {
        const int64_t i = index_data[at[2] + j * walk.strides[2][0] + k * index_step];
        if (i < 0 || i >= size) throw_out_of_bounds(i, dim, size);
        f(like_data[at[0] + j * walk.strides[0][0] + k * like_step],
          self_data[at[1] + j * walk.strides[1][0] + i * self_step]);
      };
      // Along what lies densest: each line in order either way.
      if (dense_lines) {
        for (int64_t j = 0; j < count; ++j) {
          const int64_t* const line = index_data + at[2] + j * walk.strides[2][0];
          if (const int64_t* wrong = find_out_of_bounds(line, n, size))
            throw_out_of_bounds(*wrong, dim, size);
          W* const like_line = like_data + at[0] + j * walk.strides[0][0];
          W* const self_line = self_data + at[1] + j * walk.strides[1][0];
          for (int64_t k = 0; k < n; ++k) f(like_line[k], self_line[line[k]]);
        }
      } else if (shared && count > 1) {
        for (int64_t k = 0; k < n; ++k) {
          const int64_t i = index_data[at[2] + k * index_step];
          if (i < 0 || i >= size) throw_out_of_bounds(i, dim, size);
          W* const like_run = like_data + at[0] + k * like_step;
          W* const self_run = self_data + at[1] + i * self_step;
          if (walk.strides[0][0] == 1 && walk.strides[1][0] == 1)
#pragma GCC ivdep
            for (int64_t j = 0; j < count; ++j) f(like_run[j], self_run[j]);
          else
            for (int64_t j = 0; j < count; ++j)
              f(like_run[j * walk.strides[0][0]], self_run[j * walk.strides[1][0]]);
        }
      } else if (along_lines) {
        for (int64_t j = 0; j < count; ++j)
          for (int64_t k = 0; k < n; ++k) visit(j, k);
      } else {
        for (int64_t k = 0; k < n; ++k)
          for (int64_t j = 0; j < count; ++j) visit(j, k);
      }
    });
  });
}

void gather_kernel(const Tensor& out, const Tensor& self, const Tensor& index, int64_t dim) {
  with_word(out.element_size(), [&]<class W>(W) {
    for_each_indexed<W>(out, self, index, dim, [](W& to, const W& from) { to = from; });
  });
}

template <Meeting kHow, class Types>
void scatter_meeting(Types types, const Tensor& self, const Tensor& index, const Tensor& src,
                     int64_t dim) {
  const char* const op = kHow == Meeting::Sum ? "scatter_add" : "scatter_reduce";
  dispatch(types, op, self.dtype(), [&]<class T>() {
    using M = opmath_t<T>;
    for_each_indexed<T>(src, self, index, dim, [](const T& from, T& to) {
      to = static_cast<T>(meet(kHow, static_cast<M>(to), static_cast<M>(from)));
    });
  });
}

void scatter_kernel(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim,
                    Meeting how) {
  switch (how) {
    case Meeting::Sum: return scatter_meeting<Meeting::Sum>(AllTypes{}, self, index, src, dim);
    case Meeting::Product:
      return scatter_meeting<Meeting::Product>(AllTypes{}, self, index, src, dim);
    case Meeting::Largest:
      return scatter_meeting<Meeting::Largest>(RealBoolTypes{}, self, index, src, dim);
    case Meeting::Smallest:
      return scatter_meeting<Meeting::Smallest>(RealBoolTypes{}, self, index, src, dim);
    case Meeting::Last:
      with_word(self.element_size(), [&]<class W>(W) {
        for_each_indexed<W>(src, self, index, dim, [](const W& from, W& to) { to = from; });
      });
  }
}

void masked_fill_kernel(const Tensor& out, const Tensor& in, const Tensor& mask,
                        const Scalar& value) {
  dispatch(AllTypes{}, "masked_fill", out.dtype(), [&]<class T>() {
    const T fill = value.to<T>();
    T* to = static_cast<T*>(out.data_ptr());
    const T* from = static_cast<const T*>(in.data_ptr());
    const uint8_t* on =
        static_cast<const uint8_t*>(mask.data_ptr());  // a loop over bool stays one of branches
    const Walk<3> walk(out.sizes(), {out.strides(), in.strides(), mask.strides()});
    const int64_t s0 = walk.strides[0][0], s1 = walk.strides[1][0], s2 = walk.strides[2][0];
    parallel_for(0, walk.numel, kParallelGrain, [&](int64_t begin, int64_t end) {
      const T value = fill;  // of this function, which no store can reach
      walk.for_range(begin, end, [&, value](const int64_t* at, int64_t n) {
        T* o = to + at[0];
        const T* i = from + at[1];
        const uint8_t* m = on + at[2];
        if (s0 == 1 && s1 == 1 && s2 == 1) {
#pragma GCC ivdep
          for (int64_t j = 0; j < n; ++j) {
            const T kept = i[j];
            o[j] = m[j] != 0 ? value : kept;
          }
          return;
        }
        for (int64_t j = 0; j < n; ++j) o[j * s0] = m[j * s2] ? value : i[j * s1];
      });
    });
  });
}

template <class T>
bool is_set(const T& x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return (x.bits & 0x7fff) != 0;
  else
    return !(x == T(0));
}

/// Memory of somebody else may hold other bytes than 0 and 1 as bool: counted as numbers, they
/// would make more rows than are written.
ScalarType byte_for_bool(ScalarType t) { return t == kBool ? kByte : t; }

void nonzero_count_kernel(const Tensor& count, const Tensor& in) {
  dispatch(AllTypes{}, "nonzero", byte_for_bool(in.dtype()), [&]<class T>() {
    const T* from = static_cast<const T*>(in.data_ptr());
    int64_t n = 0;
    for (int64_t i = 0; i < in.numel(); ++i) n += is_set(from[i]);
    *static_cast<int64_t*>(count.data_ptr()) = n;
  });
}

/// Numbers of the elements that are set, of at most kHits; how many. No branch: which elements are
/// set is rarely what a processor guesses.
constexpr int64_t kHits = 1024;
template <class T>
int64_t find_set(const T* from, int64_t n, int32_t* hits) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    hits[count] = static_cast<int32_t>(i);
    count += is_set(from[i]);
  }
  return count;
}

void nonzero_kernel(const Tensor& out, const Tensor& in) {
  dispatch(AllTypes{}, "nonzero", byte_for_bool(in.dtype()), [&]<class T>() {
    const T* from = static_cast<const T*>(in.data_ptr());
    int64_t* to = static_cast<int64_t*>(out.data_ptr());
    const int64_t outer = in.dim() - 1, width = in.size(outer), lines = in.numel() / width;
    DimVector line(static_cast<size_t>(outer), 0);  // its coordinates
    int32_t hits[kHits];
    for (int64_t l = 0; l < lines; ++l) {
      for (int64_t begin = 0; begin < width; begin += kHits) {
        const int64_t n = std::min(kHits, width - begin), count = find_set(from, n, hits);
        for (int64_t j = 0; j < count; ++j) {
          for (int64_t d = 0; d < outer; ++d) to[d] = line[static_cast<size_t>(d)];
          to[outer] = begin + hits[j];
          to += outer + 1;
        }
        from += n;
      }
      for (int64_t d = outer; d-- > 0;) {
        auto& at = line[static_cast<size_t>(d)];
        if (++at < in.size(d)) break;
        at = 0;
      }
    }
  });
}

}  // namespace

void register_index() {
  index_offsets_slot.set(kCPU, &index_offsets_kernel);
  index_get_slot.set(kCPU, &index_get_kernel);
  index_put_slot.set(kCPU, &index_put_kernel);
  gather_slot.set(kCPU, &gather_kernel);
  scatter_slot.set(kCPU, &scatter_kernel);
  masked_fill_slot.set(kCPU, &masked_fill_kernel);
  nonzero_count_slot.set(kCPU, &nonzero_count_kernel);
  nonzero_slot.set(kCPU, &nonzero_kernel);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
