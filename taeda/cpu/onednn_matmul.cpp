// Matrix products through oneDNN.
#include "taeda/cpu/onednn.h"

#if defined(TAEDA_HAS_ONEDNN)
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/host_copy.h"
#include "taeda/cpu/onednn_cache.h"
#include "taeda/cpu/scratch.h"
#endif

namespace taeda::inline v0_2::cpu::onednn {

#if defined(TAEDA_HAS_ONEDNN)

namespace {

// Multiply-adds of a part of a product, and of the smallest product that has two.
constexpr int64_t kPartWork = int64_t{1} << 21, kSplitFrom = 400000;

/// A matrix or a batch of them as oneDNN takes it: one of the last two strides is 1, the other at
/// least as large as the row.
bool is_plain(const Tensor& t) {
  const IntArrayRef size = t.sizes(), stride = t.strides();
  const size_t j = size.size() - 1, i = j - 1;
  if (j == 2 && stride[0] < size[1] * size[2] && size[0] > 1) return false;
  return (stride[j] == 1 && stride[i] >= std::max<int64_t>(size[j], 1)) ||
         (stride[i] == 1 && stride[j] >= std::max<int64_t>(size[i], 1));
}

/// Everything that a primitive depends on.
struct MatmulKey {
  int64_t batch, m, n, k;  // batch 0: plain matrices
  int64_t strides[3][3];   // of a, b, out
  int32_t bias;
  int32_t dtype;
  bool operator==(const MatmulKey&) const = default;
};

/// A product of one thread.
struct Matmul {
  dnnl::matmul primitive;
  Arguments arguments;

  explicit Matmul(const MatmulKey& key) {
    const ThreadScope scope(1);
    const auto type = data_type(static_cast<ScalarType>(key.dtype));
    const auto describe = [&](int operand, int64_t rows, int64_t columns) -> dnnl::memory::desc {
      const int64_t* s = key.strides[operand];
      if (key.batch == 0) return {{rows, columns}, type, dnnl::memory::dims{s[1], s[2]}};
      return {{key.batch, rows, columns}, type, dnnl::memory::dims{s[0], s[1], s[2]}};
    };
    const auto ma = describe(0, key.m, key.k), mb = describe(1, key.k, key.n),
               mo = describe(2, key.m, key.n);
    dnnl::memory::desc bias;
    if (key.bias) {
      dnnl::memory::dims dims(key.batch == 0 ? 2 : 3, 1);
      dims.back() = key.n;
      using Tag = dnnl::memory::format_tag;
      bias = {dims, type, key.batch == 0 ? Tag::ab : Tag::abc};
    }
    const auto desc =
        key.bias ? dnnl::matmul::desc(ma, mb, bias, mo) : dnnl::matmul::desc(ma, mb, mo);
    primitive = dnnl::matmul(dnnl::matmul::primitive_desc(desc, engine()));
    arguments.add(DNNL_ARG_SRC, ma);
    arguments.add(DNNL_ARG_WEIGHTS, mb);
    arguments.add(DNNL_ARG_DST, mo);
    if (key.bias) arguments.add(DNNL_ARG_BIAS, bias);
  }
};

/// Note [Spread rows]
/// Rows that begin a multiple of 2 KiB apart fall into one or two sets of the first cache. oneDNN
/// reads short products down the columns without packing them, and then every number is a miss:
/// 64 x 1024 by 1024 x 1024 took four times as long as by rows of 1040, 65 x 1024 by 1024 x 256,
/// the transpose of rows, twice. So such rows are copied, a cache line apart.
constexpr int64_t kSameSets = 2048, kLine = 64;

/// An operand as it is multiplied: where it lies, or a copy.
class Operand {
 public:
  explicit Operand(const Tensor& t)
      : data_(static_cast<char*>(t.data_ptr())), bytes_(t.element_size()) {}

  char* at(int64_t offset) const { return data_ + offset * bytes_; }

  /// Copies a matrix of `count` rows of `length` adjacent elements if they need it.
  void spread(int64_t count, int64_t length, int64_t* stride) {
    if (*stride * bytes_ % kSameSets != 0 || count < 2) return;
    const int64_t row = length * bytes_, from = *stride * bytes_, to = row + kLine;
    copy_.emplace(static_cast<size_t>(count * to));
    auto* out = copy_->as<char>();
    parallel_for(0, count, std::max<int64_t>(1, kParallelGrain / row), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) std::memcpy(out + i * to, data_ + i * from, row);
    });
    data_ = out;
    *stride = to / bytes_;
  }

 private:
  char* data_;
  int64_t bytes_;
  std::optional<Scratch> copy_;
};

/// Note [Transposed left operands]
/// oneDNN 2.6 brings a transposed left operand into rows by AVX-512 code that keeps numbers further
/// below the stack pointer than the system lets a signal's handler spare. A signal during a
/// product - Ctrl-C, a timer, a profiler - then changed addresses that the code writes to. So such
/// an operand is transposed here, which takes up to a tenth of the product.
bool must_be_transposed(const Tensor& a) {
  static const bool avx512 = [] {
    const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
  }();
  return avx512 && a.stride(-1) != 1 && a.size(-1) > 1;
}

/// `a` with rows of adjacent elements, in `memory`.
Tensor transposed(const Tensor& a, std::optional<Scratch>& memory) {
  const int64_t item = a.element_size(), m = a.size(-2), k = a.size(-1);
  const int64_t row = k + (k * item % kSameSets == 0 ? kLine / item : 0);
  const bool batched = a.dim() == 3;
  const int64_t count = batched ? a.size(0) : 1;
  memory.emplace(static_cast<size_t>(count * m * row * item));
  DimVector strides{m * row, row, 1};
  if (!batched) strides.erase(0);
  Layout layout{a.sizes(), strides, 0};
  copy_on_host("matmul", memory->data(), layout, a.data_ptr(), {a.sizes(), a.strides(), 0},
               a.dtype());
  // Of `a`'s device: those of plug-ins may compute by this kernel, too.
  const auto bytes = static_cast<size_t>(layout.checked_storage_nbytes(item));
  Storage storage = Storage::from_user(memory->data(), bytes, a.device(), nullptr);
  Tensor out(make_intrusive<TensorImpl>(std::move(storage), std::move(layout), a.dtype()));
  return out;
}

struct Operands {
  Operand a, b, out;
  std::optional<Operand> addend;
};

/// Spreads the rows of float operands that enough of the others are multiplied with.
void spread(Operands& operands, MatmulKey& key, int64_t m, int64_t n) {
  constexpr int64_t kWorthACopy = 32;
  int64_t *a = key.strides[0], *b = key.strides[1];
  if (static_cast<ScalarType>(key.dtype) != kFloat) return;
  if (a[1] == 1 && a[2] != 1 && n >= kWorthACopy) operands.a.spread(key.k, m, &a[2]);
  if (b[2] == 1 && m >= kWorthACopy) operands.b.spread(key.k, n, &b[1]);
  // Weights of a layer, as they lie: oneDNN packs those of few columns, and for many rows.
  if (b[1] == 1 && b[2] != 1 && m >= 16 && m <= 256 && n >= 128) operands.b.spread(n, key.k, &b[2]);
}

/// Runs the part of a product that begins at the given batch, row and column.
void run_part(const MatmulKey& key, const Operands& operands, int64_t batch, int64_t row,
              int64_t column) {
  static thread_local Cache<MatmulKey, Matmul> cache;
  const Matmul& m = cache.get(key, [&] { return Matmul(key); });
  const auto at = [&](const Operand& o, const int64_t* s, int64_t i, int64_t j) {
    return o.at(batch * s[0] + i * s[1] + j * s[2]);
  };
  m.arguments.set(0, at(operands.a, key.strides[0], row, 0));
  m.arguments.set(1, at(operands.b, key.strides[1], 0, column));
  m.arguments.set(2, at(operands.out, key.strides[2], row, column));
  if (key.bias) m.arguments.set(3, operands.addend->at(column));
  const ThreadScope scope(1);
  m.arguments.run(m.primitive);
}

/// Rows or columns in parts. They are whole registers - of 49 columns the last one would take a
/// register for itself - and of many columns three of them, which oneDNN goes through at once: 64
/// take it a tenth longer than 48 or 96. Parts differ by one such block at most, and a power of two
/// of them is an even share for as many threads.
struct Parts {
  int64_t size, count, block;

  Parts(int64_t n, int64_t wanted, bool columns)
      : size(n), count(std::clamp<int64_t>(n / kLeast, 1, wanted)), block(kRegister) {
    count = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count)));
    if (columns && n >= kManyColumns) block = 3 * kRegister;
  }
  int64_t begin(int64_t part) const {
    return std::min(size, (size + block - 1) / block * part / count * block);
  }

 private:
  static constexpr int64_t kLeast = 48, kRegister = 16, kManyColumns = 384;
};

int64_t part_count(int64_t work) {
  if (work < kSplitFrom) return 1;
  const auto parts = static_cast<uint64_t>((work + kPartWork - 1) / kPartWork);
  return std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(parts)), 2, 16);
}

/// The addend is one row for all.
bool is_row(const Tensor& addend) {
  const IntArrayRef s = addend.strides();
  for (size_t d = 0; d + 1 < s.size(); ++d)
    if (s[d] != 0 && addend.sizes()[d] > 1) return false;
  return s.back() == 1 && addend.dim() >= 2;
}

}  // namespace

bool matmul(const Tensor& out, const Tensor& left, const Tensor& b, const Tensor& addend,
            const Scalar& beta, const Scalar& alpha) {
  if (!onednn_enabled() || !takes(out.dtype()) || !alpha.equal(1)) return false;
  if (addend.defined() && !(beta.equal(1) && is_row(addend))) return false;
  if (left.size(-1) == 0 || !out.is_contiguous() || !is_plain(left) || !is_plain(b)) return false;
  std::optional<Scratch> rows_of_left;
  const Tensor a = must_be_transposed(left) ? transposed(left, rows_of_left) : left;
  // oneDNN's own threads may share out k, and then sums depend on their number. So the product is
  // cut into parts by a rule of the sizes, and a part is the work of one thread.
  MatmulKey key{};
  const Tensor* tensors[] = {&a, &b, &out};
  const bool batched = out.dim() == 3;
  for (int i = 0; i < 3; ++i)
    for (int64_t d = 0; d < out.dim(); ++d)
      key.strides[i][d + (batched ? 0 : 1)] = tensors[i]->stride(d);
  key.bias = addend.defined();
  key.dtype = static_cast<int32_t>(out.dtype());
  key.k = a.size(-1);
  const int64_t count = batched ? out.size(0) : 1, m = out.size(-2), n = out.size(-1);
  Operands operands{Operand(a), Operand(b), Operand(out), {}};
  if (addend.defined()) operands.addend.emplace(addend);
  if (!batched) spread(operands, key, m, n);
  const int64_t group = std::max<int64_t>(
      {(count + 15) / 16, std::min(count, kPartWork / (m * n * key.k)), int64_t{1}});
  const bool by_row = m >= n;
  const Parts parts(by_row ? m : n, part_count(m * n * key.k), !by_row);
  const int64_t matrix_parts = parts.count;
  parallel_for(0, (count + group - 1) / group * matrix_parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t batch = part / matrix_parts * group, i = part % matrix_parts;
      const int64_t first = parts.begin(i), length = parts.begin(i + 1) - first;
      MatmulKey mine = key;
      mine.batch = batched ? std::min(group, count - batch) : 0;
      mine.m = by_row ? length : m;
      mine.n = by_row ? n : length;
      run_part(mine, operands, batch, by_row ? first : 0, by_row ? 0 : first);
    }
  });
  return true;
}

#else

bool matmul(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Scalar&,
            const Scalar&) {
  return false;
}

#endif

}  // namespace taeda::inline v0_2::cpu::onednn
