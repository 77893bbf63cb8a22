// Losses. `reduction` None gives one loss per element (or per position of the batch), Mean their
// mean and Sum their sum. Defaults are PyTorch's; nn/functional.h wraps these functions with
// options.
// [operations, shape: loss]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

// Over classes ----------------------------------------------------------------------------------

/// -log softmax(input)[target], over dimension 1 (dimension 0 of a 1-dim input).
///
/// `target` holds class indices (int64, input's shape without the class dimension) or, in input's
/// shape and a floating dtype, probabilities. `weight`: one factor per class; the mean divides by
/// the sum of the factors used. Targets equal to `ignore_index` count for nothing.
/// `label_smoothing` in [0, 1] mixes the target with the uniform distribution (Szegedy et al. 2016,
/// arXiv:1512.00567). Throws ValueError ("Expected input batch_size (3) to match target batch_size
/// (2)."), IndexError
/// ("Target 10 is out of bounds."), Error for dtypes and shapes.
/// [autocast: float32, not shape]
Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                     ReductionArg reduction = Reduction::Mean, int64_t ignore_index = -100,
                     double label_smoothing = 0);
/// -input[target] over log-probabilities [N, C, *] or [C]; arguments and errors as for
/// cross_entropy with indices.
/// [autocast: float32, not shape]
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                ReductionArg reduction = Reduction::Mean, int64_t ignore_index = -100);

// Element by element ----------------------------------------------------------------------------

/// (input - target)^2, element by element.
/// [autocast: float32]
Tensor mse_loss(const Tensor& input, const Tensor& target,
                ReductionArg reduction = Reduction::Mean);
/// |input - target|, element by element.
/// [autocast: float32]
Tensor l1_loss(const Tensor& input, const Tensor& target, ReductionArg reduction = Reduction::Mean);
/// With d = |input - target|: d^2 / (2 beta) where d < beta, d - beta / 2 elsewhere. Throws
/// Error for a negative beta.
/// [autocast: float32]
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      ReductionArg reduction = Reduction::Mean, double beta = 1);
/// With d = |input - target|: d^2 / 2 where d <= delta, delta (d - delta / 2) elsewhere. Throws
/// Error unless delta is positive.
/// [autocast: float32]
Tensor huber_loss(const Tensor& input, const Tensor& target,
                  ReductionArg reduction = Reduction::Mean, double delta = 1);
/// -(t log x + (1 - t) log(1 - x)) for x in [0, 1]; logarithms are at least -100. On the CPU throws
/// Error ("all elements of input should be between 0 and 1").
/// [autocast: float32 host unsafe accelerators]
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            ReductionArg reduction = Reduction::Mean);
/// binary_cross_entropy of sigmoid(x), without overflow; `pos_weight` multiplies the positive term.
/// [autocast: float32]
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight = {}, const Tensor& pos_weight = {},
                                        ReductionArg reduction = Reduction::Mean);
/// target (log target - input), input being log-probabilities; with `log_target` the target is,
/// too. Mean divides by the number of elements, `batch_mean` (with Sum or Mean) by the batch size.
/// [autocast: float32]
Tensor kl_div(const Tensor& input, const Tensor& target, ReductionArg reduction = Reduction::Mean,
              bool log_target = false, bool batch_mean = false);
/// exp(x) - t x, or x - t log(x + eps) without `log_input`; `full` adds Stirling's approximation of
/// log(t!) where t > 1.
/// [autocast: float32, composite]
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input = true,
                        bool full = false, double eps = 1e-8,
                        ReductionArg reduction = Reduction::Mean);
/// (log max(var, eps) + (input - target)^2 / max(var, eps)) / 2, with `full` plus log(2 pi) / 2.
/// Throws ValueError for a negative variance or one of another size.
/// [composite]
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         bool full = false, double eps = 1e-6,
                         ReductionArg reduction = Reduction::Mean);
/// x where target is 1, max(0, margin - x) where it is -1.
/// [autocast: float32, composite]
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                            ReductionArg reduction = Reduction::Mean);
/// log(1 + exp(-t x)) for targets t of 1 and -1.
/// [autocast: float32, composite]
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        ReductionArg reduction = Reduction::Mean);

// Over pairs and triples of vectors -------------------------------------------------------------

/// max(0, -target (input1 - input2) + margin) for targets of 1 (input1 should be larger) and -1.
/// [autocast: float32, composite]
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin = 0, ReductionArg reduction = Reduction::Mean);
/// x1 . x2 / max(|x1| |x2|, eps) along `dim`; the inputs broadcast.
/// The result is without `dim`.
/// [autocast: float32 accelerators, composite, not shape]
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-8);
/// 1 - cos where target is 1, max(0, cos - margin) where it is -1; vectors along the last
/// dimension, [N, D] or [D], with a target [N] or 0-dim.
/// [autocast: float32, composite, not shape]
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin = 0, ReductionArg reduction = Reduction::Mean);
/// |x1 - x2 + eps|_p along the last dimension, which `keepdim` leaves with size 1; x1 and x2
/// broadcast.
/// [composite, not shape]
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                         bool keepdim = false);
/// max(0, d(anchor, positive) - d(anchor, negative) + margin); `swap` takes the smaller of the
/// negative's distances to anchor and positive (Balntas et al. 2016). Vectors
/// lie along the last dimension.
/// [autocast: float32, composite, not shape]
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin = 1, double p = 2, double eps = 1e-6, bool swap = false,
                           ReductionArg reduction = Reduction::Mean);

}  // namespace taeda::inline v0_2
