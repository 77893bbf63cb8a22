// Matrix products through oneDNN.
#include "taeda/cpu/onednn.h"

#if defined(TAEDA_HAS_ONEDNN)
#include "taeda/cpu/onednn_cache.h"
#endif

namespace taeda::cpu::onednn {

#if defined(TAEDA_HAS_ONEDNN)

namespace {

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
  Dims shape[3];  // sizes, then strides, of a, b, out
  int32_t bias;
  int16_t dtype, threads;
  bool operator==(const MatmulKey&) const = default;
};

dnnl::memory::desc describe(const Tensor& t, dnnl::memory::data_type type) {
  return {to_dims(t.sizes()), type, to_dims(t.strides())};
}

struct Matmul {
  dnnl::matmul primitive;
  Arguments arguments;

  Matmul(const Tensor& out, const Tensor& a, const Tensor& b, bool bias) {
    const auto type = data_type(out.dtype());
    const auto ma = describe(a, type), mb = describe(b, type), mo = describe(out, type);
    dnnl::memory::desc bias_md;
    if (bias) {
      dnnl::memory::dims dims(static_cast<size_t>(out.dim()), 1);
      dims.back() = out.size(-1);
      bias_md = {dims, type,
                 out.dim() == 3 ? dnnl::memory::format_tag::abc : dnnl::memory::format_tag::ab};
    }
    const auto desc =
        bias ? dnnl::matmul::desc(ma, mb, bias_md, mo) : dnnl::matmul::desc(ma, mb, mo);
    const dnnl::matmul::primitive_desc pd(desc, engine());
    primitive = dnnl::matmul(pd);
    arguments.add(DNNL_ARG_SRC, ma);
    arguments.add(DNNL_ARG_WEIGHTS, mb);
    arguments.add(DNNL_ARG_DST, mo);
    if (bias) arguments.add(DNNL_ARG_BIAS, bias_md);
  }
};

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
  MatmulKey key{};
  const Tensor* operands[] = {&a, &b, &out};
  for (int i = 0; i < 3; ++i) key.shape[i] = Dims::of(*operands[i]);
  key.bias = addend.defined();
  key.dtype = static_cast<int16_t>(out.dtype());
  key.threads = static_cast<int16_t>(threads());
  static thread_local Cache<MatmulKey, Matmul> cache;
  Matmul& m = cache.get(key, [&] { return Matmul(out, a, b, key.bias); });
  m.arguments.set(0, a.data_ptr());
  m.arguments.set(1, b.data_ptr());
  m.arguments.set(2, out.data_ptr());
  if (key.bias) m.arguments.set(3, addend.data_ptr());
  m.arguments.run(m.primitive);
  return true;
}

#else

bool matmul(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Scalar&,
            const Scalar&) {
  return false;
}

#endif

}  // namespace taeda::cpu::onednn
