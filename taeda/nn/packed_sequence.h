// Batches of sequences of different lengths, for recurrent networks (namespace utils::rnn).
#pragma once

#include <optional>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::utils::rnn {

/// Sequences of different lengths without padding: `data` [sum of the lengths, *] holds the first
/// elements of all sequences, then the second elements of those that have one, and so on;
/// `batch_sizes` (int64, on the CPU) tells how many sequences have an element at each step. The
/// sequences are ordered by falling length: `sorted_indices` says where each comes from (undefined
/// if they came in this order), `unsorted_indices` is the inverse permutation.
class PackedSequence {
 public:
  /// For the functions below rather than for programs. Missing `unsorted_indices` follow from
  /// `sorted_indices`. Throws Error unless batch_sizes lie on the CPU.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  PackedSequence pin_memory() const;
  /// Data with another dtype or on another device; the indices follow to its device, the batch
  /// sizes stay. This sequence itself if nothing changes.
  PackedSequence to(const TensorOptions& options) const;
  PackedSequence cuda() const { return to(DeviceType::CUDA); }
  PackedSequence cpu() const { return to(DeviceType::CPU); }
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// p with p[permutation[i]] = i; undefined for an undefined permutation.
Tensor invert_permutation(const Tensor& permutation);

/// Packs `input` [T, N, *] ([N, T, *] if `batch_first`), of which sequence i fills the first
/// lengths[i] steps. `lengths` [N] are integers on the CPU, from 1 to T; unless `enforce_sorted` is
/// false they must fall. Throws Error.
PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths,
                                    bool batch_first = false, bool enforce_sorted = true);

/// The inverse: [T, N, *] (or batch first), filled up with `padding_value`, and the int64 lengths
/// on the CPU, both in the order that the sequences had before packing. T is the longest length, or
/// `total_length`. Throws ValueError for a shorter total_length.
std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence,
                                               bool batch_first = false, double padding_value = 0,
                                               std::optional<int64_t> total_length = {});

/// Sequences [L_i, *] as one tensor [max L, N, *] (or [N, max L, *]), filled up at their ends.
/// Throws Error for an empty list and for other sizes that differ.
Tensor pad_sequence(TensorList sequences, bool batch_first = false, double padding_value = 0);
/// The inverse of pad_sequence: sequence i is the first lengths[i] steps of the padded batch.
/// `lengths` must have one element for each sequence.
std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences, const Tensor& lengths,
                                   bool batch_first = false);

/// Packs sequences [L_i, *]; errors of `pad_sequence` and `pack_padded_sequence`.
PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);
/// The inverse of pack_sequence: the sequences, [L_i, *] each, in their first order. An empty batch
/// gives an empty list.
std::vector<Tensor> unpack_sequence(const PackedSequence& packed_sequences);

/// Consecutive steps that have the same number of sequences: `steps` of them, at least one, each of
/// `batch` rows, from row `start` of the data on.
struct PackedRun {
  int64_t start, steps, batch;
};
/// The data as runs. Throws Error unless the batch sizes are positive, do not grow, and sum to the
/// number of rows.
std::vector<PackedRun> runs_of(const PackedSequence& sequence);

}  // namespace taeda::nn::utils::rnn
