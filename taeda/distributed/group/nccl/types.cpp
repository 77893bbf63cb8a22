#include "taeda/distributed/group/nccl/types.h"

#include <cstring>

#include "taeda/base/error.h"
#include "taeda/distributed/group/nccl/link.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {

std::optional<ncclDataType_t> type_of(ScalarType dtype) {
  switch (dtype) {
    case kBool:
    case kByte: return ncclUint8;
    case kChar: return ncclInt8;
    case kInt: return ncclInt32;
    case kLong: return ncclInt64;
    case kHalf: return ncclFloat16;
    case kBFloat16: return ncclBfloat16;
    case kComplexFloat:
    case kFloat: return ncclFloat32;
    case kComplexDouble:
    case kDouble: return ncclFloat64;
    default: return {};
  }
}

/// Of a bool, the bytes are 0 and 1: a sum is their maximum, so that it stays one of them.
ncclRedOp_t builtin(ReduceOp::Kind kind, ScalarType dtype) {
  switch (kind) {
    case ReduceOp::AVG: return ncclAvg;
    case ReduceOp::PRODUCT: return ncclProd;
    case ReduceOp::MIN: return ncclMin;
    case ReduceOp::MAX: return ncclMax;
    default: return dtype == kBool ? ncclMax : ncclSum;
  }
}

}  // namespace

Numbers numbers_of(const Elements& elements, ReduceOp op) {
  const bool bitwise =
      op.kind == ReduceOp::BAND || op.kind == ReduceOp::BOR || op.kind == ReduceOp::BXOR;
  TAEDA_CHECK_VALUE(!bitwise, "Cannot use ReduceOp.", to_string(op.kind), " with NCCL");
  const auto type = type_of(elements.dtype);
  TAEDA_CHECK_VALUE(type, "Unconvertible NCCL type ", elements.dtype,
                    ": NCCL does not reduce it; convert the tensor to another dtype");
  const bool complex = is_complex(elements.dtype);
  TAEDA_CHECK_VALUE(!complex || op.kind != ReduceOp::PRODUCT,
                    "Cannot use ReduceOp.PRODUCT with "
                    "NCCL on complex tensors, got ",
                    elements.dtype);
  return {*type, static_cast<size_t>(elements.count) * (complex ? 2 : 1)};
}

bool scales(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16 || dtype == kFloat || dtype == kDouble ||
         is_complex(dtype);
}

Operation::Operation(const Library& library, ncclComm_t comm, ReduceOp op, ScalarType dtype)
    : library_(library), comm_(comm), op_(builtin(op.kind, dtype)) {
  if (op.kind == ReduceOp::PREMUL_SUM) make_premul_sum(op.factor, dtype);
}

Operation::~Operation() {
  if (made_) library_.destroy_op(op_, comm_);
}

void Operation::make_premul_sum(double factor, ScalarType dtype) {
  alignas(8) char scalar[8] = {};
  const auto put = [&](auto value) { std::memcpy(scalar, &value, sizeof value); };
  switch (*type_of(dtype)) {
    case ncclFloat16: put(Half(static_cast<float>(factor))); break;
    case ncclBfloat16: put(BFloat16(static_cast<float>(factor))); break;
    case ncclFloat32: put(static_cast<float>(factor)); break;
    default: put(factor);
  }
  check(library_, comm_,
        library_.create_premul_sum(&op_, scalar, *type_of(dtype), ncclScalarHostImmediate, comm_));
  made_ = true;
}

}  // namespace taeda::inline v0_2::distributed::nccl
