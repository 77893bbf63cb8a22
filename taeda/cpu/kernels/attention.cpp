// Attention in blocks of kQueryBlock rows and kKeyBlock columns of the scores, so that memory grows
// with the length of the sequences, not with its square: the forward pass keeps a running maximum
// and sum for each row (Milakov and Gimelshein 2018), the backward pass computes the probabilities
// again from the logarithm of that sum (Dao, "FlashAttention-2", 2023).
//
// Whatever is shared among threads, a block of out or of a gradient is the sum over the same blocks
// in the same order, so results do not depend on the number of threads.
#include "taeda/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/gemm.h"
#include "taeda/cpu/kernels/philox_vectors.h"
#include "taeda/cpu/scratch.h"
#include "taeda/kernels/math.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kQueryBlock = 64, kKeyBlock = 256;
// Of these rows or fewer, packing the keys costs more than it gains.
constexpr int64_t kFewQueries = 8;
constexpr int64_t kSpare = 16;  // behind each row, lest rows meet in one set of the cache
constexpr int64_t kScoreRow = kKeyBlock + kSpare;

constexpr int64_t spaced(int64_t n) { return (n + kSpare - 1) / kSpare * kSpare + kSpare; }

template <class A>
constexpr A kNothing = -std::numeric_limits<A>::infinity();

/// The largest of n numbers and `start`; NaN wins.
template <class A>
A largest(const A* x, int64_t n, A start) {
  constexpr int64_t lanes = kLanes<A>;
  Vec<A> tops = broadcast(start);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<A> v = load(x + i);
    tops = (v > tops) | (v != v) ? v : tops;
  }
  A top = start;
  const auto take = [&](A v) { top = v > top || v != v ? v : top; };
  for (int64_t k = 0; k < lanes; ++k) take(tops[k]);
  for (; i < n; ++i) take(x[i]);
  return top;
}

/// sum x[i] y[i], or of x alone.
template <class A>
A sum_of_products(const A* x, const A* y, int64_t n) {
  constexpr int64_t lanes = kLanes<A>;
  Vec<A> sums[2] = {};
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes)
    for (int k = 0; k < 2; ++k) {
      const Vec<A> v = load(x + i + k * lanes);
      sums[k] += y ? v * load(y + i + k * lanes) : v;
    }
  A sum = sum_lanes<A>(sums[0] + sums[1]);
  for (; i < n; ++i) sum += y ? x[i] * y[i] : x[i];
  return sum;
}

/// The matrices of a tensor (batch, head, row, column).
template <class T>
struct HeadMatrices {
  T* data;
  int64_t batch, head, row;

  explicit HeadMatrices(const Tensor& t)
      : data(static_cast<T*>(t.data_ptr())),
        batch(t.strides()[0]),
        head(t.strides()[1]),
        row(t.strides()[2]) {}
  T* at(int64_t b, int64_t h, int64_t i = 0) const { return data + b * batch + h * head + i * row; }
};

/// Rows in the type that is computed in, copied to where they lie well for products.
template <class T, class A = opmath_t<T>>
Matrix<const A> packed_rows(const T* from, int64_t row, int64_t rows, int64_t columns, A* buffer) {
  const int64_t line = spaced(columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < columns; ++c) buffer[i * line + c] = static_cast<A>(from[i * row + c]);
  return {buffer, line, 1};
}

/// out[c * out_row + r] = from[r * row + c]
template <class T, class A = opmath_t<T>>
void transpose_rows(const T* from, int64_t row, int64_t rows, int64_t columns, A* out,
                    int64_t out_row) {
  constexpr int64_t lanes = kLanes<A>;
  for (int64_t r = 0; r < rows; r += lanes) {
    const int64_t n = std::min(lanes, rows - r);
    for (int64_t c = 0; c < columns; c += lanes) {
      const int64_t m = std::min(lanes, columns - c);
      Vec<A> square[lanes];
      for (int64_t k = 0; k < lanes; ++k) {
        const T* line = from + (r + k) * row + c;
        if constexpr (std::is_same_v<T, A>) {
          square[k] = k >= n ? Vec<A>{} : m == lanes ? load(line) : load_first(line, m);
        } else {
          A wide[lanes] = {};
          for (int64_t j = 0; k < n && j < m; ++j) wide[j] = static_cast<A>(line[j]);
          square[k] = load(wide);
        }
      }
      transpose_square<A>(square);
      for (int64_t k = 0; k < m; ++k) store_first(out + (c + k) * out_row + r, square[k], n);
    }
  }
}

/// out = alpha a b, or out + that.
template <class A>
void multiply(int64_t m, int64_t n, int64_t k, Matrix<const A> a, Matrix<const A> b, A* out,
              int64_t out_row, bool add, A alpha = A(1)) {
  const Matrix<const A> addend = {add ? out : nullptr, out_row, 1};
  gemm({m, n, k, a, b, {out, out_row, 1}, addend, alpha, A(1)});
}

/// A block of the scores.
struct Block {
  int64_t b, h;       // of the queries
  int64_t row, rows;  // queries
  int64_t column, columns;
};

/// What forward and backward share.
template <class T>
struct AttentionProblem : AttentionCall {
  using A = opmath_t<T>;
  const uint64_t* kept;
  HeadMatrices<const T> query, key, value;
  int64_t width, value_width;

  AttentionProblem(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m,
                   AttentionSpec s, const PhiloxState& philox, const Tensor& kept_bits)
      : AttentionCall(q, k, m, s, philox),
        kept(kept_bits.defined() ? static_cast<const uint64_t*>(kept_bits.data_ptr()) : nullptr),
        query(q),
        key(k),
        value(v),
        width(q.size(3)),
        value_width(v.size(3)) {}

  /// Columns of a block that its r-th row looks at, as far as `causal` says.
  int64_t columns_seen(const Block& at, int64_t r) const {
    return spec.causal ? std::clamp<int64_t>(at.row + r + 1 - at.column, 0, at.columns)
                       : at.columns;
  }

  template <class M>
  void mask_row(A* scores, const M* from, int64_t stride, int64_t n) const {
    const auto apply = [&](auto step) {
      for (int64_t c = 0; c < n; ++c) {
        if constexpr (std::is_same_v<M, bool>)
          scores[c] = from[c * step] ? scores[c] : kNothing<A>;
        else
          scores[c] += static_cast<A>(from[c * step]);
      }
    };
    if (stride == 1)
      apply(std::integral_constant<int64_t, 1>());
    else
      apply(stride);
  }
  /// The mask's part of the r-th row of a block.
  void apply_mask(const Block& at, int64_t r, A* scores, int64_t n) const {
    if (!mask) return;
    const void* from = mask_at(at.b, at.h, at.row + r, at.column);
    if (mask_dtype == kBool)
      mask_row(scores, static_cast<const bool*>(from), mask_strides[3], n);
    else if (mask_dtype == dtype_of<T>())
      mask_row(scores, static_cast<const T*>(from), mask_strides[3], n);
    else
      mask_row(scores, static_cast<const A*>(from), mask_strides[3], n);
  }

  /// Multiplies the first n numbers of the r-th row of a block by 1 / (1 - dropout), or by 0.
  void drop(const Block& at, int64_t r, A* values, int64_t n) const {
    const A factor = A(1) / static_cast<A>(1 - spec.dropout);
    const auto element =
        static_cast<uint64_t>(((at.b * heads + at.h) * queries + at.row + r) * keys + at.column);
    if (kept)
      drop_by_bits(element, factor, values, n);
    else
      drop_by_philox(element, factor, values, n);
  }
  void drop_by_bits(uint64_t element, A factor, A* values, int64_t n) const {
    for (int64_t c = 0; c < n; c += 32, element += 32) {
      // A word more than there are decisions for can be read.
      const uint64_t low = kept[element / 64], high = kept[element / 64 + 1];
      const int shift = static_cast<int>(element % 64);
      const auto flags = static_cast<uint32_t>(low >> shift | high << 1 << (63 - shift));
      const int count = static_cast<int>(std::min<int64_t>(32, n - c));
      for (int i = 0; i < count; ++i) values[c + i] *= flags >> i & 1 ? factor : A(0);
    }
  }
  void drop_by_philox(uint64_t element, A factor, A* values, int64_t n) const {
    constexpr int64_t words = 4 * PhiloxVectors::kCounters;
    const uint32_t below = kept_below;
    for (int64_t c = 0; c < n;) {
      uint32_t bits[words];
      PhiloxVectors v;
      v.start(state.counter(), element / 4);
      v.run(state.key());
      v.write(bits);
      const int64_t skip = static_cast<int64_t>(element % 4);
      const int64_t count = std::min(n - c, words - skip);
      for (int64_t i = 0; i < count; ++i) {
        const A weight = bits[skip + i] < below ? factor : A(0);
        values[c + i] *= weight;
      }
      c += count;
      element += static_cast<uint64_t>(count);
    }
  }
};

/// Tasks of `work` multiply-adds that are worth a thread.
int64_t attention_grain(int64_t work) {
  return std::max<int64_t>(1, 4 * kParallelGrain / std::max<int64_t>(1, work));
}

// ---- Forward

template <class T>
class ForwardWorker {
 public:
  using A = opmath_t<T>;

  ForwardWorker(const AttentionProblem<T>& problem, const HeadMatrices<T>& out, A* log_sum)
      : p_(problem),
        out_(out),
        log_sum_(log_sum),
        pack_(p_.queries > kFewQueries || !std::is_same_v<T, A>),
        key_row_(spaced(p_.keys)),
        value_row_(spaced(p_.value_width)),
        packed_keys_(pack_ ? p_.width * key_row_ : 0),
        packed_values_(pack_ ? p_.keys * value_row_ : 0),
        query_rows_(kQueryBlock * spaced(p_.width)),
        scores_(kQueryBlock * kScoreRow),
        sum_of_values_(kQueryBlock * value_row_) {}

  /// Rows [row, row + kQueryBlock) of a head.
  void run(int64_t b, int64_t h, int64_t row) {
    const int64_t rows = std::min(kQueryBlock, p_.queries - row);
    use_head(b, p_.group_of(h));
    const Matrix<const A> query =
        packed_rows<T>(p_.query.at(b, h, row), p_.query.row, rows, p_.width, query_rows_.get());
    std::fill_n(top_, rows, kNothing<A>);
    std::fill_n(sum_, rows, A(0));
    const int64_t seen = p_.keys_seen(row + rows);
    for (int64_t column = 0; column < seen; column += kKeyBlock) {
      const Block at{b, h, row, rows, column, std::min(kKeyBlock, seen - column)};
      multiply<A>(rows, at.columns, p_.width, query, keys_.block(0, column), scores_.get(),
                  kScoreRow, false, static_cast<A>(p_.spec.scale));
      for (int64_t r = 0; r < rows; ++r) exponentiate(at, r);
      multiply<A>(rows, p_.value_width, at.columns, {scores_.get(), kScoreRow, 1},
                  values_.block(column, 0), sum_of_values_.get(), value_row_, column > 0);
    }
    for (int64_t r = 0; r < rows; ++r) write(b, h, row + r, r);
  }

 private:
  /// Keys, transposed, and values as the products read them fastest.
  void use_head(int64_t b, int64_t group) {
    const T *key = p_.key.at(b, group), *value = p_.value.at(b, group);
    if (b * p_.groups + group == current_) return;
    current_ = b * p_.groups + group;
    if constexpr (std::is_same_v<T, A>) {
      if (!pack_) {
        keys_ = {key, 1, p_.key.row};
        values_ = {value, p_.value.row, 1};
        return;
      }
    }
    transpose_rows<T>(key, p_.key.row, p_.keys, p_.width, packed_keys_.get(), key_row_);
    for (int64_t j = 0; j < p_.keys; ++j)
      for (int64_t c = 0; c < p_.value_width; ++c)
        packed_values_.get()[j * value_row_ + c] = static_cast<A>(value[j * p_.value.row + c]);
    keys_ = {packed_keys_.get(), key_row_, 1};
    values_ = {packed_values_.get(), value_row_, 1};
  }

  /// Scores of a row become exponentials relative to the row's maximum so far.
  void exponentiate(const Block& at, int64_t r) {
    A* s = scores_.get() + r * kScoreRow;
    const int64_t n = p_.columns_seen(at, r);
    std::fill(s + n, s + at.columns, A(0));
    p_.apply_mask(at, r, s, n);
    const A before = top_[r], top = largest(s, n, before);
    // Nothing seen yet: whatever is finite keeps exp(-inf - shift) at 0.
    const A shift = top == kNothing<A> ? A(0) : top;
    for (int64_t c = 0; c < n; ++c) s[c] = math::exp(s[c] - shift);
    const A rescale = math::exp(before - shift);
    sum_[r] = sum_[r] * rescale + sum_of_products<A>(s, nullptr, n);
    top_[r] = top;
    if (at.column > 0 && rescale != A(1)) {
      A* values = sum_of_values_.get() + r * value_row_;
      for (int64_t c = 0; c < p_.value_width; ++c) values[c] *= rescale;
    }
    if (p_.spec.dropout > 0) p_.drop(at, r, s, n);
  }

  void write(int64_t b, int64_t h, int64_t row, int64_t r) {
    T* to = out_.at(b, h, row);
    const A* values = sum_of_values_.get() + r * value_row_;
    const bool nothing = sum_[r] == A(0);
    const A factor = nothing ? A(0) : A(1) / sum_[r];
    for (int64_t c = 0; c < p_.value_width; ++c) to[c] = static_cast<T>(values[c] * factor);
    log_sum_[(b * p_.heads + h) * p_.queries + row] =
        nothing ? std::numeric_limits<A>::infinity() : top_[r] + math::log(sum_[r]);
  }

  const AttentionProblem<T>& p_;
  const HeadMatrices<T>& out_;
  A* log_sum_;
  bool pack_;
  int64_t key_row_, value_row_;
  ScratchArray<A> packed_keys_, packed_values_, query_rows_, scores_, sum_of_values_;
  A top_[kQueryBlock], sum_[kQueryBlock];
  int64_t current_ = -1;
  Matrix<const A> keys_, values_;
};

void attention_kernel(const Tensor& out, const Tensor& log_sum, const Tensor& query,
                      const Tensor& key, const Tensor& value, const Tensor& mask,
                      AttentionSpec spec, const PhiloxState& state, const Tensor& kept) {
  dispatch(FloatTypes{}, attention_slot.name(), query.dtype(), [&]<class T>() {
    const AttentionProblem<T> p(query, key, value, mask, spec, state, kept);
    const HeadMatrices<T> to(out);
    const int64_t blocks = (p.queries + kQueryBlock - 1) / kQueryBlock;
    const int64_t work = std::min(kQueryBlock, p.queries) * p.keys * (p.width + p.value_width);
    parallel_for(
        0, p.batches * p.heads * blocks, attention_grain(work), [&](int64_t begin, int64_t end) {
          ForwardWorker<T> worker(p, to, log_sum.data_ptr<opmath_t<T>>());
          for (int64_t t = begin; t < end; ++t)
            worker.run(t / blocks / p.heads, t / blocks % p.heads, t % blocks * kQueryBlock);
        });
  });
}

// ---- Backward

template <class T>
struct BackwardOperands {
  HeadMatrices<const T> grad, out;
  HeadMatrices<T> grad_query, grad_key, grad_value;
  const opmath_t<T>* log_sum;
};

/// Works on one block of scores after another:
///   P = exp(scores - log_sum), dP = grad value^T, dS = P (dropped(dP) - sum_j grad out)
///   grad_value += dropped(P)^T grad, grad_key += dS^T query, grad_query += dS key
template <class T>
class BackwardWorker {
 public:
  using A = opmath_t<T>;

  BackwardWorker(const AttentionProblem<T>& problem, const BackwardOperands<T>& operands)
      : p_(problem),
        o_(operands),
        key_columns_(p_.width * kScoreRow),
        value_columns_(p_.value_width * kScoreRow),
        key_rows_(kKeyBlock * spaced(p_.width)),
        query_rows_(kQueryBlock * spaced(p_.width)),
        grad_rows_(kQueryBlock * spaced(p_.value_width)),
        out_row_(spaced(p_.value_width)),
        probabilities_(kQueryBlock * kScoreRow),
        dropped_(p_.spec.dropout > 0 ? kQueryBlock * kScoreRow : 0),
        grad_scores_(kQueryBlock * kScoreRow),
        grad_key_(kKeyBlock * p_.width),
        grad_value_(kKeyBlock * p_.value_width) {}

  /// Gradients of the keys and values of a block, from all rows of all heads that look at them.
  /// With `grad_query`, a row for each query of each head, also adds this block's part of that.
  void keys(int64_t b, int64_t group, int64_t column, A* grad_query) {
    const int64_t columns = std::min(kKeyBlock, p_.keys - column);
    const int64_t share = p_.heads / p_.groups;
    use_keys(b, group, column, columns);
    std::fill_n(grad_key_.get(), columns * p_.width, A(0));
    std::fill_n(grad_value_.get(), columns * p_.value_width, A(0));
    const int64_t first = p_.spec.causal ? column / kQueryBlock * kQueryBlock : 0;
    for (int64_t k = 0; k < share; ++k)
      for (int64_t row = first; row < p_.queries; row += kQueryBlock) {
        const Block at = block(b, group * share + k, row, column);
        score(at);
        add_to_keys(at);
        if (grad_query)
          add_to_queries(at, grad_query + (k * p_.queries + row) * p_.width, column > 0);
      }
    const A scale = static_cast<A>(p_.spec.scale);
    write(grad_key_.get(), p_.width, scale, columns, o_.grad_key.at(b, group, column),
          o_.grad_key.row);
    write(grad_value_.get(), p_.value_width, A(1), columns, o_.grad_value.at(b, group, column),
          o_.grad_value.row);
  }

  /// Gradient of a block of queries alone; `grad_query` has room for it.
  void queries(int64_t b, int64_t h, int64_t row, A* grad_query) {
    const int64_t rows = std::min(kQueryBlock, p_.queries - row);
    for (int64_t column = 0; column < p_.keys_seen(row + rows); column += kKeyBlock) {
      use_keys(b, p_.group_of(h), column, std::min(kKeyBlock, p_.keys - column));
      const Block at = block(b, h, row, column);
      score(at);
      add_to_queries(at, grad_query, column > 0);
    }
    write_queries(b, h, row, rows, grad_query);
  }

  void write_queries(int64_t b, int64_t h, int64_t row, int64_t rows, const A* grad_query) {
    write(grad_query, p_.width, static_cast<A>(p_.spec.scale), rows, o_.grad_query.at(b, h, row),
          o_.grad_query.row);
  }

 private:
  /// The block's columns end where the last of its rows stops looking.
  Block block(int64_t b, int64_t h, int64_t row, int64_t column) const {
    const int64_t rows = std::min(kQueryBlock, p_.queries - row);
    return {b, h, row, rows, column, std::min(kKeyBlock, p_.keys_seen(row + rows) - column)};
  }

  void use_keys(int64_t b, int64_t group, int64_t column, int64_t columns) {
    const T *key = p_.key.at(b, group, column), *value = p_.value.at(b, group, column);
    transpose_rows<T>(key, p_.key.row, columns, p_.width, key_columns_.get(), kScoreRow);
    transpose_rows<T>(value, p_.value.row, columns, p_.value_width, value_columns_.get(),
                      kScoreRow);
    keys_ = packed_rows<T>(key, p_.key.row, columns, p_.width, key_rows_.get());
  }

  void score(const Block& at) {
    query_ = packed_rows<T>(p_.query.at(at.b, at.h, at.row), p_.query.row, at.rows, p_.width,
                            query_rows_.get());
    grad_ = packed_rows<T>(o_.grad.at(at.b, at.h, at.row), o_.grad.row, at.rows, p_.value_width,
                           grad_rows_.get());
    multiply<A>(at.rows, at.columns, p_.width, query_, {key_columns_.get(), kScoreRow, 1},
                probabilities_.get(), kScoreRow, false, static_cast<A>(p_.spec.scale));
    multiply<A>(at.rows, at.columns, p_.value_width, grad_, {value_columns_.get(), kScoreRow, 1},
                grad_scores_.get(), kScoreRow, false);
    for (int64_t r = 0; r < at.rows; ++r) score_row(at, r);
  }

  void score_row(const Block& at, int64_t r) {
    A* p = probabilities_.get() + r * kScoreRow;
    A* d = grad_scores_.get() + r * kScoreRow;
    const int64_t n = p_.columns_seen(at, r);
    p_.apply_mask(at, r, p, n);
    const A log_sum = o_.log_sum[(at.b * p_.heads + at.h) * p_.queries + at.row + r];
    for (int64_t c = 0; c < n; ++c) p[c] = math::exp(p[c] - log_sum);
    std::fill(p + n, p + at.columns, A(0));
    std::fill(d + n, d + at.columns, A(0));
    const Matrix<const A> out = packed_rows<T>(o_.out.at(at.b, at.h, at.row + r), o_.out.row, 1,
                                               p_.value_width, out_row_.get());
    const A mean = sum_of_products<A>(grad_.data + r * grad_.row, out.data, p_.value_width);
    if (p_.spec.dropout > 0) {
      A* kept = dropped_.get() + r * kScoreRow;
      std::copy_n(p, at.columns, kept);
      p_.drop(at, r, kept, n);
      p_.drop(at, r, d, n);
    }
    for (int64_t c = 0; c < n; ++c) d[c] = p[c] * (d[c] - mean);
  }

  void add_to_keys(const Block& at) {
    const A* kept = p_.spec.dropout > 0 ? dropped_.get() : probabilities_.get();
    multiply<A>(at.columns, p_.value_width, at.rows, {kept, 1, kScoreRow}, grad_, grad_value_.get(),
                p_.value_width, true);
    multiply<A>(at.columns, p_.width, at.rows, {grad_scores_.get(), 1, kScoreRow}, query_,
                grad_key_.get(), p_.width, true);
  }
  void add_to_queries(const Block& at, A* grad_query, bool add) {
    multiply<A>(at.rows, p_.width, at.columns, {grad_scores_.get(), kScoreRow, 1}, keys_,
                grad_query, p_.width, add);
  }

  static void write(const A* from, int64_t columns, A factor, int64_t rows, T* to, int64_t row) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < columns; ++c)
        to[i * row + c] = static_cast<T>(from[i * columns + c] * factor);
  }

  const AttentionProblem<T>& p_;
  const BackwardOperands<T>& o_;
  ScratchArray<A> key_columns_, value_columns_, key_rows_, query_rows_, grad_rows_, out_row_,
      probabilities_, dropped_, grad_scores_, grad_key_, grad_value_;
  Matrix<const A> keys_, query_, grad_;
};

/// One pass over the scores for each head of the keys.
template <class T>
void backward_by_heads(const AttentionProblem<T>& p, const BackwardOperands<T>& o) {
  using A = opmath_t<T>;
  const int64_t share = p.heads / p.groups, size = p.queries * p.width;
  const int64_t work = share * p.queries * p.keys * (p.width + p.value_width);
  parallel_for(0, p.batches * p.groups, attention_grain(2 * work), [&](int64_t begin, int64_t end) {
    BackwardWorker<T> worker(p, o);
    const ScratchArray<A> grad_query(share * size);
    for (int64_t t = begin; t < end; ++t) {
      const int64_t b = t / p.groups, group = t % p.groups;
      for (int64_t column = 0; column < p.keys; column += kKeyBlock)
        worker.keys(b, group, column, grad_query.get());
      for (int64_t k = 0; k < share; ++k)
        worker.write_queries(b, group * share + k, 0, p.queries, grad_query.get() + k * size);
    }
  });
}

/// Where there are fewer heads than threads: blocks of keys first, then blocks of queries.
template <class T>
void backward_by_blocks(const AttentionProblem<T>& p, const BackwardOperands<T>& o) {
  using A = opmath_t<T>;
  const int64_t key_blocks = (p.keys + kKeyBlock - 1) / kKeyBlock;
  parallel_for(0, p.batches * p.groups * key_blocks, 1, [&](int64_t begin, int64_t end) {
    BackwardWorker<T> worker(p, o);
    for (int64_t t = begin; t < end; ++t)
      worker.keys(t / key_blocks / p.groups, t / key_blocks % p.groups, t % key_blocks * kKeyBlock,
                  nullptr);
  });
  const int64_t blocks = (p.queries + kQueryBlock - 1) / kQueryBlock;
  parallel_for(0, p.batches * p.heads * blocks, 1, [&](int64_t begin, int64_t end) {
    BackwardWorker<T> worker(p, o);
    const ScratchArray<A> grad_query(kQueryBlock * p.width);
    for (int64_t t = begin; t < end; ++t)
      worker.queries(t / blocks / p.heads, t / blocks % p.heads, t % blocks * kQueryBlock,
                     grad_query.get());
  });
}

void attention_backward_kernel(const Tensor& grad_query, const Tensor& grad_key,
                               const Tensor& grad_value, const Tensor& grad, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& mask,
                               const Tensor& out, const Tensor& log_sum, AttentionSpec spec,
                               const PhiloxState& state, const Tensor& kept) {
  dispatch(FloatTypes{}, attention_backward_slot.name(), query.dtype(), [&]<class T>() {
    const AttentionProblem<T> p(query, key, value, mask, spec, state, kept);
    const BackwardOperands<T> o{HeadMatrices<const T>(grad), HeadMatrices<const T>(out),
                                HeadMatrices<T>(grad_query), HeadMatrices<T>(grad_key),
                                HeadMatrices<T>(grad_value), log_sum.data_ptr<opmath_t<T>>()};
    const int64_t work = p.queries * p.keys * (p.width + p.value_width);
    if (p.batches * p.groups >= get_num_threads() || work < kParallelGrain)
      backward_by_heads(p, o);
    else
      backward_by_blocks(p, o);
  });
}

}  // namespace

void register_attention() {
  attention_slot.set(kCPU, &attention_kernel);
  attention_backward_slot.set(kCPU, &attention_backward_kernel);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
