#include "taeda/ops/nn/ctc_loss.h"

#include <algorithm>
#include <limits>

#include "bodies/ctc_loss.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/nn/loss_reduce.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2 {

namespace {

/// The logarithm of a probability that is none. Finite, so that sums and differences of such
/// numbers are, and far enough from others for e^(this - other) to be exactly 0.
constexpr double kImpossible = -1e30;

constexpr const char* kCtcChecks = " (while checking arguments for ctc_loss_allocate_outputs)";

int64_t largest(IntArrayRef lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

void check_ctc_lengths(const char* name, IntArrayRef lengths, int64_t batch) {
  TAEDA_CHECK(static_cast<int64_t>(lengths.size()) == batch, name, " must be of size batch_size");
  for (const int64_t length : lengths)
    TAEDA_CHECK(length >= 0, "Expected ", name, " to have value at least 0, but got value ", length,
                kCtcChecks);
}

void check_ctc(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
               IntArrayRef target_lengths, int64_t blank) {
  check_floating("ctc_loss", log_probs);
  TAEDA_CHECK(log_probs.dim() == 3, "Expected 3-dimensional tensor, but got ", log_probs.dim(),
              "-dimensional tensor for argument #1 'log_probs'", kCtcChecks);
  TAEDA_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  TAEDA_CHECK_TYPE(is_integral(targets.dtype()),
                   "ctc_loss expects targets of an integral dtype, got ", targets.dtype(),
                   kCtcChecks);
  TAEDA_CHECK(targets.dim() == 1 || targets.dim() == 2, "Expected 1 to 2 dimensions, but got ",
              targets.dim(), "-dimensional tensor for argument #2 'targets'", kCtcChecks);
  TAEDA_CHECK(blank >= 0 && blank < log_probs.size(2), "blank must be in label range");
  check_ctc_lengths("input_lengths", input_lengths, log_probs.size(1));
  check_ctc_lengths("target_lengths", target_lengths, log_probs.size(1));
  TAEDA_CHECK(largest(input_lengths) <= log_probs.size(0),
              "Expected input_lengths to have value at most ", log_probs.size(0),
              ", but got value ", largest(input_lengths), kCtcChecks);
  CheckedInt total = 0;
  for (const int64_t length : target_lengths) total = total + length;
  const bool padded = targets.dim() == 2;
  const int64_t needed = padded ? largest(target_lengths) : total.value("ctc_loss");
  const int64_t got = targets.size(-1);
  TAEDA_CHECK(padded ? got >= needed : got == needed, "Expected tensor to have size ",
              padded ? "at least " : "", needed, " at dimension ", padded ? 1 : 0,
              ", but got size ", got, " for argument #2 'targets'", kCtcChecks);
  TAEDA_CHECK(!padded || targets.size(0) == log_probs.size(1), "Expected tensor to have size ",
              log_probs.size(1), " at dimension 0, but got size ", targets.size(0),
              " for argument #2 'targets'", kCtcChecks);
}

/// Targets as rows [N, S] of the longest one's length; what is beyond a target is `blank`.
Tensor padded_targets(const Tensor& targets, IntArrayRef lengths, int64_t blank) {
  const auto batch = static_cast<int64_t>(lengths.size());
  const Tensor from = targets.to(kLong);
  Tensor out = full({batch, largest(lengths)}, blank, from.options());
  int64_t at = 0;
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t length = lengths[static_cast<size_t>(n)];
    const Tensor row =
        from.dim() == 2 ? from.select(0, n).narrow(0, 0, length) : from.narrow(0, at, length);
    out.select(0, n).narrow(0, 0, length).copy_(row);
    at += length;
  }
  return out;
}

/// The states of all alignments: blanks between, before and behind the labels of the targets.
struct CtcStates {
  Tensor labels;    ///< [N, 2 S + 1]
  Tensor may_skip;  ///< whether a state may follow on the one before the blank before it

  CtcStates(const Tensor& targets, int64_t blank) {
    const Tensor blanks = full_like(targets, blank);
    const Tensor pairs = stack({blanks, targets}, 2).flatten(1);
    labels = cat({pairs, full({targets.size(0), 1}, blank, targets.options())}, 1);
    const int64_t states = labels.size(1);
    const Tensor none =
        zeros({targets.size(0), std::min<int64_t>(states, 2)}, targets.options().dtype(kBool));
    may_skip = none;
    if (states > 2) {
      const Tensor later = labels.narrow(1, 2, states - 2);
      const Tensor differs = later.ne(labels.narrow(1, 0, states - 2)).logical_and(later.ne(blank));
      may_skip = cat({none, differs}, 1);
    }
  }
};

/// The states moved on by `places`; nothing comes from before the first.
Tensor moved_on(const Tensor& alpha, int64_t places) {
  const int64_t states = alpha.size(1), kept = std::max<int64_t>(states - places, 0);
  const Tensor none = full({alpha.size(0), states - kept}, kImpossible, alpha.options());
  return cat({none, alpha.narrow(1, 0, kept)}, 1);
}

/// log of the probability that an input's steps end in each state (equations 6 to 8 of the paper).
Tensor forward_variables(const Tensor& log_probs, const CtcStates& states, const Tensor& steps) {
  const int64_t length = log_probs.size(0), count = states.labels.size(1);
  const Tensor index = states.labels.unsqueeze(0).expand({length, states.labels.size(0), count});
  const Tensor emitted = log_probs.gather(2, index).clamp_min(kImpossible);
  const Tensor at = arange(count, index.options());
  Tensor alpha = emitted.select(0, 0).masked_fill(at.gt(1), kImpossible);
  const Tensor cannot_skip = states.may_skip.logical_not();
  for (int64_t t = 1; t < length; ++t) {
    const Tensor skipped = moved_on(alpha, 2).masked_fill(cannot_skip, kImpossible);
    const Tensor reached = logaddexp(logaddexp(alpha, moved_on(alpha, 1)), skipped);
    const Tensor next = reached.add(emitted.select(0, t)).clamp_min(kImpossible);
    alpha = where(steps.gt(t).unsqueeze(1), next, alpha);
  }
  return alpha;
}

Tensor lengths_tensor(IntArrayRef lengths, Device device) {
  Tensor out = empty({static_cast<int64_t>(lengths.size())}, kLong);
  std::copy(lengths.begin(), lengths.end(), out.data_ptr<int64_t>());
  return out.to(device);
}

/// -log of the probability of each target, [N].
Tensor ctc_losses(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                  IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
  const CtcStates states(padded_targets(targets, target_lengths, blank), blank);
  const Tensor steps = lengths_tensor(input_lengths, log_probs.device());
  const Tensor labels = lengths_tensor(target_lengths, log_probs.device());
  const Tensor alpha = forward_variables(log_probs, states, steps);
  const Tensor last = labels.mul(2).unsqueeze(1);
  const Tensor on_blank = alpha.gather(1, last).squeeze(1);
  const Tensor on_label =
      alpha.gather(1, last.sub(1).clamp_min(0)).squeeze(1).masked_fill(labels.eq(0), kImpossible);
  const Tensor loss = logaddexp(on_blank, on_label).neg();
  const Tensor nothing = steps.eq(0);
  const Tensor impossible =
      loss.gt(-0.5 * kImpossible).logical_or(nothing.logical_and(labels.gt(0)));
  const double infinity = zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  return loss.masked_fill(nothing, 0).masked_fill(impossible, infinity);
}

std::vector<int64_t> host_lengths(const char* name, const Tensor& lengths) {
  TAEDA_CHECK(is_integral(lengths.dtype(), false), name, " must be integral");
  detail::check_not_recording("ctc_loss");
  const Tensor host = lengths.to(kLong).cpu().contiguous();
  const int64_t* p = host.data_ptr<int64_t>();
  return {p, p + host.numel()};
}

}  // namespace

Tensor do_ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                   IntArrayRef target_lengths, int64_t blank, ReductionArg reduction,
                   bool zero_infinity) {
  if (log_probs.dim() == 2) {
    const Tensor loss = ctc_loss(log_probs.unsqueeze(1), targets, input_lengths, target_lengths,
                                 blank, reduction, zero_infinity);
    return reduction == Reduction::None ? loss.squeeze(0) : loss;
  }
  check_ctc(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor loss =
      ctc_losses(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity);
  if (reduction != Reduction::Mean) return detail::reduce_loss(loss, reduction);
  const Tensor lengths = lengths_tensor(target_lengths, loss.device()).clamp_min(1);
  return loss.div(lengths.to(loss.dtype())).mean();
}

Tensor do_ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                   const Tensor& target_lengths, int64_t blank, ReductionArg reduction,
                   bool zero_infinity) {
  return ctc_loss(log_probs, targets, host_lengths("input_lengths", input_lengths),
                  host_lengths("target_lengths", target_lengths), blank, reduction, zero_infinity);
}

}  // namespace taeda::inline v0_2
