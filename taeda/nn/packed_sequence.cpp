#include "taeda/nn/packed_sequence.h"

#include <algorithm>

#include "taeda/base/checked_int.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::nn::utils::rnn {

namespace {

/// An int64 tensor on the CPU with the numbers given.
Tensor long_tensor(const std::vector<int64_t>& values) {
  const Tensor out = make_tensor({static_cast<int64_t>(values.size())}, kLong, Device(kCPU));
  std::copy(values.begin(), values.end(), out.data_ptr<int64_t>());
  return out;
}

IntArrayRef long_values(const Tensor& contiguous) {
  return {contiguous.data_ptr<int64_t>(), static_cast<size_t>(contiguous.numel())};
}

/// Falling lengths of sequences of a padded batch of `time` steps.
void check_lengths(IntArrayRef lengths, int64_t time) {
  for (size_t i = 0; i < lengths.size(); ++i) {
    TAEDA_CHECK(lengths[i] > 0,
                "Length of all samples has to be greater than 0, but found an element in 'lengths' "
                "that is <= 0");
    TAEDA_CHECK(i == 0 || lengths[i] <= lengths[i - 1],
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
                "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence "
                "to sidestep this requirement if you do not need ONNX exportability.");
  }
  TAEDA_CHECK(lengths[0] <= time, "Expected lengths of at most ", time,
              ", the number of steps of the input, but got ", lengths[0]);
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  const Tensor output = empty_like(permutation);
  output.scatter_(0, permutation, arange(permutation.numel(), permutation.options()));
  return output;
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices)
                                                   : invert_permutation(sorted_indices_)) {
  TAEDA_CHECK(batch_sizes_.device().is_cpu(),
              "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
              "created manually. They should be instantiated by functions like pack_sequence and "
              "pack_padded_sequences in nn::utils::rnn.");
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Tensor& t) { return t.defined() ? t.pin_memory() : t; };
  return PackedSequence(data_.pin_memory(), batch_sizes_, pinned(sorted_indices_),
                        pinned(unsorted_indices_));
}

PackedSequence PackedSequence::to(const TensorOptions& options) const {
  const Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const auto follow = [&](const Tensor& t) { return t.defined() ? t.to(data.device()) : t; };
  return PackedSequence(data, batch_sizes_, follow(sorted_indices_), follow(unsorted_indices_));
}

PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first,
                                    bool enforce_sorted) {
  TAEDA_CHECK(lengths.dim() == 1 && lengths.device().is_cpu(),
              "'lengths' argument should be a 1D CPU int64 tensor, but got ", lengths.dim(), "D ",
              lengths.device(), " ", lengths.dtype(), " tensor");
  TAEDA_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  TAEDA_CHECK(input.dim() >= 2, "Expected a batch of sequences of at least 2 dimensions, but got ",
              input.dim());
  Tensor x = batch_first ? input.transpose(0, 1) : input, sorted = lengths.to(kLong).contiguous();
  const int64_t time = x.size(0), batch = x.size(1);
  TAEDA_CHECK(sorted.numel() == batch,
              "Expected `len(lengths)` to be equal to batch_size, but got ", sorted.numel(),
              " (batch_size=", batch, ")");
  Tensor order;
  if (!enforce_sorted) {
    std::tie(sorted, order) = sorted.sort(-1, /*descending=*/true);
    sorted = sorted.contiguous();
  }
  const IntArrayRef length = long_values(sorted);
  check_lengths(length, time);
  const Tensor host_order = order.defined() ? order.contiguous() : order;
  std::vector<int64_t> rows, batch_sizes;
  for (int64_t t = 0; t < length[0]; ++t) {
    int64_t n = 0;
    for (; n < batch && length[n] > t; ++n)
      rows.push_back(t * batch + (order.defined() ? long_values(host_order)[n] : n));
    batch_sizes.push_back(n);
  }
  if (order.defined()) order = order.to(input.device());
  return PackedSequence(x.flatten(0, 1).index_select(0, long_tensor(rows).to(input.device())),
                        long_tensor(batch_sizes), order);
}

std::vector<PackedRun> runs_of(const PackedSequence& sequence) {
  const Tensor sizes = sequence.batch_sizes().to(kLong).contiguous();
  TAEDA_CHECK(sizes.dim() == 1 && sizes.numel() > 0,
              "Expected batch_sizes to be a vector that is not empty, but got ", sizes.sizes());
  std::vector<PackedRun> runs;
  int64_t row = 0;
  for (const int64_t n : long_values(sizes)) {
    TAEDA_CHECK(n > 0 && (runs.empty() || n <= runs.back().batch),
                "Expected batch_sizes to be positive and not to grow");
    if (!runs.empty() && runs.back().batch == n)
      ++runs.back().steps;
    else
      runs.push_back({row, 1, n});
    row = (CheckedInt(row) + n).value("PackedSequence");
  }
  TAEDA_CHECK(row == sequence.data().size(0), "Expected batch_sizes to sum to the number of rows, ",
              sequence.data().size(0), ", but they sum to ", row);
  return runs;
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<int64_t> total_length) {
  const std::vector<PackedRun> runs = runs_of(sequence);
  const Tensor& data = sequence.data();
  const int64_t longest = sequence.batch_sizes().numel(), batch = runs[0].batch,
                time = total_length.value_or(longest), border = data.size(0);
  TAEDA_CHECK_VALUE(time >= longest,
                    "Expected total_length to be at least the length of the longest sequence in "
                    "input, but got total_length=",
                    time, " and max sequence length being ", longest);
  // Places without a row of the data show the border, one row behind them.
  const int64_t places = (CheckedInt(time) * batch).value("pad_packed_sequence");
  const Tensor index = full({places}, border, kLong);
  int64_t* const rows = index.data_ptr<int64_t>();
  std::vector<int64_t> lengths(batch, 0);
  int64_t t = 0;
  for (const PackedRun& run : runs)
    for (int64_t step = 0; step < run.steps; ++step, ++t)
      for (int64_t n = 0; n < run.batch; ++n) {
        rows[t * batch + n] = run.start + step * run.batch + n;
        ++lengths[n];
      }
  DimVector sizes = data.sizes();
  sizes[0] = 1;
  const Tensor bordered[] = {data, full(sizes, padding_value, data.options())};
  Tensor padded = cat(TensorList(bordered, 2), 0)
                      .index_select(0, index.to(data.device()))
                      .unflatten(0, {time, batch});
  Tensor length = long_tensor(lengths);
  if (const Tensor& order = sequence.unsorted_indices(); order.defined()) {
    padded = padded.index_select(1, order);
    length = length.index_select(0, order.cpu());
  }
  return {batch_first ? padded.transpose(0, 1) : padded, length};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value) {
  TAEDA_CHECK(!sequences.empty(), "received an empty list of sequences");
  const IntArrayRef first = sequences[0].sizes();
  int64_t longest = 0;
  for (const Tensor& s : sequences) {
    TAEDA_CHECK_INDEX(s.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
    TAEDA_CHECK(s.dim() == sequences[0].dim(), "Expected sequences of ", first.size(),
                " dimensions, but got ", s.dim());
    for (int64_t d = 1; d < s.dim(); ++d)
      TAEDA_CHECK(s.size(d) == first[d], "The size of tensor a (", first[d],
                  ") must match the size of tensor b (", s.size(d), ") at non-singleton dimension ",
                  d);
    longest = std::max(longest, s.size(0));
  }
  std::vector<Tensor> padded;
  for (const Tensor& s : sequences) {
    std::vector<int64_t> amounts(2 * s.dim(), 0);
    amounts.back() = longest - s.size(0);
    padded.push_back(functional::pad(s, amounts, kConstant, padding_value));
  }
  return stack(padded, batch_first ? 0 : 1);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences, const Tensor& lengths,
                                   bool batch_first) {
  const Tensor host = lengths.cpu().to(kLong).contiguous();
  std::vector<Tensor> out;
  for (const int64_t length : long_values(host)) {
    const auto n = static_cast<int64_t>(out.size());
    out.push_back(padded_sequences.select(batch_first ? 0 : 1, n).narrow(0, 0, length));
  }
  return out;
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  const Tensor padded = pad_sequence(sequences);
  std::vector<int64_t> lengths;
  for (const Tensor& s : sequences) lengths.push_back(s.size(0));
  return pack_padded_sequence(padded, long_tensor(lengths), /*batch_first=*/false, enforce_sorted);
}

std::vector<Tensor> unpack_sequence(const PackedSequence& packed_sequences) {
  const auto [padded, lengths] = pad_packed_sequence(packed_sequences, /*batch_first=*/true);
  return unpad_sequence(padded, lengths, /*batch_first=*/true);
}

}  // namespace taeda::inline v0_2::nn::utils::rnn
