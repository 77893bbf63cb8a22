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

/// Whether the places of the indices are neighbours in memory where those of the block are not:
/// columns are picked, row by row.
bool are_columns(int64_t step, const Walk<2>& walk, int operand) {
  return step == 1 && walk.numel > 1 && std::abs(walk.strides[operand][0]) > 1;
}

/// Calls f(offsets of an element of the block) for elements [begin, end) of a walk.
template <class F>
void for_each_element(const Walk<2>& walk, int64_t begin, int64_t end, F&& f) {
  walk.for_range(begin, end, [&](const int64_t* at, int64_t count) {
    int64_t here[2] = {at[0], at[1]};
    for (int64_t j = 0; j < count; ++j) {
      f(static_cast<const int64_t*>(here));
      for (int i = 0; i < 2; ++i) here[i] += walk.strides[i][0];
    }
  });
}

/// What is read: n blocks at `offset`, to blocks that are `to_step` apart.
struct IndexGet {
  void* to;
  const void* from;
  const int64_t* offset;
  int64_t n, to_step;
  const Walk<2>& walk;
};

/// Rows [begin, end) of adjacent elements.
void get_rows(const IndexGet& g, int64_t item, int64_t begin, int64_t end) {
  const int64_t bytes = g.walk.numel * item, ahead = std::min(bytes, kRowAhead);
  const auto* const from = static_cast<const char*>(g.from);
  for (int64_t i = begin; i < end; ++i) {
    const char* next = from + g.offset[std::min(i + 1, end - 1)] * item;
    for (int64_t b = 0; b < ahead; b += 64) __builtin_prefetch(next + b);
    move_row(static_cast<char*>(g.to) + i * g.to_step * item, from + g.offset[i] * item, bytes);
  }
}

/// The same for elements that lie in a line of the cache each: a few of all rows at a time, so that
/// indices which share lines find them in the cache.
template <class W>
void get_spread_rows(const IndexGet& get, int64_t begin, int64_t end) {
  constexpr int64_t kGroup = 64 / static_cast<int64_t>(sizeof(W));
  const IndexGet g = get;  // of this function, which no store can reach
  W* const to = static_cast<W*>(g.to);
  const W* const from = static_cast<const W*>(g.from);
  const int64_t from_step = g.walk.strides[1][0];
  for (int64_t k = 0; k < g.walk.numel; k += kGroup) {
    const int64_t count = std::min(kGroup, g.walk.numel - k);
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = k; j < k + count; ++j)
        to[i * g.to_step + j] = from[g.offset[i] + j * from_step];
  }
}

template <class W>
__attribute__((noinline)) void get_element_of_each(W* __restrict to, const W* __restrict from,
                                                   const int64_t* __restrict offset, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[offset[i]];
}

/// Elements [begin, end) of the block, for all indices.
template <class W>
void get_columns(const IndexGet& g, int64_t begin, int64_t end) {
  for_each_element(g.walk, begin, end, [&](const int64_t* at) {
    get_element_of_each(static_cast<W*>(g.to) + at[0], static_cast<const W*>(g.from) + at[1],
                        g.offset, g.n);
  });
}

/// Blocks [begin, end).
template <class W>
void get_blocks(const IndexGet& get, int64_t begin, int64_t end) {
  const IndexGet g = get;  // of this function, which no store can reach
  W* const to = static_cast<W*>(g.to);
  const W* const from = static_cast<const W*>(g.from);
  const Walk<2>& walk = g.walk;
  if (walk.numel == 1) {
    for (int64_t i = begin; i < end; ++i) to[i * g.to_step] = from[g.offset[i]];
    return;
  }
  if (walk.ndim == 1 && walk.strides[0][0] == 1) {
    const int64_t step = walk.strides[1][0];
    if (step == 1) return get_rows(g, sizeof(W), begin, end);
    if (std::abs(step) * static_cast<int64_t>(sizeof(W)) >= 64)
      return get_spread_rows<W>(g, begin, end);
  }
  for (int64_t i = begin; i < end; ++i)
    walk.for_range(0, walk.numel, [&](const int64_t* at, int64_t count) {
      move_run(to + i * g.to_step + at[0], walk.strides[0][0], from + g.offset[i] + at[1],
               walk.strides[1][0], count);
    });
}

void index_get_kernel(const Tensor& out, const Tensor& block, const Tensor& offsets) {
  const int64_t n = offsets.numel(), out_step = out.strides()[0];
  const Walk<2> walk(block.sizes(), {rest(out.strides()), block.strides()});
  const IndexGet g = {out.data_ptr(),
                      block.data_ptr(),
                      static_cast<const int64_t*>(offsets.data_ptr()),
                      n,
                      out_step,
                      walk};
  const bool columns = are_columns(out_step, walk, 0);
  void (*get)(const IndexGet&, int64_t, int64_t) = nullptr;
  with_word(out.element_size(),
            [&]<class W>(W) { get = columns ? &get_columns<W> : &get_blocks<W>; });
  const int64_t each = std::max<int64_t>(columns ? n : walk.numel, 1);
  parallel_for(0, columns ? walk.numel : n, std::max<int64_t>(1, kParallelGrain / each),
               [&](int64_t begin, int64_t end) { get(g, begin, end); });
}

/// Rows of `count` elements each, at n offsets, that become others or are added to.
struct PutRows {
  char* to;
  const char* from;
  const int64_t* offset;
  int64_t n, count, value_step;  // from the values of an offset to those of the next
  int64_t to_step, from_step;    // within a row
};
using PutFunction = void (*)(const PutRows&);

/// Visits all indices in order for ranges of the block: an element has one owner.
void put_rows(const Tensor& block, const Tensor& offsets, const Tensor& values, PutFunction put) {
  const int64_t n = offsets.numel(), item = block.element_size();
  const Walk<2> walk(block.sizes(), {block.strides(), rest(values.strides())});
  const int64_t grain = std::max<int64_t>(16, kParallelGrain / std::max<int64_t>(n, 1));
  const PutRows all = {static_cast<char*>(block.data_ptr()),
                       static_cast<const char*>(values.data_ptr()),
                       static_cast<const int64_t*>(offsets.data_ptr()),
                       n,
                       walk.numel,
                       values.strides()[0],
                       walk.strides[0][0],
                       walk.strides[1][0]};
  if (walk.numel == 1) return put(all);
  const auto part = [&](const int64_t* at, int64_t count) {
    PutRows p = all;
    p.to += at[0] * item;
    p.from += at[1] * item;
    p.count = count;
    return p;
  };
  if (are_columns(all.value_step, walk, 1))
    return parallel_for(0, walk.numel, grain, [&](int64_t begin, int64_t end) {
      for_each_element(walk, begin, end, [&](const int64_t* at) { put(part(at, 1)); });
    });
  parallel_for(0, walk.numel, grain, [&](int64_t begin, int64_t end) {
    if (walk.ndim == 1) {
      const int64_t at[2] = {begin * all.to_step, begin * all.from_step};
      return put(part(at, end - begin));
    }
    for (int64_t i = 0; i < n; ++i)
      walk.for_range(begin, end, [&](const int64_t* at, int64_t count) {
        PutRows p = part(at, count);
        p.offset += i;
        p.from += i * p.value_step * item;
        p.n = 1;
        put(p);
      });
  });
}

/// Calls f for the rows of all offsets, or, where they are of one element, g for these.
template <class T, class F, class G>
TAEDA_ALWAYS_INLINE void for_each_row(const PutRows& rows, F&& f, G&& g) {
  const PutRows r = rows;  // of this function, which no store can reach
  T* const to = reinterpret_cast<T*>(r.to);
  const T* from = reinterpret_cast<const T*>(r.from);
  if (r.count == 1) {
    for (int64_t i = 0; i < r.n; ++i) g(to[r.offset[i]], from[i * r.value_step]);
    return;
  }
  const int64_t bytes = r.count * static_cast<int64_t>(sizeof(T));
  const int64_t ahead = r.to_step == 1 && r.n > 1 ? std::min(bytes, kRowAhead) : 0;
  for (int64_t i = 0; i < r.n; ++i, from += r.value_step) {
    const T* next = to + r.offset[std::min(i + 1, r.n - 1)];
    for (int64_t b = 0; b < ahead; b += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(next) + b, 1);
    f(to + r.offset[i], r.to_step, from, r.from_step, r.count);
  }
}

template <class W>
void replace_rows(const PutRows& rows) {
  for_each_row<W>(rows, &move_run<W>, [](W& to, const W& from) { to = from; });
}

template <class T>
TAEDA_ALWAYS_INLINE void accumulate_into(T& to, T value) {
  if constexpr (std::is_same_v<T, bool>)
    to = to || value;
  else
    to = static_cast<T>(static_cast<opmath_t<T>>(to) + static_cast<opmath_t<T>>(value));
}

template <class T>
void accumulate_run(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t n) {
  if (to_step == 1 && from_step == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) accumulate_into(to[i], from[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) accumulate_into(to[i * to_step], from[i * from_step]);
}

template <class T>
void accumulate_rows(const PutRows& rows) {
  for_each_row<T>(rows, &accumulate_run<T>,
                  [](T& to, const T& from) { accumulate_into(to, from); });
}

void index_put_kernel(const Tensor& block, const Tensor& offsets, const Tensor& values,
                      bool accumulate) {
  PutFunction put = nullptr;
  if (accumulate)
    dispatch(AllTypes{}, "index_put_", block.dtype(),
             [&]<class T>() { put = &accumulate_rows<T>; });
  else
    with_word(block.element_size(), [&]<class W>(W) { put = &replace_rows<W>; });
  put_rows(block, offsets, values, put);
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
/// the operand that is indexed ("self").
struct IndexedLines {
  void *like, *self;
  const int64_t* index;
  int64_t count, n;                          // lines, elements of each
  int64_t like_line, self_line, index_line;  // from a line to the next
  int64_t like_step, self_step, index_step;  // within a line
  int64_t size, dim;                         // of self
};

/// Calls `f(like&, self&)` for n pairs that lie in lines of their own.
template <class W, class F>
void visit_run(W* like, int64_t like_step, W* self, int64_t self_step, int64_t n) {
  constexpr F f;
  if (like_step == 1 && self_step == 1)
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) f(like[j], self[j]);
  else
    for (int64_t j = 0; j < n; ++j) f(like[j * like_step], self[j * self_step]);
}

/// Calls `f(like&, self&)` element by element, in order along every line.
template <class W, class F>
void visit_lines(const IndexedLines& lines) {
  const IndexedLines l = lines;  // of this function, which no store can reach
  constexpr F f;
  W *const like = static_cast<W*>(l.like), *const self = static_cast<W*>(l.self);
  const bool along_lines = std::abs(l.index_step) <= std::abs(l.index_line);
  if (along_lines && l.index_step == 1 && l.like_step == 1 && l.self_step == 1 && l.n > 1) {
    for (int64_t j = 0; j < l.count; ++j) {
      const int64_t* const index = l.index + j * l.index_line;
      if (const int64_t* wrong = find_out_of_bounds(index, l.n, l.size))
        throw_out_of_bounds(*wrong, l.dim, l.size);
      W *const like_line = like + j * l.like_line, *const self_line = self + j * l.self_line;
      for (int64_t k = 0; k < l.n; ++k) f(like_line[k], self_line[index[k]]);
    }
    return;
  }
  if (l.index_line == 0 && l.count > 1) {  // one index for a whole run of lines
    for (int64_t k = 0; k < l.n; ++k) {
      const int64_t i = l.index[k * l.index_step];
      if (i < 0 || i >= l.size) throw_out_of_bounds(i, l.dim, l.size);
      visit_run<W, F>(like + k * l.like_step, l.like_line, self + i * l.self_step, l.self_line,
                      l.count);
    }
    return;
  }
  // Along what lies densest: each line in order either way.
  struct {
    int64_t n, like, self, index;
  } outer = {l.count, l.like_line, l.self_line, l.index_line},
    inner = {l.n, l.like_step, 0, l.index_step};
  if (!along_lines || inner.n == 1) std::swap(outer, inner);
  for (int64_t a = 0; a < outer.n; ++a)
    for (int64_t b = 0; b < inner.n; ++b) {
      const int64_t i = l.index[a * outer.index + b * inner.index];
      if (i < 0 || i >= l.size) throw_out_of_bounds(i, l.dim, l.size);
      f(like[a * outer.like + b * inner.like],
        self[a * outer.self + b * inner.self + i * l.self_step]);
    }
}

/// Calls `visit` for all lines. A line belongs to one thread.
void for_each_indexed(const Tensor& like, const Tensor& self, const Tensor& index, int64_t dim,
                      void (*visit)(const IndexedLines&)) {
  const DimVector sizes = without(index.sizes(), dim), a = without(like.strides(), dim),
                  b = without(self.strides(), dim), c = without(index.strides(), dim);
  const Walk<3> walk(sizes, {a, b, c});
  const int64_t n = index.sizes()[dim], item = like.element_size();
  char* const like_data = static_cast<char*>(like.data_ptr());
  char* const self_data = static_cast<char*>(self.data_ptr());
  const int64_t* const index_data = static_cast<const int64_t*>(index.data_ptr());
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(n, 1));
  parallel_for(0, walk.numel, grain, [&](int64_t begin, int64_t end) {
    walk.for_range(begin, end, [&](const int64_t* at, int64_t count) {
      visit({like_data + at[0] * item, self_data + at[1] * item, index_data + at[2], count, n,
             walk.strides[0][0], walk.strides[1][0], walk.strides[2][0], like.strides()[dim],
             self.strides()[dim], index.strides()[dim], self.sizes()[dim], dim});
    });
  });
}

struct Take {
  template <class W>
  void operator()(W& like, const W& self) const {
    like = self;
  }
};
struct Give {
  template <class W>
  void operator()(const W& like, W& self) const {
    self = like;
  }
};
template <Meeting kHow>
struct Meet {
  template <class T>
  void operator()(const T& like, T& self) const {
    using M = opmath_t<T>;
    self = static_cast<T>(meet(kHow, static_cast<M>(self), static_cast<M>(like)));
  }
};

void gather_kernel(const Tensor& out, const Tensor& self, const Tensor& index, int64_t dim) {
  with_word(out.element_size(),
            [&]<class W>(W) { for_each_indexed(out, self, index, dim, &visit_lines<W, Take>); });
}

template <Meeting kHow, class Types>
void scatter_meeting(Types types, const Tensor& self, const Tensor& index, const Tensor& src,
                     int64_t dim) {
  const char* const op = kHow == Meeting::Sum ? "scatter_add" : "scatter_reduce";
  dispatch(types, op, self.dtype(), [&]<class T>() {
    for_each_indexed(src, self, index, dim, &visit_lines<T, Meet<kHow>>);
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
        for_each_indexed(src, self, index, dim, &visit_lines<W, Give>);
      });
  }
}

/// A run of n elements with `fill` where the mask is set; bool as bytes, because a loop over bool
/// stays one of branches.
template <class W>
void fill_run(void* out, const void* in, const uint8_t* mask, const int64_t (&steps)[3], int64_t n,
              const void* fill) {
  W* const o = static_cast<W*>(out);
  const W* const i = static_cast<const W*>(in);
  W value;
  std::memcpy(&value, fill, sizeof value);
  const int64_t step[3] = {steps[0], steps[1], steps[2]};
  if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      const W kept = i[j];
      o[j] = mask[j] != 0 ? value : kept;
    }
    return;
  }
  if (step[2] == 0) {  // one for all
    if (*mask)
      for (int64_t j = 0; j < n; ++j) o[j * step[0]] = value;
    else
      for (int64_t j = 0; j < n; ++j) o[j * step[0]] = i[j * step[1]];
    return;
  }
  for (int64_t j = 0; j < n; ++j) o[j * step[0]] = mask[j * step[2]] ? value : i[j * step[1]];
}

void masked_fill_kernel(const Tensor& out, const Tensor& in, const Tensor& mask,
                        const Scalar& value) {
  Word16 fill = {};
  dispatch(AllTypes{}, "masked_fill", out.dtype(), [&]<class T>() {
    const T typed = value.to<T>();
    std::memcpy(&fill, &typed, sizeof typed);
  });
  decltype(&fill_run<uint8_t>) run = nullptr;
  with_word(out.element_size(), [&]<class W>(W) { run = &fill_run<W>; });
  const int64_t item = out.element_size();
  char* const to = static_cast<char*>(out.data_ptr());
  const char* const from = static_cast<const char*>(in.data_ptr());
  const uint8_t* const on = static_cast<const uint8_t*>(mask.data_ptr());
  const Walk<3> walk(out.sizes(), {out.strides(), in.strides(), mask.strides()});
  const int64_t step[3] = {walk.strides[0][0], walk.strides[1][0], walk.strides[2][0]};
  parallel_for(0, walk.numel, kParallelGrain, [&](int64_t begin, int64_t end) {
    walk.for_range(begin, end, [&](const int64_t* at, int64_t n) {
      run(to + at[0] * item, from + at[1] * item, on + at[2], step, n, &fill);
    });
  });
}

/// The bits of which one is set in a number that is not zero: in floats, all but signs. Repeated to
/// 16 bytes.
Word16 bits_of_magnitude(ScalarType t) {
  uint64_t bits = ~uint64_t{0};
  switch (to_real_type(t)) {
    case kHalf:
    case kBFloat16: bits = 0x7fff7fff7fff7fff; break;
    case kFloat: bits = 0x7fffffff7fffffff; break;
    case kDouble: bits = 0x7fffffffffffffff; break;
    case kFloat8_e5m2:
    case kFloat8_e4m3fn: bits = 0x7f7f7f7f7f7f7f7f; break;
    default: break;  // the other floats of 8 bits have no negative zero
  }
  return {bits, bits};
}
template <class W>
bool is_set(W x, W bits) {
  return (x & bits) != 0;
}
bool is_set(const Word16& x, const Word16& bits) { return ((x.a & bits.a) | (x.b & bits.b)) != 0; }

/// Bytes of bool may be others than 0 and 1 in memory of somebody else: whatever is not 0 counts
/// once.
template <class W>
int64_t count_set(const void* from, int64_t n, const Word16& magnitude) {
  W bits;
  std::memcpy(&bits, &magnitude, sizeof bits);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += is_set(static_cast<const W*>(from)[i], bits);
  return count;
}

void nonzero_count_kernel(const Tensor& count, const Tensor& in) {
  with_word(in.element_size(), [&]<class W>(W) {
    *static_cast<int64_t*>(count.data_ptr()) =
        count_set<W>(in.data_ptr(), in.numel(), bits_of_magnitude(in.dtype()));
  });
}

/// Numbers of the elements that are set, of at most kHits; how many. No branch: which elements are
/// set is rarely what a processor guesses.
constexpr int64_t kHits = 1024;
template <class W>
int64_t find_set(const void* from, int64_t n, const Word16& magnitude, int32_t* hits) {
  W bits;
  std::memcpy(&bits, &magnitude, sizeof bits);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    hits[count] = static_cast<int32_t>(i);
    count += is_set(static_cast<const W*>(from)[i], bits);
  }
  return count;
}

void nonzero_kernel(const Tensor& out, const Tensor& in) {
  decltype(&find_set<uint8_t>) find = nullptr;
  with_word(in.element_size(), [&]<class W>(W) { find = &find_set<W>; });
  const Word16 magnitude = bits_of_magnitude(in.dtype());
  const char* from = static_cast<const char*>(in.data_ptr());
  int64_t* to = static_cast<int64_t*>(out.data_ptr());
  const int64_t outer = in.dim() - 1, width = in.size(outer), lines = in.numel() / width;
  DimVector line(static_cast<size_t>(outer), 0);  // its coordinates
  int32_t hits[kHits];
  for (int64_t l = 0; l < lines; ++l) {
    for (int64_t begin = 0; begin < width; begin += kHits) {
      const int64_t n = std::min(kHits, width - begin), count = find(from, n, magnitude, hits);
      for (int64_t j = 0; j < count; ++j) {
        for (int64_t d = 0; d < outer; ++d) to[d] = line[static_cast<size_t>(d)];
        to[outer] = begin + hits[j];
        to += outer + 1;
      }
      from += n * in.element_size();
    }
    for (int64_t d = outer; d-- > 0;) {
      auto& at = line[static_cast<size_t>(d)];
      if (++at < in.size(d)) break;
      at = 0;
    }
  }
}

}  // namespace

void register_index() {
  fill_slots<On<index_offsets_slot, index_offsets_kernel>, On<index_get_slot, index_get_kernel>,
             On<index_put_slot, index_put_kernel>, On<gather_slot, gather_kernel>,
             On<scatter_slot, scatter_kernel>, On<masked_fill_slot, masked_fill_kernel>,
             On<nonzero_count_slot, nonzero_count_kernel>, On<nonzero_slot, nonzero_kernel>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
