#include "taeda/tensor/iter.h"

#include <algorithm>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/tensor/overlap.h"

namespace taeda::inline v0_2 {

namespace {

[[noreturn]] void throw_two_devices(const char* op, Device expected, Device found,
                                    size_t position) {
  throw Error(detail::concat(
      "Expected all tensors to be on the same device, but found at least two devices, ", expected,
      " and ", found, "! (when checking argument ", position, " in method ", op, ")"));
}

}  // namespace

void check_same_device(const char* op, ArrayRef<const Tensor*> tensors) {
  const Tensor* first = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor* t = tensors[i];
    if (!t || !t->defined()) continue;
    if (!first)
      first = t;
    else if (t->device() != first->device())
      throw_two_devices(op, first->device(), t->device(), i + 1);
  }
}

namespace {

template <class T>
void store(void* to, const Scalar& s) {
  const T value = s.cast<T>();
  std::memcpy(to, &value, sizeof(T));
}

/// Reads the only element of a 0-dim CPU tensor into `to`; it has the common dtype already.
void read_cpu_scalar(void* to, const Tensor& t) {
  std::memcpy(to, t.data_ptr(), static_cast<size_t>(t.element_size()));
}

[[noreturn, gnu::cold, gnu::noinline]] void throw_beyond(const char* op, const Tensor& t) {
  if (t.storage()->content()) t.storage()->throw_without_memory();
  throw Error(detail::concat(op, ": a tensor of sizes ", t.sizes(), ", strides ", t.strides(),
                             " and offset ", t.storage_offset(), " reaches beyond its storage of ",
                             t.storage()->nbytes(), " bytes"));
}

/// Address of the tensor's first element, where its `extent` elements from there on lie in memory
/// that it has.
[[gnu::always_inline]] inline char* checked_address(const char* op, const Tensor& t, int64_t extent,
                                                    int64_t item) {
  const StorageImpl& storage = *t.storage().get();
  const int64_t offset = t.storage_offset();
  const auto end = static_cast<int64_t>(storage.nbytes());
  if (extent > 0 && (offset < 0 || (offset + extent) * item > end)) [[unlikely]]
    throw_beyond(op, t);
  // As numbers: on meta there is no address to add to.
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(storage.data_for_work()) +
                                 static_cast<uintptr_t>(offset * item));
}

[[noreturn]] void throw_overlap() {
  throw Error(
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
      "a single memory location. Please clone() the tensor before performing the operation.");
}

/// From a tensor's first byte to behind its last: from the storage's begin on where that has no
/// address.
struct Extent {
  int64_t begin, end;
  [[gnu::always_inline]] explicit Extent(const Tensor& t) {
    const int64_t item = t.element_size();
    begin = reinterpret_cast<intptr_t>(t.storage()->address()) + t.storage_offset() * item;
    end = begin + (t.is_contiguous() ? t.numel() : t.layout().extent()) * item;
  }
};

/// Whether the bytes of both, from first to last, meet.
[[gnu::always_inline]] inline bool meet(const Tensor& a, const Tensor& b) {
  const Extent x(a), y(b);
  return x.begin < y.end && y.begin < x.end && x.begin < x.end && y.begin < y.end;
}

/// Outputs that exist may be inputs too, but not parts of inputs: these would change while they are
/// being read.
[[gnu::always_inline]] inline void check_overlap(ArrayRef<Tensor*> outputs,
                                                 ArrayRef<Operand> inputs) {
  for (const Tensor* out : outputs) {
    if (!out->defined()) continue;
    for (const Operand& in : inputs) {
      const Tensor* t = in.tensor();
      if (t && !t->is_same(*out) && meet(*out, *t)) check_partial_overlap(*out, *t);
    }
  }
}

/// The greatest common divisor of the distances between a tensor's elements, in bytes, and `of`.
int64_t common_distance(const Tensor& t, int64_t of) {
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] > 1) of = std::gcd(of, t.strides()[d] * t.element_size());
  return of;
}

/// Whether the elements of one lie in the gaps of the other, as real and imaginary parts do: all of
/// them lie at `distance` from each other, and never closer than an element is wide.
bool interleave(const Tensor& a, const Tensor& b, int64_t from_a_to_b) {
  const int64_t distance = common_distance(b, common_distance(a, 0));
  if (distance == 0) return false;
  const int64_t at = (from_a_to_b % distance + distance) % distance;
  return at >= a.element_size() && distance - at >= b.element_size();
}

}  // namespace

Overlap overlap_of(const Tensor& a, const Tensor& b) {
  if (a.device() != b.device() || (a.is_meta() && !a.is_alias_of(b)) || !meet(a, b))
    return Overlap::Apart;
  if (!a.is_strided() || !b.is_strided()) return Overlap::Apart;  // no memory of their own
  const int64_t from_a_to_b = Extent(b).begin - Extent(a).begin;
  if (from_a_to_b == 0 && a.element_size() == b.element_size() && a.sizes() == b.sizes() &&
      a.strides() == b.strides())
    return Overlap::Same;
  const bool dense =
      a.layout().is_non_overlapping_and_dense() && b.layout().is_non_overlapping_and_dense();
  if (dense) return Overlap::Partial;
  return interleave(a, b, from_a_to_b) ? Overlap::Apart : Overlap::Open;
}

void check_partial_overlap(const Tensor& out, const Tensor& in) {
  if (overlap_of(out, in) == Overlap::Partial) throw_overlap();
}

bool share_bytes(const Tensor& a, const Tensor& b) { return overlap_of(a, b) != Overlap::Apart; }

void check_no_internal_overlap(const Tensor& out) {
  TAEDA_CHECK(!out.layout().has_internal_overlap(),
              "unsupported operation: more than one element of the written-to tensor refers to a "
              "single memory location. Please clone() the tensor before performing the operation.");
}

void check_no_overlap(const Tensor& out, ArrayRef<const Tensor*> inputs) {
  for (const Tensor* in : inputs) {
    const Overlap found = overlap_of(out, *in);
    if (found == Overlap::Same || found == Overlap::Partial) throw_overlap();
  }
}

Iter::Iter(const char* op, ArrayRef<Tensor*> outputs, ArrayRef<ScalarType> output_dtypes,
           ArrayRef<Operand> inputs, ScalarType common)
    : op_(op),
      noperands_(static_cast<int>(outputs.size() + inputs.size())),
      noutputs_(static_cast<int>(outputs.size())),
      common_(common) {
  bool on_cpu = true;
  for (const Tensor* out : outputs) on_cpu &= !out->defined() || out->is_cpu();
  for (const Operand& in : inputs) on_cpu &= !in.tensor() || in.tensor()->is_cpu();
  device_ = on_cpu ? Device(kCPU) : device_of(op, outputs, inputs);
  output_dtype_ = output_dtypes.empty() ? ScalarType::Undefined : output_dtypes[0];
  check_overlap(outputs, inputs);
  if (try_flat(outputs, output_dtypes, inputs)) return;
  const DimVector shape = set_shape(outputs, inputs);
  allocate(outputs, output_dtypes, inputs, shape);
  int i = 0;
  for (Tensor* out : outputs) set_operand(i++, *out, shape);
  for (const Operand& in : inputs) {
    const Tensor* t = in.tensor();
    if (!t)
      set_scalar(i, in.scalar());
    else if (t->is_cpu() && !device_.is_cpu()) {
      scalar_mask_ |= 1u << i;
      data_[i] = nullptr;
      read_cpu_scalar(scalars_[i], *t);
      std::fill_n(strides_[i], ndim_, 0);
    } else
      set_operand(i, *t, shape);
    ++i;
  }
  reorder_and_coalesce();
}

Device Iter::device_of(const char* op, ArrayRef<Tensor*> outputs, ArrayRef<Operand> inputs) {
  Device device(kCPU);
  for (const Tensor* out : outputs)
    if (device.is_cpu() && out->defined()) device = out->device();
  for (const Operand& in : inputs)
    if (device.is_cpu() && in.tensor()) device = in.tensor()->device();
  if (device.is_cpu()) return device;
  // As the caller counts: results that are yet to be made, and operands that are changed in place,
  // are no arguments of their own.
  size_t position = 0;
  for (const Tensor* out : outputs) {
    if (!out->defined()) continue;
    const auto changed = std::find_if(inputs.begin(), inputs.end(), [&](const Operand& in) {
      return in.tensor() && in.tensor()->is_same(*out);
    });
    const bool apart = changed == inputs.end();
    position += apart;
    if (out->device() != device)
      throw_two_devices(op, device, out->device(),
                        apart ? position : static_cast<size_t>(changed - inputs.begin()) + 1);
  }
  for (const Operand& in : inputs) {
    ++position;
    const Tensor* t = in.tensor();
    if (t && t->device() != device && !(t->is_cpu() && t->dim() == 0))
      throw_two_devices(op, device, t->device(), position);
  }
  return device;
}

namespace {

[[gnu::always_inline]] inline bool have_same_sizes(const Layout& a, const Layout& b) {
  if (a.sizes.size() != b.sizes.size()) return false;
  const int64_t *x = a.sizes.data(), *y = b.sizes.data();
  for (size_t i = 0; i < a.sizes.size(); ++i)
    if (x[i] != y[i]) return false;
  return true;
}

}  // namespace

/// The common case: every tensor has the same sizes and is contiguous.
bool Iter::try_flat(ArrayRef<Tensor*> outputs, ArrayRef<ScalarType> dtypes,
                    ArrayRef<Operand> inputs) {
  const Tensor* model = nullptr;
  const bool on_cpu = device_.is_cpu();  // then all of them are
  for (const Operand& in : inputs) {
    const Tensor* t = in.tensor();
    if (!t) continue;
    if (!t->is_contiguous() || (!on_cpu && t->device() != device_)) return false;
    if (!model)
      model = t;
    else if (!have_same_sizes(t->layout(), model->layout()))
      return false;
  }
  if (!model) return false;
  for (Tensor* out : outputs)
    if (out->defined() &&
        (!out->is_contiguous() || !have_same_sizes(out->layout(), model->layout())))
      return false;
  numel_ = model->numel();
  ndim_ = 1;
  sizes_[0] = numel_;
  int i = 0;
  const auto set_flat = [this](int at, const Tensor& t) __attribute__((always_inline)) {
    const int64_t item = element_size(t.dtype());
    data_[at] = checked_address(op_, t, numel_, item);
    items_[at] = static_cast<uint8_t>(item);
    strides_[at][0] = item;
  };
  for (Tensor* out : outputs) {
    if (!out->defined())
      *out = make_tensor(model->sizes(), dtypes[static_cast<size_t>(i)], device_);
    set_flat(i++, *out);
  }
  for (const Operand& in : inputs) {
    if (const Tensor* t = in.tensor())
      set_flat(i, *t);
    else
      set_scalar(i, in.scalar());
    ++i;
  }
  return true;
}

namespace {

/// Before memory is allocated for all that a sparse operand does not keep. Apart, so that the
/// common case, which never comes here, stays short.
[[gnu::noinline]] void check_dense(ArrayRef<Tensor*> outputs, ArrayRef<Operand> inputs) {
  const auto check = [](const Tensor* t) {
    if (t && t->defined() && !t->is_strided()) t->storage()->throw_without_memory();
  };
  for (const Tensor* out : outputs) check(out);
  for (const Operand& in : inputs) check(in.tensor());
}

}  // namespace

/// The broadcast sizes of the inputs. Those that are not 1 go into `sizes_`, in tensor order
/// (outermost first) for now.
DimVector Iter::set_shape(ArrayRef<Tensor*> outputs, ArrayRef<Operand> inputs) {
  check_dense(outputs, inputs);
  DimVector shape;
  bool any = false;
  for (const Operand& in : inputs)
    if (in.tensor()) {
      shape = any ? broadcast_sizes(shape, in.tensor()->sizes()) : DimVector(in.tensor()->sizes());
      any = true;
    }
  for (const Tensor* out : outputs) {
    if (!out->defined()) continue;
    if (!any) shape = out->sizes(), any = true;
    TAEDA_CHECK(broadcast_sizes(shape, out->sizes()) == DimVector(out->sizes()),
                "output with shape ", out->sizes(), " doesn't match the broadcast shape ",
                broadcast_sizes(shape, out->sizes()));
    shape = out->sizes();
    check_no_internal_overlap(*out);
  }
  numel_ = checked_numel(shape);
  for (const int64_t size : shape)
    if (size != 1) sizes_[ndim_++] = size;
  return shape;
}

void Iter::allocate(ArrayRef<Tensor*> outputs, ArrayRef<ScalarType> dtypes,
                    ArrayRef<Operand> inputs, IntArrayRef shape) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]->defined()) continue;
    Layout layout{shape, contiguous_strides(shape), 0};
    for (const Operand& in : inputs)  // the first input of full shape decides the memory order
      if (in.tensor() && in.tensor()->sizes() == shape) {
        layout.strides = strides_like(in.tensor()->layout());
        break;
      }
    *outputs[i] = make_tensor(layout, dtypes[i], device_);
  }
}

void Iter::set_operand(int i, const Tensor& t, IntArrayRef shape) {
  const int64_t item = t.element_size();
  data_[i] = checked_address(op_, t, t.layout().extent(), item);
  items_[i] = static_cast<uint8_t>(item);
  const size_t lead = shape.size() - t.sizes().size();
  for (size_t d = 0, at = 0; d < shape.size(); ++d)
    if (shape[d] != 1)
      strides_[i][at++] = d < lead || t.sizes()[d - lead] == 1 ? 0 : t.strides()[d - lead] * item;
}

void Iter::set_scalar(int i, const Scalar& s) {
  scalar_mask_ |= 1u << i;
  data_[i] = nullptr;
  dispatch(AllTypes{}, op_, common_, [&]<class T>() { store<T>(scalars_[i], s); });
  std::fill_n(strides_[i], std::max(ndim_, 1), 0);
}

/// Sorts dimensions by stride (innermost first) and joins those that follow each other in memory
/// for every operand.
void Iter::reorder_and_coalesce() {
  int order[kMaxLoopDims];
  for (int d = 0; d < ndim_; ++d) order[d] = ndim_ - 1 - d;
  const auto before = [&](int a, int b) {
    for (int i = 0; i < noperands_; ++i) {
      const int64_t x = std::abs(strides_[i][a]), y = std::abs(strides_[i][b]);
      if (x == 0 || y == 0 || x == y) continue;
      return x < y;
    }
    return false;
  };
  for (int k = 1; k < ndim_; ++k)  // insertion sort: stable, and the relation is not a strict order
    for (int j = k; j > 0 && before(order[j], order[j - 1]); --j) std::swap(order[j], order[j - 1]);
  int64_t sizes[kMaxLoopDims], strides[kMaxOperands][kMaxLoopDims];
  int n = 0;
  for (int k = 0; k < ndim_; ++k) {
    const int d = order[k];
    bool joins = n > 0;
    for (int i = 0; joins && i < noperands_; ++i)
      joins = strides_[i][d] == strides[i][n - 1] * sizes[n - 1];
    if (joins) {
      sizes[n - 1] *= sizes_[d];
      continue;
    }
    sizes[n] = sizes_[d];
    for (int i = 0; i < noperands_; ++i) strides[i][n] = strides_[i][d];
    ++n;
  }
  ndim_ = n;
  std::copy_n(sizes, n, sizes_);
  for (int i = 0; i < noperands_; ++i) std::copy_n(strides[i], n, strides_[i]);
}

}  // namespace taeda::inline v0_2
