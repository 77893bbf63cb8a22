#include "taeda/ops/dtype_words.h"

#include <limits>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2 {

const char* detail::type_name(ScalarType t) {
  switch (t) {
    case kByte: return "unsigned char";
    case kChar: return "signed char";
    case kShort: return "short int";
    case kInt: return "int";
    case kLong: return "long int";
    case kHalf: return "c10::Half";
    case kFloat: return "float";
    case kDouble: return "double";
    case kComplexHalf: return "c10::complex<c10::Half>";
    case kComplexFloat: return "c10::complex<float>";
    case kComplexDouble: return "c10::complex<double>";
    case kBool: return "bool";
    case kUInt16: return "short unsigned int";
    case kUInt32: return "unsigned int";
    case kUInt64: return "long unsigned int";
    default: return "c10::BFloat16";
  }
}

std::string detail::tensor_type_name(const Tensor& t) {
  const std::string device = t.is_cpu() ? "" : t.device().str();
  return concat("torch.", device.substr(0, device.find(':')), device.empty() ? "" : ".",
                to_string(t.dtype()), "Tensor");
}

void detail::check_number(ScalarType t, const Scalar& number) {
  switch (t) {
    case kUInt16: return static_cast<void>(number.to<uint16_t>());
    case kUInt32: return static_cast<void>(number.to<uint32_t>());
    case kUInt64: return static_cast<void>(number.to<uint64_t>());
    default: break;
  }
  t = t == kHalf || t == kBFloat16 ? t : computing_dtype(t);
  dispatch(AllTypes{}, "number", t, [&]<class T>() { static_cast<void>(number.to<T>()); });
}

Tensor detail::number_beside(const Scalar& value, ScalarType t, Device device) {
  return full({}, value, TensorOptions(value.type()).device(device)).to(t);
}

double detail::largest(ScalarType floating) {
  return floating == kHalf       ? 65504.
         : floating == kBFloat16 ? 0x1.fep127
         : floating == kFloat    ? double{std::numeric_limits<float>::max()}
                                 : std::numeric_limits<double>::max();
}

}  // namespace taeda::inline v0_2
