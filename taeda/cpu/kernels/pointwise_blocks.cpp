// The driver of all pointwise kernels: see Note [Blocks] in loops.h.
#include <numeric>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/move.h"
#include "taeda/cpu/kernels/pointwise_access.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Elements of a block of 16-bit numbers: what is asked for ahead are few enough lines to be under
/// way at once.
constexpr int64_t kHalfBlock = 256;
/// Elements of a block with operands that are converted: whatever they are, they fit into half of
/// a buffer before and after.
constexpr int64_t kConvertedBlock = 256;
static_assert(kConvertedBlock * 16 <= kBufferBytes / 2);
/// Outputs above this size go past the caches: they would not stay there, and a normal store reads
/// the line first.
constexpr int64_t kStreamBytes = int64_t{16} << 20;
constexpr int64_t kLine = 64;  // bytes of a line of the cache

/// The input that is one value beside an array, if the kernel has a loop for it; -1 without.
template <class IsValue>
int find_value(const BlockKernel& k, IsValue&& is_value) {
  for (int i = 0; i < 2; ++i)
    if (k.beside_value[i] && is_value(i) && !is_value(1 - i)) return i;
  return -1;
}

// ---- tiles ----

/// Note [Tiles]
/// Operands with rows of their own - a bias, a part of a matrix, a transposed matrix - are computed
/// with where they lie: row by row, a call of the formula for each piece of a row, without a copy.
/// Dimension 0 runs along the rows. An operand whose neighbours are in another dimension, the
/// plane's, is transposed in registers into a buffer for a few rows at a time. A tile is so many
/// rows that finding it costs nothing beside them; where tiles end depends on sizes alone, so
/// results do not depend on the number of threads.
class Tiles {
 public:
  /// Whether the operands can be taken so, and it pays.
  bool cut(const Iter& it, const BlockKernel& k, const Access& out, const Access* in, bool stream) {
    it_ = &it;
    out_ = out;
    in_ = in;
    stream_ = stream;
    if (it.stride(0, 0) != out.item) return false;
    int64_t widest = 0, item = std::max<int64_t>(out.item, 4);
    for (int i = 0; i < inputs(); ++i) {
      item = std::max(item, in[i].item);
      const int64_t step = it.stride(i + 1, 0);
      if (in[i].kind == Access::Kind::Constant || step == in[i].item || step == 0) continue;
      const int plane = plane_of(i);
      if (plane == 0 || (plane_ != 0 && plane != plane_)) return false;
      plane_ = plane;
      transposed_[i] = true;
      widest = std::max(widest, in[i].item);
    }
    value_ = find_value(k, [&](int i) { return it.stride(i + 1, 0) == 0; });
    compute_ = value_ < 0 ? k.compute : k.beside_value[value_];
    plain_ = widest == 0 && !stream && !out.is_half();
    for (int i = 0; i < inputs(); ++i)
      plain_ &= !in[i].is_half() && (it.stride(i + 1, 0) != 0 || i == value_);
    const int64_t width = it.size(0);
    if (width < (widest > 0 ? kSquare : value_ < 0 ? kShortestRow : kShortestBesideValue))
      return false;
    piece_ = std::min(width, widest > 0 ? kTransposedPiece : std::min(kBlock, kBufferBytes / item));
    square_rows_ = widest > 0 ? kLine / widest : kTileRows;
    if (plane_ == 0) plane_ = 1;
    pieces_ = (width + piece_ - 1) / piece_;
    bands_ = (it.size(plane_) + kTileRows - 1) / kTileRows;
    return true;
  }

  void run(const BlockKernel& k) const {
    const int64_t outer = it_->numel() / (it_->size(0) * it_->size(plane_));
    const int64_t rows = std::min(kTileRows, it_->size(plane_));
    const int64_t grain = std::max<int64_t>(1, kParallelGrain / (rows * piece_));
    parallel_for(0, outer * pieces_ * bands_, grain,
                 [&](int64_t begin, int64_t end) { run_range(k, begin, end); });
  }

 private:
  static constexpr int64_t kTileRows = 64;
  /// Below, copying rows into blocks costs less than a call for each.
  static constexpr int64_t kShortestRow = 128, kShortestBesideValue = 24;
  static constexpr int64_t kSquare = 16;
  static constexpr int64_t kTransposedPiece = kBufferBytes / kLine;

  int inputs() const { return it_->noperands() - 1; }

  /// The dimension in which input i has its neighbours; 0 without.
  int plane_of(int i) const {
    for (int d = 1; d < it_->ndim(); ++d)
      if (it_->stride(i + 1, d) == in_[i].item && it_->size(d) >= 4) return d;
    return 0;
  }

  /// Buffers of a thread.
  struct Buffers {
    alignas(64) char values[Iter::kMaxOperands][kBufferBytes];  // the last one for results
    alignas(64) char squares[Iter::kMaxOperands - 1][kBufferBytes];
  };

  __attribute__((noinline)) void run_range(const BlockKernel& k, int64_t begin, int64_t end) const {
    Buffers buffers;
    for (int i = 0; i < inputs(); ++i)
      if (in_[i].kind == Access::Kind::Constant) in_[i].load_constant(piece_, buffers.values[i]);
    char* at[Iter::kMaxOperands];
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t row = tile % bands_ * kTileRows, column = tile / bands_ % pieces_ * piece_;
      locate(tile / (bands_ * pieces_), row, column, at);
      run_tile(k, at, std::min(kTileRows, it_->size(plane_) - row),
               std::min(piece_, it_->size(0) - column), buffers);
    }
    if (stream_) stream_fence();
  }

  /// Addresses of the operands' elements at a row and column of the plane number `outer`.
  void locate(int64_t outer, int64_t row, int64_t column, char** at) const {
    for (int i = 0; i < it_->noperands(); ++i)
      at[i] = it_->data(i) + row * it_->stride(i, plane_) + column * it_->stride(i, 0);
    for (int d = 1; d < it_->ndim(); ++d) {
      if (d == plane_) continue;
      const int64_t index = outer % it_->size(d);
      outer /= it_->size(d);
      for (int i = 0; i < it_->noperands(); ++i) at[i] += index * it_->stride(i, d);
    }
  }

  void run_tile(const BlockKernel& k, char** at, int64_t rows, int64_t n, Buffers& buffers) const {
    const void* in[Iter::kMaxOperands];
    if (plain_) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int i = 0; i < inputs(); ++i) in[i] = at[i + 1] + r * it_->stride(i + 1, plane_);
        compute_(k.formula, at[0] + r * it_->stride(0, plane_), in, n);
      }
      return;
    }
    for (int64_t r = 0; r < rows; ++r) {
      if (r % square_rows_ == 0) transpose(at, r, std::min(square_rows_, rows - r), n, buffers);
      for (int i = 0; i < inputs(); ++i) in[i] = row_of(i, at[i + 1], r, n, buffers);
      char* const to = at[0] + r * it_->stride(0, plane_);
      if (!out_.is_half() && !stream_) {
        compute_(k.formula, to, in, n);
        continue;
      }
      char* const result = buffers.values[Iter::kMaxOperands - 1];
      compute_(k.formula, result, in, n);
      store(to, result, n);
    }
  }

  void transpose(char** at, int64_t row, int64_t rows, int64_t n, Buffers& buffers) const {
    for (int i = 0; i < inputs(); ++i) {
      if (!transposed_[i]) continue;
      with_item(in_[i].item, [&](auto sample) {
        using T = decltype(sample);
        transpose_part<T>(buffers.squares[i], kTransposedPiece * in_[i].item,
                          at[i + 1] + row * in_[i].item, it_->stride(i + 1, 0), n, rows);
      });
    }
  }

  /// n elements of input i in row r of a tile, as an array of the computing type; of the value one.
  const void* row_of(int i, const char* tile, int64_t r, int64_t n, Buffers& buffers) const {
    const Access& a = in_[i];
    char* const values = buffers.values[i];
    if (a.kind == Access::Kind::Constant) return values;
    const char* from = transposed_[i]
                           ? buffers.squares[i] + r % square_rows_ * kTransposedPiece * a.item
                           : tile + r * it_->stride(i + 1, plane_);
    if (it_->stride(i + 1, 0) == 0) {
      if (i == value_ && !a.is_half()) return from;
      Access one = a;
      one.data = const_cast<char*>(from);
      one.load_constant(i == value_ ? 1 : n, values);
      return values;
    }
    if (a.dtype == kHalf)
      widen(reinterpret_cast<float*>(values), reinterpret_cast<const Half*>(from), n);
    else if (a.dtype == kBFloat16)
      widen(reinterpret_cast<float*>(values), reinterpret_cast<const BFloat16*>(from), n);
    return a.is_half() ? values : from;
  }

  void store(char* to, char* result, int64_t n) const {
    if (out_.dtype == kHalf)
      return narrow(reinterpret_cast<Half*>(to), reinterpret_cast<float*>(result), n);
    if (out_.dtype == kBFloat16)
      return narrow(reinterpret_cast<BFloat16*>(to), reinterpret_cast<float*>(result), n);
    if (reinterpret_cast<uintptr_t>(to) % 64 == 0) return stream_copy(to, result, n * out_.item);
    std::memcpy(to, result, static_cast<size_t>(n * out_.item));
  }

  const Iter* it_ = nullptr;
  Access out_;
  const Access* in_ = nullptr;
  bool stream_ = false;
  bool plain_ = false;  // every row is computed with where it lies
  bool transposed_[Iter::kMaxOperands - 1] = {};
  int plane_ = 0, value_ = -1;
  BlockKernel::Compute compute_ = nullptr;
  int64_t piece_ = 0, pieces_ = 0, bands_ = 0, square_rows_ = 0;
};

// ---- all operands ----

class Driver {
 public:
  Driver(const Iter& it, const BlockKernel& k) : it_(it), k_(k), out_(it, 0, k.out) {
    int64_t widest = std::max<int64_t>(out_.item, 4);
    bool any_half = out_.is_half();
    for (int i = 1; i < it.noperands(); ++i) {
      in_[i - 1] = Access(it, i, k.in[i - 1]);
      widest = std::max(widest, in_[i - 1].item);
      any_half |= in_[i - 1].is_half();
      in_place_ |= it.data(i) == out_.data;
    }
    block_ = std::min(any_half ? kHalfBlock : kBlock, kBufferBytes / widest);
    const auto address = reinterpret_cast<uintptr_t>(out_.data);
    stream_ = out_.kind == Access::Kind::Array && it.numel() * out_.item > kStreamBytes &&
              !in_place_ && address % 64 == 0;
    direct_out_ = out_.kind == Access::Kind::Array && !out_.is_half() && !stream_;
    const auto is_constant = [&](int i) { return in_[i].kind == Access::Kind::Constant; };
    const int value = find_value(k, is_constant);
    compute_ = value < 0 ? k.compute : k.beside_value[value];
    if (value >= 0) values_ = 1u << value;
    if (k.beside_values && is_constant(1) && is_constant(2) && !is_constant(0)) {
      compute_ = k.beside_values;
      values_ = 0b110;
    }
    for (int i = 0; i < inputs(); ++i)
      whole_ &= (in_[i].kind == Access::Kind::Array || is_value(i)) && !in_[i].is_half();
  }

  /// Makes it convert the operands that have another dtype in memory.
  void convert(Conversions& conversions) {
    conversions.add(it_, 0, k_.out, out_);
    for (int i = 0; i < inputs(); ++i) conversions.add(it_, i + 1, k_.in[i], in_[i]);
    block_ = kConvertedBlock;
    whole_ = false;
    if (!out_.conversion) return;
    stream_ = false;
    direct_out_ = false;
  }

  /// Note [Repeated rows]
  /// A row for all - a bias, channels-last images' scale - is repeated in a buffer once, as often
  /// as whole rows fit into a block, and then is like any array, however short it is. False where
  /// operands are not so.
  bool repeat_rows() {
    int64_t period = 0;
    for (int i = 0; i < inputs(); ++i) {
      if (in_[i].kind != Access::Kind::Strided) continue;
      const int64_t length = in_[i].period(it_);
      if (length == 0 || (period != 0 && length != period)) return false;
      period = length;
    }
    if (period == 0 || out_.kind != Access::Kind::Array) return false;
    // Blocks begin at lines of the cache, as streamed stores need it.
    const int64_t rows = period * (kLine / std::gcd(period * out_.item, kLine));
    if (rows > block_) return false;
    block_ = block_ / rows * rows;
    unit_ = block_;
    period_ = period;
    return true;
  }

  /// Elements at whose multiples threads may start.
  int64_t unit() const { return unit_; }

  /// Whether `tiles` describes a better way than blocks; filled in if so.
  bool cut(Tiles& tiles) const {
    bool strided = out_.kind == Access::Kind::Strided;
    for (int i = 0; i < inputs(); ++i) strided |= in_[i].kind == Access::Kind::Strided;
    return strided && tiles.cut(it_, k_, out_, in_, stream_);
  }

  void run(int64_t begin, int64_t end) const {
    const void* in[Iter::kMaxOperands];
    if (whole_ && direct_out_) {
      for (int i = 0; i < inputs(); ++i)
        in[i] = in_[i].data + (is_value(i) ? 0 : begin * in_[i].item);
      compute_(k_.formula, out_.data + begin * out_.item, in, end - begin);
      return;
    }
    run_buffered(begin, end, in);
  }

 private:
  int inputs() const { return it_.noperands() - 1; }
  /// Whether the loop takes input i as one value.
  bool is_value(int i) const { return values_ >> i & 1; }

  __attribute__((noinline)) void run_buffered(int64_t begin, int64_t end, const void** in) const {
    alignas(64) char buffers[Iter::kMaxOperands][kBufferBytes];
    const int64_t first = std::min(block_, end - begin);
    bool kept[Iter::kMaxOperands] = {};
    for (int i = 0; i < inputs(); ++i) {
      const bool constant = in_[i].kind == Access::Kind::Constant;
      kept[i] = constant || (in_[i].kind == Access::Kind::Strided && period_ > 0);
      if (!kept[i]) continue;
      in[i] = buffers[i];
      if (constant)
        in_[i].load_constant(is_value(i) ? 1 : first, buffers[i]);
      else
        in_[i].load_repeated(period_, first, buffers[i]);
    }
    char* result = buffers[Iter::kMaxOperands - 1];
    for (int64_t at = begin; at < end;) {
      const int64_t n = std::min(block_, end - at);
      for (int i = 0; i < inputs(); ++i)
        if (!kept[i]) in[i] = in_[i].load(it_, at, n, buffers[i]);
      if (direct_out_) {
        compute_(k_.formula, out_.data + at * out_.item, in, n);
      } else {
        compute_(k_.formula, result, in, n);
        out_.store(it_, at, n, result, stream_);
      }
      at += n;
    }
    if (stream_) stream_fence();
  }

  const Iter& it_;
  const BlockKernel& k_;
  Access out_;
  Access in_[Iter::kMaxOperands - 1];
  BlockKernel::Compute compute_;
  unsigned values_ = 0;
  int64_t block_ = kBlock, unit_ = kBlock, period_ = 0;
  bool whole_ = true, in_place_ = false, stream_ = false, direct_out_ = true;
};

}  // namespace

namespace {

void run_driver(const Iter& it, const Driver& driver) {
  if (it.numel() <= kParallelGrain) return driver.run(0, it.numel());
  // Threads start at a block, so that streamed stores stay aligned.
  const int64_t unit = driver.unit(), blocks = (it.numel() + unit - 1) / unit;
  parallel_for(0, blocks, std::max<int64_t>(1, kParallelGrain / unit),
               [&](int64_t b, int64_t e) { driver.run(b * unit, std::min(e * unit, it.numel())); });
}

/// Apart, so that operands of one dtype do not pay for it.
__attribute__((noinline)) void run_mixed(const Iter& it, const BlockKernel& k) {
  Conversions conversions;
  Driver driver(it, k);
  driver.convert(conversions);
  run_driver(it, driver);
}

/// Arrays, one of which may be one value beside another, with so few elements that this thread
/// takes them whole: what a Driver would come to, without making one, which costs more than a
/// hundred elements do. False where operands are not so.
bool run_plain(const Iter& it, const BlockKernel& k) {
  const int64_t n = it.numel();
  if (it.ndim() > 1 || n > kParallelGrain || is_reduced_floating(k.out)) return false;
  if (n > 1 && it.stride(0, 0) != element_size(k.out)) return false;
  BlockKernel::Compute compute = k.compute;
  const void* in[Iter::kMaxOperands];
  for (int i = 0; i + 1 < it.noperands(); ++i) {
    const ScalarType t = k.in[i];
    if (is_reduced_floating(t)) return false;
    if (n > 1 && it.stride(i + 1, 0) != element_size(t)) {
      const bool is_value = it.stride(i + 1, 0) == 0 && i < 2 && k.beside_value[i];
      if (!is_value || compute != k.compute) return false;
      compute = k.beside_value[i];
    }
    in[i] = it.data(i + 1);
  }
  compute(k.formula, it.data(0), in, n);
  return true;
}

}  // namespace

void run_blocks(const Iter& it, const BlockKernel& k) {
  if (it.numel() == 0) return;
  if (it.is_mixed()) [[unlikely]]
    return run_mixed(it, k);
  if (run_plain(it, k)) return;
  Driver driver(it, k);
  if (it.ndim() > 1 && !driver.repeat_rows()) {
    Tiles tiles;
    if (driver.cut(tiles)) return tiles.run(k);
  }
  run_driver(it, driver);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
