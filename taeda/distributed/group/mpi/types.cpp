#include "taeda/distributed/group/mpi/types.h"

#include <climits>
#include <map>
#include <string>
#include <vector>

#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/reduce_functions.h"

namespace taeda::inline v0_2::distributed::mpi {

namespace {

constexpr size_t kPiece = size_t{1} << 30;

/// Knows the function of an element's type: MPI's own hears nothing else.
int function_key() {
  static const int key = [] {
    int out = MPI_KEYVAL_INVALID;
    check(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &out, nullptr),
          "MPI_Type_create_keyval");
    return out;
  }();
  return key;
}

void reduce_elements(void* in, void* in_out, int* count, MPI_Datatype* type) {
  void* function = nullptr;
  int found = 0;
  MPI_Type_get_attr(*type, function_key(), &function, &found);
  reinterpret_cast<ReduceFunction>(function)(in_out, in, in_out, static_cast<size_t>(*count));
}

}  // namespace

std::mutex& mutex() {
  static auto* one = new std::mutex;
  return *one;
}

void check(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw CommunicatorError(std::string("mpi: ") + call + ": " + text, -1);
}

Bytes::Bytes(size_t nbytes, size_t offset) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (size_t at = 0; at < nbytes; at += kPiece) {
    lengths.push_back(static_cast<int>(std::min(kPiece, nbytes - at)));
    places.push_back(static_cast<MPI_Aint>(offset + at));
  }
  check(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                 MPI_BYTE, &type_),
        "MPI_Type_create_hindexed");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

Bytes::~Bytes() {
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

MPI_Datatype element_type(ReduceOp::Kind op, ScalarType dtype) {
  static auto* known = new std::map<std::pair<ReduceOp::Kind, ScalarType>, MPI_Datatype>;
  const auto [entry, added] = known->try_emplace({op, dtype}, MPI_DATATYPE_NULL);
  if (!added) return entry->second;
  MPI_Datatype& type = entry->second;
  check(MPI_Type_contiguous(static_cast<int>(element_size(dtype)), MPI_BYTE, &type),
        "MPI_Type_contiguous");
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  check(
      MPI_Type_set_attr(type, function_key(), reinterpret_cast<void*>(reduce_function(op, dtype))),
      "MPI_Type_set_attr");
  return type;
}

MPI_Op reduction() {
  static const MPI_Op op = [] {
    MPI_Op out = MPI_OP_NULL;
    check(MPI_Op_create(reduce_elements, /*commute=*/1, &out), "MPI_Op_create");
    return out;
  }();
  return op;
}

}  // namespace taeda::distributed::mpi
