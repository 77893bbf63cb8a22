// What a rank called: compared with what the others called, kept in the flight record, named in
// errors.
#pragma once

#include <optional>
#include <string>

#include "taeda/base/array_ref.h"
#include "taeda/base/small_vector.h"
#include "taeda/base/source_location.h"
#include "taeda/distributed/group/reduce_op.h"

namespace taeda::inline v0_2::distributed {

/// One operation of a group. Everything but the call site must be the same on all ranks; a message
/// from one rank to another must agree in dtype, number of elements and tag.
struct Fingerprint {
  enum class Kind : uint8_t { Collective, Send, Recv };

  const char* op = "";  ///< the name of the function; a literal
  Kind kind = Kind::Collective;
  uint64_t sequence =
      0;  ///< counts the group's collectives; its messages have a count of their own
  /// Of collectives that callbacks of the one with this sequence number call: counts those, from 1.
  uint32_t follows = 0;
  ScalarType dtype = ScalarType::Undefined;  ///< Undefined: the operation takes no tensor
  SmallVector<int64_t, 4> shape;
  bool ragged = false;  ///< ranks may bring other shapes
  std::optional<ReduceOp::Kind> reduce = {};
  int peer = -1;    ///< root, or partner of a message, as a rank of the world; -1: none or any
  int64_t tag = 0;  ///< the tag of a message, not negative
  SourceLocation site = {};

  /// The same for all ranks that take part in one operation; says nothing about the sequence.
  uint64_t hash() const;
  /// What engines tell calls apart by: of the hash, and for a collective of its place.
  uint64_t call_id() const;
  /// "all_reduce #183 float32[4096] (SUM) at train.cpp:91"
  std::string to_string() const;
};

}  // namespace taeda::inline v0_2::distributed
