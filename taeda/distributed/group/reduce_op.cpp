#include "taeda/distributed/group/reduce_op.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

const char* to_string(ReduceOp::Kind kind) {
  switch (kind) {
    case ReduceOp::SUM: return "SUM";
    case ReduceOp::AVG: return "AVG";
    case ReduceOp::PRODUCT: return "PRODUCT";
    case ReduceOp::MIN: return "MIN";
    case ReduceOp::MAX: return "MAX";
    case ReduceOp::BAND: return "BAND";
    case ReduceOp::BOR: return "BOR";
    case ReduceOp::BXOR: return "BXOR";
    case ReduceOp::PREMUL_SUM: return "PREMUL_SUM";
  }
  return "unknown";
}

namespace {

bool is_bitwise(ReduceOp::Kind kind) {
  return kind == ReduceOp::BAND || kind == ReduceOp::BOR || kind == ReduceOp::BXOR;
}

}  // namespace

void check_reducible(const char* operation, ReduceOp op, ScalarType dtype) {
  const char* name = to_string(op.kind);
  TAEDA_CHECK_VALUE(!is_bitwise(op.kind) || is_integral(dtype, true), operation,
                    ": Cannot use ReduceOp.", name, " with non-integral dtype ", dtype);
  const bool ordered = op.kind == ReduceOp::MIN || op.kind == ReduceOp::MAX;
  TAEDA_CHECK_VALUE(!ordered || !is_complex(dtype), operation, " does not support ", name,
                    " on complex tensors");
  TAEDA_CHECK_VALUE(op.kind != ReduceOp::AVG || dtype != kBool, operation,
                    ": Cannot use ReduceOp.AVG with bool inputs");
  TAEDA_CHECK_VALUE(op.kind != ReduceOp::PREMUL_SUM || is_differentiable(dtype), operation,
                    ": PREMUL_SUM needs floating point or complex numbers, got ", dtype);
}

}  // namespace taeda::distributed
