// What MPI is told about memory: stretches of bytes of any length, and elements that can be
// reduced.
#pragma once

#include <mpi.h>

#include <mutex>

#include "taeda/base/dtype.h"
#include "taeda/distributed/group/reduce_op.h"

namespace taeda::inline v0_2::distributed::mpi {

/// Held around every call: MPI must then serve one thread at a time only. Calls do not block.
std::mutex& mutex();

/// Throws CommunicatorError with MPI's text where a call has failed.
void check(int result, const char* call);

/// `nbytes` bytes that begin `offset` bytes behind an address; counts of MPI alone end at 2 GiB.
class Bytes {
 public:
  explicit Bytes(size_t nbytes, size_t offset = 0);
  ~Bytes();
  Bytes(Bytes&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// An element of a dtype, which `reduction()` combines as `op` says. One for each pair of them; it
/// is kept.
MPI_Datatype element_type(ReduceOp::Kind op, ScalarType dtype);
MPI_Op reduction();

}  // namespace taeda::distributed::mpi
