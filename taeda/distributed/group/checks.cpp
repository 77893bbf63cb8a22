#include "taeda/distributed/group/checks.h"

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

void check_rank(const char* op, int rank, int size) {
  TAEDA_CHECK_VALUE(rank >= 0 && rank < size, op, ": expected a rank from 0 to ", size - 1,
                    ", got ", rank);
}

void check_alike(const char* op, const Tensor& a, const Tensor& b) {
  TAEDA_CHECK_VALUE(a.dtype() == b.dtype(), op, ": expected tensors of one dtype, got ",
                    dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  TAEDA_CHECK_VALUE(a.device() == b.device(), op, ": expected tensors on one device, got ",
                    a.device(), " and ", b.device());
}

void check_list(const char* op, const char* name, const std::vector<Tensor>& list, int size,
                const Tensor& like) {
  TAEDA_CHECK_VALUE(static_cast<int>(list.size()) == size, op, ": expected ", size, " ", name,
                    ", one for each rank, got ", list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    check_alike(op, list[i], like);
    TAEDA_CHECK_VALUE(list[i].numel() == like.numel(), op, ": expected ", like.numel(),
                      " elements in ", name, "[", i, "], got ", list[i].numel());
  }
}

void check_root_list(const char* op, const char* name, const char* root_name,
                     const std::vector<Tensor>& list, bool is_root, int size, const Tensor& like) {
  TAEDA_CHECK_VALUE(is_root || list.empty(), op, ": Argument ``", name,
                    "`` must NOT be specified on non-", root_name, " ranks.");
  if (!is_root) return;
  TAEDA_CHECK_VALUE(!list.empty(), op, ": Argument ``", name, "`` must be specified on ", root_name,
                    " rank.");
  check_list(op, name, list, size, like);
}

void check_lengths(const char* op, const std::vector<Tensor>& outputs,
                   const std::vector<Tensor>& inputs, int size) {
  for (const auto* list : {&outputs, &inputs}) {
    TAEDA_CHECK_VALUE(static_cast<int>(list->size()) == size, op,
                      ": expected a tensor for each of ", size, " ranks, got ", list->size());
    for (const Tensor& t : *list) check_alike(op, t, inputs[0]);
  }
}

bool is_times(int64_t whole, int64_t part, int n) { return whole % n == 0 && whole / n == part; }

bool is_part(const Tensor& part, const Tensor& whole, int n) {
  const auto* begin = static_cast<const char*>(whole.data_ptr());
  return part.data_ptr() == begin + n * part.nbytes();
}

std::vector<int64_t> split_counts(const char* op, const char* side, const Tensor& t,
                                  std::vector<int64_t> splits, int size) {
  TAEDA_CHECK_VALUE(t.dim() > 0, op, ": expected an ", side, " with dimensions, got a scalar");
  const int64_t rows = t.size(0);
  if (splits.empty()) {
    TAEDA_CHECK_VALUE(rows % size == 0, op,
                      ": Tensor's dim 0 does not divide equally across group "
                      "size: ",
                      side, " has ", rows, " rows for ", size, " ranks");
    splits.assign(static_cast<size_t>(size), rows / size);
  }
  TAEDA_CHECK_VALUE(static_cast<int>(splits.size()) == size, op,
                    ": Number of tensor splits not "
                    "equal to group size: ",
                    side, " has ", splits.size(), " for ", size, " ranks");
  CheckedInt sum = 0;
  for (const int64_t n : splits) {
    TAEDA_CHECK_VALUE(n >= 0, op, ": expected split sizes of at least 0, got ", n);
    sum = sum + n;
  }
  TAEDA_CHECK_VALUE(sum.representable(), op,
                    ": Split sizes doesn't match total dim 0 size: those of ", side,
                    " add up to more than 64 bits hold, it has ", rows, " rows");
  const int64_t total = sum.value(op);
  TAEDA_CHECK_VALUE(total == rows, op, ": Split sizes doesn't match total dim 0 size: those of ",
                    side, " add up to ", total, ", it has ", rows, " rows");
  const int64_t row = rows == 0 ? 0 : t.numel() / rows;
  for (int64_t& n : splits) n *= row;  // no more than t.numel()
  return splits;
}

void compare_counts(Communicator& communicator, const Call& call, const Fingerprint& what,
                    const std::vector<int>& ranks, const std::vector<int64_t>& input_counts,
                    const std::vector<int64_t>& output_counts) {
  const size_t n = ranks.size();
  std::vector<int64_t> mine(input_counts), all(2 * n * n);
  mine.insert(mine.end(), output_counts.begin(), output_counts.end());
  Call of_host_memory = call;
  of_host_memory.queued = nullptr;
  communicator.all_gather(of_host_memory, {mine.data(), static_cast<int64_t>(mine.size()), kLong},
                          {all.data(), static_cast<int64_t>(all.size()), kLong});
  for (size_t from = 0; from < n; ++from)
    for (size_t to = 0; to < n; ++to) {
      const int64_t sent = all[from * 2 * n + to], expected = all[to * 2 * n + n + from];
      TAEDA_CHECK_AS(DistributedError, sent == expected, what.to_string(), ": rank ", ranks[from],
                     " sends ", sent, " elements to rank ", ranks[to], ", which expects ",
                     expected);
    }
}

}  // namespace taeda::inline v0_2::distributed
