// What NCCL calls dtypes and reductions.
#pragma once

#include <nccl.h>

#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/nccl/library.h"

namespace taeda::inline v0_2::distributed::nccl {

/// Elements as NCCL reduces them: of complex numbers the parts.
struct Numbers {
  ncclDataType_t type;
  size_t count;
};

/// Throws ValueError, in PyTorch's words, for what NCCL does not reduce.
Numbers numbers_of(const Elements& elements, ReduceOp op);
/// Whether NCCL takes AVG or PREMUL_SUM of the dtype as it is.
bool scales(ScalarType dtype);

/// A reduction of one communicator, for a scope. A sum of products with a factor is an object of
/// the library.
class Operation {
 public:
  Operation(const Library& library, ncclComm_t comm, ReduceOp op, ScalarType dtype);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ncclRedOp_t get() const { return op_; }

 private:
  void make_premul_sum(double factor, ScalarType dtype);

  const Library& library_;
  const ncclComm_t comm_;
  bool made_ = false;
  ncclRedOp_t op_ = ncclSum;
};

}  // namespace taeda::inline v0_2::distributed::nccl
