#include "taeda/io/dlpack.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2 {

namespace {

/// What a loan keeps: the structure that the borrower sees, the memory, and what it points to.
template <class Managed>
struct Loan {
  explicit Loan(const Storage& s) : memory(s) { memory->begin_loan(); }
  ~Loan() { memory->end_loan(); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  Managed managed{};
  const Storage memory;
  DimVector sizes, strides;
};

/// A dimension of one element has any stride; borrowers that compare strides expect 1.
DimVector plain_strides(const Tensor& t) {
  DimVector out(t.strides());
  for (size_t i = 0; i < out.size(); ++i)
    if (t.sizes()[i] < 2) out[i] = 1;
  return out;
}

template <class Managed>
Managed* lend(const Tensor& t) {
  TAEDA_CHECK(t.is_strided(), "Can't export tensors with layout other than strided");
  const DLDataType dtype = to_dlpack_dtype(t.dtype());
  const DLDevice device = to_dlpack_device(t.device());
  auto loan = std::make_unique<Loan<Managed>>(t.storage());
  loan->sizes = DimVector(t.sizes());
  loan->strides = plain_strides(t);
  loan->managed.dl_tensor = {.data = t.numel() == 0 ? nullptr : t.data_ptr(),
                             .device = device,
                             .ndim = static_cast<int32_t>(t.dim()),
                             .dtype = dtype,
                             .shape = loan->sizes.data(),
                             .strides = loan->strides.data(),
                             .byte_offset = 0};
  loan->managed.manager_ctx = loan.get();
  loan->managed.deleter = [](Managed* self) {
    delete static_cast<Loan<Managed>*>(self->manager_ctx);
  };
  return &loan.release()->managed;
}

/// Sizes and strides as a tensor can have them.
Layout layout_of(const DLTensor& t) {
  TAEDA_CHECK(t.ndim >= 0 && (t.ndim == 0 || t.shape),
              "from_dlpack: expected a shape of ndim = ", t.ndim, " sizes");
  TAEDA_CHECK(t.ndim <= kMaxDims, "from_dlpack: a tensor has at most ", kMaxDims,
              " dimensions, got ndim = ", t.ndim);
  const auto n = static_cast<size_t>(t.ndim);
  const IntArrayRef sizes(t.shape, n);
  for (const int64_t size : sizes)
    TAEDA_CHECK(size >= 0, "from_dlpack: sizes must not be negative, got ", sizes);
  if (!t.strides) return {sizes, contiguous_strides(sizes), 0};
  const IntArrayRef strides(t.strides, n);
  for (const int64_t stride : strides)
    TAEDA_CHECK(stride >= 0, "from_dlpack: strides must not be negative, got ", strides);
  return {sizes, strides, 0};
}

/// The tensor over `t`'s memory. Nothing calls `deleter` if this throws.
Tensor borrow(const DLTensor& t, std::function<void(void*)> deleter) {
  const ScalarType dtype = from_dlpack_dtype(t.dtype);
  const Device device = from_dlpack_device(t.device);
  const Layout layout = layout_of(t);
  uintptr_t address = 0;
  TAEDA_CHECK(!__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &address),
              "from_dlpack: byte_offset = ", t.byte_offset, " leads beyond all memory");
  char* const data = t.data ? reinterpret_cast<char*>(address) : nullptr;
  return from_blob(data, layout.sizes, layout.strides, std::move(deleter),
                   TensorOptions(dtype).device(device));
}

/// Ends the loan, as a storage's deleter.
template <class Managed>
auto returner(Managed* lent) {
  return [lent](void*) {
    if (lent->deleter) lent->deleter(lent);
  };
}

}  // namespace

static DLDataTypeCode stored_code(ScalarType dtype) {
  switch (dtype) {
    case kFloat8_e4m3fn: return kDLFloat8_e4m3fn;
    case kFloat8_e4m3fnuz: return kDLFloat8_e4m3fnuz;
    case kFloat8_e5m2: return kDLFloat8_e5m2;
    case kFloat8_e5m2fnuz: return kDLFloat8_e5m2fnuz;
    case kFloat8_e8m0fnu: return kDLFloat8_e8m0fnu;
    default: return kDLUInt;
  }
}

DLDataType to_dlpack_dtype(ScalarType dtype) {
  DLDataTypeCode code = kDLInt;
  if (dtype == kBool)
    code = kDLBool;
  else if (dtype == kByte)
    code = kDLUInt;
  else if (dtype == kBFloat16)
    code = kDLBfloat;
  else if (is_complex(dtype))
    code = kDLComplex;
  else if (is_stored(dtype))
    code = stored_code(dtype);
  else if (is_floating_point(dtype))
    code = kDLFloat;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * element_size(dtype)), 1};
}

ScalarType from_dlpack_dtype(const DLDataType& dtype) {
  const auto same = [&](ScalarType t) {
    const DLDataType want = to_dlpack_dtype(t);
    return want.code == dtype.code && want.bits == dtype.bits;
  };
  TAEDA_CHECK(dtype.lanes == 1, "from_dlpack: expected lanes = 1, got ", dtype.lanes);
  if (const auto* found = std::ranges::find_if(kStoredDtypes, same);
      found != std::end(kStoredDtypes))
    return *found;
  const auto* found = std::find_if(std::begin(kAllDtypes), std::end(kAllDtypes), same);
  TAEDA_CHECK(found != std::end(kAllDtypes), "from_dlpack: no dtype has code ", int{dtype.code},
              " and ", int{dtype.bits}, " bits");
  return *found;
}

DLDevice to_dlpack_device(const Device& device) {
  TAEDA_CHECK(device.is_cpu() || device.is_cuda(), "Cannot pack tensors on ", device.str());
  return {device.is_cpu() ? kDLCPU : kDLCUDA, std::max(device.index(), 0)};
}

Device from_dlpack_device(const DLDevice& device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
    case kDLROCMHost: return {kCPU};
    case kDLCUDA:
    case kDLCUDAManaged:
      TAEDA_CHECK(device.device_id >= 0, "from_dlpack: there is no CUDA device ", device.device_id);
      return {kCUDA, device.device_id};
    default: throw Error(detail::concat("Unsupported device_type: ", int{device.device_type}));
  }
}

DLManagedTensor* to_dlpack(const Tensor& tensor) { return lend<DLManagedTensor>(tensor); }

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, bool read_only) {
  DLManagedTensorVersioned* const out = lend<DLManagedTensorVersioned>(tensor);
  out->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  out->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return out;
}

Tensor from_dlpack(DLManagedTensor* lent) {
  TAEDA_CHECK(lent, "from_dlpack: expected a tensor, got a null pointer");
  return borrow(lent->dl_tensor, returner(lent));
}

Tensor from_dlpack(DLManagedTensor* lent, std::function<void(void*)> deleter) {
  TAEDA_CHECK(lent, "from_dlpack: expected a tensor, got a null pointer");
  return borrow(lent->dl_tensor, std::move(deleter));
}

Tensor from_dlpack(DLManagedTensorVersioned* lent) {
  TAEDA_CHECK(lent, "from_dlpack: expected a tensor, got a null pointer");
  TAEDA_CHECK(lent->version.major == DLPACK_MAJOR_VERSION, "from_dlpack: expected version ",
              DLPACK_MAJOR_VERSION, " of DLPack, got ", lent->version.major, ".",
              lent->version.minor);
  if (!(lent->flags & DLPACK_FLAG_BITMASK_READ_ONLY))
    return borrow(lent->dl_tensor, returner(lent));
  Tensor copy = borrow(lent->dl_tensor, nullptr).clone();
  returner(lent)(nullptr);
  return copy;
}

}  // namespace taeda::inline v0_2
