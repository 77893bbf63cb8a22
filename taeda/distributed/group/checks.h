// Arguments of collectives.
#pragma once

#include <vector>

#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/fingerprint.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed {

// All of these throw ValueError with the operation's name, what was expected and what came.

void check_rank(const char* op, int rank, int size);
/// The same dtype and device.
void check_alike(const char* op, const Tensor& a, const Tensor& b);
/// One tensor for each rank, each with the dtype, device and number of elements of `like`.
void check_list(const char* op, const char* name, const std::vector<Tensor>& list, int size,
                const Tensor& like);
/// A list that the root alone has.
void check_root_list(const char* op, const char* name, const char* root_name,
                     const std::vector<Tensor>& list, bool is_root, int size, const Tensor& like);
/// One tensor for each rank in both lists, of one dtype and device.
void check_lengths(const char* op, const std::vector<Tensor>& outputs,
                   const std::vector<Tensor>& inputs, int size);
/// Whether `whole` elements are `n` times `part`.
bool is_times(int64_t whole, int64_t part, int n);
/// Whether `part` is the `n`-th part of its size of `whole`'s memory; both are contiguous.
bool is_part(const Tensor& part, const Tensor& whole, int n);
/// How many elements of `t` each rank gets or gives, of how many rows each; equal parts for none.
std::vector<int64_t> split_counts(const char* op, const char* side, const Tensor& t,
                                  std::vector<int64_t> splits, int size);

/// Compares what ranks want to send each other with what they expect. Throws DistributedError, on
/// all ranks the same, for the first pair that does not fit. `ranks`: the members' in the world.
void compare_counts(Communicator& communicator, const Call& call, const Fingerprint& what,
                    const std::vector<int>& ranks, const std::vector<int64_t>& input_counts,
                    const std::vector<int64_t>& output_counts);

}  // namespace taeda::inline v0_2::distributed
