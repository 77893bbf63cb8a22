#include "taeda/ops/create/create.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "bodies/create.h"
#include "bodies/tensor_methods.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/runs_once.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/device/transfer.h"
#include "taeda/kernels/copy.h"
#include "taeda/kernels/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/create/determinism.h"
#include "taeda/ops/create/stored.h"
#include "taeda/ops/create/unwritten.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/meta_guard.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2 {

namespace {

using detail::device_of;
using detail::finish;
using detail::finish_empty;

/// Fills memory that nobody has seen: unlike fill_, it counts as no change.
void fill_new(const Tensor& out, const Scalar& value) { detail::fill_elements(out, value); }

/// The whole memory of a new tensor, whatever the order of its dimensions; a sparse one has none.
inline void fill_storage_with_zeros(const Tensor& fresh) {
  const StorageImpl& storage = *fresh.storage().get();
  if (storage.nbytes() > 0) fill_zero(storage.data_for_work(), storage.device(), storage.nbytes());
}

/// A tensor over memory that exists.
Tensor wrap(Storage storage, const Layout& layout, ScalarType dtype) {
  auto impl = make_intrusive<TensorImpl>(std::move(storage), Layout(layout), dtype);
  impl->inference = InferenceMode::is_enabled();
  return Tensor(std::move(impl));
}

ScalarType dtype_of_number(const Scalar& value) {
  if (value.is_floating_point()) return get_default_dtype();
  if (value.is_integral()) return kLong;
  return value.is_complex() ? to_complex_type(get_default_dtype()) : kBool;
}

constinit std::atomic<bool> deterministic{false}, warn_only_mode{false}, fill_memory{true};

/// What stands in memory that was not written to.
Scalar unwritten(ScalarType dtype) {
  if (is_floating_point(dtype) || is_complex(dtype))
    return std::numeric_limits<double>::quiet_NaN();
  if (dtype == kBool) return true;
  if (dtype == kUInt64) return std::numeric_limits<uint64_t>::max();
  const int64_t bits = 8 * element_size(dtype);
  const bool has_sign = dtype == kChar || dtype == kShort || dtype == kInt || dtype == kLong;
  return static_cast<int64_t>(~uint64_t{0} >> (64 - bits + (has_sign ? 1 : 0)));
}

TensorOptions like(const Tensor& t, const TensorOptions& o) {
  return o.dtype(o.dtype_or(t.dtype()))
      .device(o.has_device() ? o.device() : t.device())
      .layout(t.is_strided() ? o.layout() : TensorLayout(t.layout()));
}

}  // namespace

void use_deterministic_algorithms(bool mode, bool warn_only) {
  deterministic = mode;
  warn_only_mode = warn_only;
}
bool are_deterministic_algorithms_enabled() { return deterministic; }
bool is_deterministic_algorithms_warn_only_enabled() { return warn_only_mode; }

void set_fill_uninitialized_memory(bool fill) { fill_memory = fill; }
bool fills_uninitialized_memory() { return fill_memory; }

bool detail::must_fill_memory() {
  return deterministic.load(std::memory_order_relaxed) &&
         fill_memory.load(std::memory_order_relaxed);
}

void detail::fill_unwritten(const Tensor& t, int64_t from) {
  const auto n = static_cast<int64_t>(t.storage().nbytes()) / t.element_size();
  if (t.is_meta() || from >= n) return;
  fill_new(make_alias(t, Layout{{n - from}, {1}, from}, t.dtype()), unwritten(t.dtype()));
}

Tensor empty(IntArrayRef sizes, const TensorOptions& options, std::optional<MemoryFormat> format) {
  const TensorOptions o = format ? options.memory_format(format) : options;
  if (o.has_layout()) [[unlikely]]
    return detail::sparse_empty(sizes, o);
  if (o.memory_format() == MemoryFormat::Contiguous && !o.pinned_memory())
    return finish_empty(make_tensor(sizes, o.dtype(), device_of(o)), o);
  const Layout layout{sizes, strides_in(sizes, o.memory_format()), 0};
  Tensor out = make_tensor(layout, o.dtype(), device_of(o));
  if (o.pinned_memory()) out = out.pin_memory();
  return finish_empty(std::move(out), o);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& o) {
  TAEDA_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  for (int64_t s : strides)
    TAEDA_CHECK(s >= 0,
                "empty_strided: Negative strides are not supported, got strides: ", strides);
  const Layout layout{sizes, strides, 0};
  const int64_t item = element_size(o.dtype());
  const Tensor memory =
      make_tensor(IntArrayRef(layout.checked_storage_nbytes(item) / item), o.dtype(), device_of(o));
  return finish_empty(wrap(memory.storage(), layout, o.dtype()), o);
}

Tensor do_zeros(IntArrayRef sizes, const TensorOptions& o) {
  Tensor out = empty(sizes, o.requires_grad(false));
  fill_storage_with_zeros(out);
  return finish(std::move(out), o);
}

Tensor do_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& o) {
  TAEDA_CHECK(!o.has_layout(), "full(...) is not implemented for sparse layout");
  Tensor out = empty(sizes, o.dtype(o.dtype_or(dtype_of_number(value))).requires_grad(false));
  fill_new(out, value);
  return finish(std::move(out), o);
}

Tensor do_ones(IntArrayRef sizes, const TensorOptions& o) {
  return full(sizes, 1, o.dtype(o.dtype()));
}

Tensor do_scalar_tensor(const Scalar& value, const TensorOptions& o) {
  return full({}, value, o.dtype(o.dtype()));
}

Tensor empty_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  const TensorOptions o = like(self, format ? options.memory_format(format) : options);
  if (o.has_layout()) [[unlikely]]
    return detail::sparse_empty(self.sizes(), o);
  const MemoryFormat wanted = o.memory_format_opt().value_or(MemoryFormat::Preserve);
  if (o.pinned_memory() || wanted != MemoryFormat::Preserve) return empty(self.sizes(), o);
  const Layout layout{self.sizes(), strides_like(self.layout()), 0};
  return finish_empty(make_tensor(layout, o.dtype(), device_of(o)), o);
}

Tensor do_full_like(const Tensor& self, const Scalar& value, const TensorOptions& o,
                    std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, o.requires_grad(false), format);
  fill_new(out, value);
  return finish(std::move(out), o);
}

Tensor do_zeros_like(const Tensor& self, const TensorOptions& o,
                     std::optional<MemoryFormat> format) {
  Tensor out = empty_like(self, o.requires_grad(false), format);
  fill_storage_with_zeros(out);
  return finish(std::move(out), o);
}

Tensor do_ones_like(const Tensor& self, const TensorOptions& o,
                    std::optional<MemoryFormat> format) {
  return full_like(self, 1, o, format);
}

Tensor Tensor::new_empty(IntArrayRef sizes, const TensorOptions& o) const {
  return empty(sizes, like(*this, o));
}
Tensor Tensor::new_empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                 const TensorOptions& o) const {
  return empty_strided(sizes, strides, like(*this, o));
}
Tensor do_new_zeros(const Tensor& self, IntArrayRef sizes, const TensorOptions& o) {
  return zeros(sizes, like(self, o));
}
Tensor do_new_ones(const Tensor& self, IntArrayRef sizes, const TensorOptions& o) {
  return ones(sizes, like(self, o));
}
Tensor do_new_full(const Tensor& self, IntArrayRef sizes, const Scalar& value,
                   const TensorOptions& o) {
  return full(sizes, value, like(self, o));
}

Tensor do_arange(const Scalar& end, const TensorOptions& o) { return arange(0, end, 1, o); }
Tensor do_arange(const Scalar& start, const Scalar& end, const TensorOptions& o) {
  return arange(start, end, 1, o);
}

namespace {

/// Throws where a dtype does not count: bool, complex numbers.
void check_counts(const char* op, ScalarType t) {
  TAEDA_CHECK_NOT_IMPLEMENTED(t != kBool && !is_complex(t), "\"", op, "\" not implemented for '", t,
                              "'");
}

/// Numbers in [start, end) at distance `step`, after the checks that PyTorch makes.
int64_t arange_size(const Scalar& start, const Scalar& end, const Scalar& step) {
  const double first = start.toDouble(), last = end.toDouble(), delta = step.toDouble();
  TAEDA_CHECK(delta != 0, "step must be nonzero");
  TAEDA_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ",
              last);
  TAEDA_CHECK(delta > 0 ? last >= first : last <= first,
              "upper bound and lower bound inconsistent with step sign");
  if (start.is_integral(true) && end.is_integral(true) && step.is_integral(true)) {
    const int64_t by = step.toLong(),
                  distance = (CheckedInt(end.toLong()) - start.toLong()).value("arange");
    return distance / by + (distance % by != 0);
  }
  const double n = std::ceil((last - first) / delta);
  TAEDA_CHECK(n >= 0 && n < 9e18, "invalid size, possible overflow?");
  return static_cast<int64_t>(n);
}

}  // namespace

Tensor do_arange(const Scalar& start, const Scalar& end, const Scalar& step,
                 const TensorOptions& o) {
  const bool integral = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  const ScalarType dtype = o.dtype_or(integral ? kLong : get_default_dtype());
  check_counts("arange", dtype);
  const int64_t n = arange_size(start, end, step);
  Tensor out = make_tensor(IntArrayRef(n), dtype, device_of(o));
  if (n > 0) arange_slot(out.device().type(), out, start, step);
  return finish(std::move(out), o);
}

namespace {

/// The dtype of numbers between two ends, of which either may be complex.
ScalarType space_dtype(const char* name, const Scalar& start, const Scalar& end,
                       const TensorOptions& o) {
  if (!start.is_complex() && !end.is_complex()) return o.dtype();
  const ScalarType inferred = to_complex_type(get_default_dtype());
  TAEDA_CHECK(is_complex(o.dtype_or(inferred)), "torch.", name, "(): inferred dtype ",
              to_string(inferred), " can't be safely cast to passed dtype ", to_string(o.dtype()));
  return o.dtype_or(inferred);
}

/// An end of the numbers of a dtype; below 0 a byte's counts from 256 down.
Scalar end_of(const Scalar& s, ScalarType t) {
  detail::check_number(t, s);
  return t == kByte && s.toDouble() < 0 ? Scalar(int64_t{static_cast<uint8_t>(s.toLong())}) : s;
}

/// The real numbers of `z`, or those beside i.
Scalar real_of(const Scalar& z) { return z.to<std::complex<double>>().real(); }
Scalar imag_of(const Scalar& z) { return z.to<std::complex<double>>().imag(); }

}  // namespace

Tensor do_linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& o) {
  TAEDA_CHECK(steps >= 0, "number of steps must be non-negative");
  if (const ScalarType t = space_dtype("linspace", start, end, o); is_complex(t)) {
    const TensorOptions parts = o.dtype(to_real_type(t)).requires_grad(false);
    return finish(make_complex(linspace(real_of(start), real_of(end), steps, parts),
                               linspace(imag_of(start), imag_of(end), steps, parts)),
                  o);
  }
  Tensor out = make_tensor(IntArrayRef(steps), o.dtype(), device_of(o));
  if (steps > 0)
    linspace_slot(out.device().type(), out, end_of(start, out.dtype()), end_of(end, out.dtype()));
  return finish(std::move(out), o);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                const TensorOptions& o) {
  const ScalarType t = space_dtype("logspace", start, end, o);
  TAEDA_CHECK_NOT_IMPLEMENTED(t != kBool, "\"logspace\" not implemented for 'Bool'");
  const ScalarType wide = is_floating_point(t) || is_complex(t) ? t : kDouble;
  const Tensor exponents = linspace(start, end, steps, o.dtype(wide).requires_grad(false));
  const Tensor out = full({steps}, base, exponents.options()).pow(exponents);
  return finish(out.to(t), o);
}

Tensor do_eye(int64_t n, const TensorOptions& o) { return eye(n, n, o); }

Tensor do_eye(int64_t n, int64_t m, const TensorOptions& o) {
  TAEDA_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TAEDA_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor out = zeros({n, m}, o.requires_grad(false));
  out.diagonal().fill_(1);
  return finish(std::move(out), o);
}

namespace {

/// Elements of the lower triangle of row x col up to diagonal `offset`. Row r has r + offset + 1 of
/// them, but at least none and at most col.
CheckedInt triangle_size(int64_t row, int64_t col, int64_t offset) {
  const int64_t empty = std::clamp<int64_t>(-(offset + 1), 0, row);
  const int64_t full = std::clamp<int64_t>(col - (offset + 1), empty, row);
  const CheckedInt first = CheckedInt(empty) + offset + 1, count = CheckedInt(full) - empty;
  return count * (first + first + count - 1) / 2 + (CheckedInt(row) - full) * col;
}

Tensor triangle_indices(int64_t row, int64_t col, int64_t offset, bool upper,
                        const TensorOptions& o) {
  TAEDA_CHECK(row >= 0, "row must be non-negative, got", row);
  TAEDA_CHECK(col >= 0, "col must be non-negative, got", col);
  const char* const op = upper ? "triu_indices" : "tril_indices";
  const ScalarType dtype = o.dtype_or(kLong);
  TAEDA_CHECK_NOT_IMPLEMENTED(is_integral(dtype, false), "\"", op, "\" not implemented for '",
                              dtype, "'");
  offset = std::clamp(offset, -row - 1, col);
  const CheckedInt all = CheckedInt(row) * col;
  const int64_t n =
      (upper ? all - triangle_size(row, col, offset - 1) : triangle_size(row, col, offset))
          .value(op);
  const Tensor out = make_tensor({2, n}, kLong, kCPU);
  int64_t* rows = out.data_ptr<int64_t>();
  for (int64_t r = upper ? 0 : std::max<int64_t>(-offset, 0), i = 0; i < n; ++r) {
    const int64_t edge = std::clamp<int64_t>(r + offset + !upper, 0, col);
    for (int64_t c = upper ? edge : 0; c < (upper ? col : edge); ++c, ++i) {
      rows[i] = r;
      rows[n + i] = c;
    }
  }
  return finish(out.to(device_of(o), dtype), o);
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& o) {
  return triangle_indices(row, col, offset, false, o);
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& o) {
  return triangle_indices(row, col, offset, true, o);
}

Tensor tensor(const TensorLiteral& values, const TensorOptions& o) {
  if (is_stored(o.dtype_or(values.dtype()))) [[unlikely]] {
    const ScalarType wide = is_integral(values.dtype(), true) ? kLong
                            : is_complex(values.dtype())      ? kComplexDouble
                                                              : kDouble;
    const Tensor numbers = tensor(values, TensorOptions(wide).device(device_of(o)));
    return finish(numbers.to(o.dtype()), o);
  }
  const Tensor host = make_tensor(values.sizes(), o.dtype_or(values.dtype()), kCPU);
  values.write(static_cast<char*>(host.data_ptr()), host.dtype());
  Tensor out = o.pinned_memory() ? host.pin_memory() : host.to(device_of(o));
  return finish(std::move(out), o);
}

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& o) {
  return from_blob(data, sizes, contiguous_strides(sizes), nullptr, o);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& o) {
  return from_blob(data, sizes, strides, nullptr, o);
}

Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                 const TensorOptions& o) {
  return from_blob(data, sizes, contiguous_strides(sizes), std::move(deleter), o);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 std::function<void(void*)> deleter, const TensorOptions& o) {
  TAEDA_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  TAEDA_CHECK(static_cast<int64_t>(sizes.size()) <= kMaxDims, "from_blob: a tensor has at most ",
              kMaxDims, " dimensions, got sizes ", sizes);
  for (const int64_t stride : strides)
    TAEDA_CHECK(stride >= 0, "from_blob: strides must not be negative, got ", strides);
  TAEDA_CHECK_TYPE(o.dtype() != ScalarType::Undefined,
                   "from_blob: expected a dtype, got Undefined");
  const Layout layout{sizes, strides, 0};
  const auto bytes = static_cast<size_t>(layout.checked_storage_nbytes(element_size(o.dtype())));
  TAEDA_CHECK_VALUE(data || bytes == 0, "from_blob: the data pointer is null for sizes ", sizes);
  if (bytes != 0) detail::check_aligned(data, o.dtype(), "from_blob");
  Storage storage = Storage::from_user(data, bytes, resolve(o.device()), std::move(deleter));
  return finish(wrap(std::move(storage), layout, o.dtype()), o);
}

Tensor from_blob(void* data, IntArrayRef sizes, std::initializer_list<int64_t> strides,
                 const TensorOptions& o) {
  return from_blob(data, sizes, strides, nullptr, o);
}

Tensor from_blob(void* data, IntArrayRef sizes, std::initializer_list<int64_t> strides,
                 std::function<void(void*)> deleter, const TensorOptions& o) {
  if (strides.size() == 0) return from_blob(data, sizes, std::move(deleter), o);
  return from_blob(data, sizes, IntArrayRef(strides), std::move(deleter), o);
}

/// Throws Error unless both are of one dtype that complex numbers can be made of.
static void check_parts(const Tensor& first, const Tensor& second) {
  const ScalarType a = first.dtype(), b = second.dtype();
  const auto is_part = [](ScalarType t) { return t == kHalf || t == kFloat || t == kDouble; };
  TAEDA_CHECK_NOT_IMPLEMENTED(is_part(a) && is_part(b),
                              "Expected both inputs to be Half, Float or Double tensors but got ",
                              a, " and ", b);
  TAEDA_CHECK(a == b, "Expected object of scalar type ", a, " but got scalar type ", b,
              " for second argument");
}

Tensor do_make_complex(const Tensor& real, const Tensor& imag) {
  check_parts(real, imag);
  const bool recorded = wants_grad(real, imag);
  Tensor out;
  {
    NoGradGuard guard;
    const Tensor whole = view_as_complex(stack(broadcast_tensors({real, imag}), -1));
    out = make_alias(whole);
  }
  if (recorded) {
    autograd::runs_once();
    record("ComplexBackward0", out, {real, imag}, [](const Tensor& g, Needs needs) {
      return TensorVec{needs[0] ? taeda::real(g) : Tensor(), needs[1] ? taeda::imag(g) : Tensor()};
    });
  }
  return out;
}

Tensor do_polar(const Tensor& abs, const Tensor& angle) {
  check_parts(abs, angle);
  return make_complex(abs.mul(angle.cos()), abs.mul(angle.sin()));
}

}  // namespace taeda::inline v0_2
