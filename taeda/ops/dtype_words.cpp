#include "taeda/ops/dtype_words.h"

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

}  // namespace taeda::inline v0_2
