// Matrix products through oneDNN.
#include "taeda/cpu/onednn.h"

#if defined(TAEDA_HAS_ONEDNN)
#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/onednn_cache.h"
#endif

namespace taeda::cpu::onednn {

#if defined(TAEDA_HAS_ONEDNN)

namespace {

// Multiply-adds that a thread of its own pays for.
constexpr int64_t kPartWork = int64_t{1} << 21;

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

/// Runs the part of a product that begins at the given batch, row and column.
void run_part(const MatmulKey& key, const Tensor& out, const Tensor& a, const Tensor& b,
              const Tensor& addend, int64_t batch, int64_t row, int64_t column) {
  static thread_local Cache<MatmulKey, Matmul> cache;
  const Matmul& m = cache.get(key, [&] { return Matmul(key); });
  const auto at = [&](const Tensor& t, const int64_t* s, int64_t i, int64_t j) -> void* {
    return static_cast<char*>(t.data_ptr()) +
           (batch * s[0] + i * s[1] + j * s[2]) * t.element_size();
  };
  m.arguments.set(0, at(a, key.strides[0], row, 0));
  m.arguments.set(1, at(b, key.strides[1], 0, column));
  m.arguments.set(2, at(out, key.strides[2], row, column));
  if (key.bias)
    m.arguments.set(3, static_cast<char*>(addend.data_ptr()) + column * addend.element_size());
  const ThreadScope scope(1);
  m.arguments.run(m.primitive);
}

/// Parts of a dimension, at least `least` long.
int64_t part_length(int64_t size, int64_t parts, int64_t least) {
  return std::min(size, std::max((size + parts - 1) / parts, least));
}

/// The addend is one row for all.
bool is_row(const Tensor& addend) {
  const IntArrayRef s = addend.strides();
  for (size_t d = 0; d + 1 < s.size(); ++d)
    if (s[d] != 0 && addend.sizes()[d] > 1) return false;
  return s.back() == 1 && addend.dim() >= 2;
}

}  // namespace

bool matmul(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
            const Scalar& beta, const Scalar& alpha) {
  if (!onednn_enabled() || !takes(out.dtype()) || !alpha.equal(1)) return false;
  if (addend.defined() && !(beta.equal(1) && is_row(addend))) return false;
  if (a.size(-1) == 0 || !out.is_contiguous() || !is_plain(a) || !is_plain(b)) return false;
  // oneDNN's own threads may share out k, and then sums depend on their number. So the product is
  // cut into parts by a rule of the sizes, and a part is the work of one thread.
  MatmulKey key{};
  const Tensor* operands[] = {&a, &b, &out};
  const bool batched = out.dim() == 3;
  for (int i = 0; i < 3; ++i)
    for (int64_t d = 0; d < out.dim(); ++d)
      key.strides[i][d + (batched ? 0 : 1)] = operands[i]->stride(d);
  key.bias = addend.defined();
  key.dtype = static_cast<int32_t>(out.dtype());
  key.k = a.size(-1);
  const int64_t count = batched ? out.size(0) : 1, m = out.size(-2), n = out.size(-1);
  const int64_t parts = std::clamp<int64_t>(m * n * key.k / kPartWork, 1, 16);
  const int64_t group = part_length(count, 16, std::max<int64_t>(1, kPartWork / (m * n * key.k)));
  const bool by_row = m >= n;
  const int64_t rows = by_row ? part_length(m, parts, 48) : m;
  const int64_t columns = by_row ? n : part_length(n, parts, 48);
  const int64_t row_parts = (m + rows - 1) / rows, column_parts = (n + columns - 1) / columns;
  const int64_t matrix_parts = row_parts * column_parts;
  parallel_for(0, (count + group - 1) / group * matrix_parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t batch = part / matrix_parts * group,
                    row = part % matrix_parts / column_parts * rows,
                    column = part % column_parts * columns;
      MatmulKey mine = key;
      mine.batch = batched ? std::min(group, count - batch) : 0;
      mine.m = std::min(rows, m - row);
      mine.n = std::min(columns, n - column);
      run_part(mine, out, a, b, addend, batch, row, column);
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

}  // namespace taeda::cpu::onednn
