// Functions of nn::functional as programs for libtorch call them, which has their forms with
// options alone: `{}` stands for options there.
#pragma once

#include <taeda_compat/namespaces.h>

#include <initializer_list>

namespace taeda::nn::functional {

namespace compat_detail {
/// Nothing is one: a list of these is an empty one.
struct NoOption {
  NoOption() = delete;
  NoOption(const NoOption&) = delete;
};
using NoOptions = std::initializer_list<NoOption>;
}  // namespace compat_detail

// Empty braces convert to no options better than to a number, of which they would make 0.
#define TAEDA_COMPAT_DEFAULTS(name)                                   \
  inline Tensor name(const Tensor& input, compat_detail::NoOptions) { \
    return functional::name(input);                                   \
  }                                                                   \
  static_assert(true)
#define TAEDA_COMPAT_DEFAULTS2(name)                                                        \
  inline Tensor name(const Tensor& first, const Tensor& second, compat_detail::NoOptions) { \
    return functional::name(first, second);                                                 \
  }                                                                                         \
  static_assert(true)
#define TAEDA_COMPAT_DEFAULTS3(name)                                                 \
  inline Tensor name(const Tensor& first, const Tensor& second, const Tensor& third, \
                     compat_detail::NoOptions) {                                     \
    return functional::name(first, second, third);                                   \
  }                                                                                  \
  static_assert(true)

TAEDA_COMPAT_DEFAULTS(alpha_dropout);
TAEDA_COMPAT_DEFAULTS(celu);
TAEDA_COMPAT_DEFAULTS(dropout);
TAEDA_COMPAT_DEFAULTS(dropout2d);
TAEDA_COMPAT_DEFAULTS(dropout3d);
TAEDA_COMPAT_DEFAULTS(elu);
TAEDA_COMPAT_DEFAULTS(feature_alpha_dropout);
TAEDA_COMPAT_DEFAULTS(gelu);
TAEDA_COMPAT_DEFAULTS(glu);
TAEDA_COMPAT_DEFAULTS(gumbel_softmax);
TAEDA_COMPAT_DEFAULTS(hardshrink);
TAEDA_COMPAT_DEFAULTS(hardtanh);
TAEDA_COMPAT_DEFAULTS(leaky_relu);
TAEDA_COMPAT_DEFAULTS(normalize);
TAEDA_COMPAT_DEFAULTS(relu);
TAEDA_COMPAT_DEFAULTS(relu6);
TAEDA_COMPAT_DEFAULTS(selu);
TAEDA_COMPAT_DEFAULTS(softplus);
TAEDA_COMPAT_DEFAULTS(softshrink);

TAEDA_COMPAT_DEFAULTS2(binary_cross_entropy);
TAEDA_COMPAT_DEFAULTS2(binary_cross_entropy_with_logits);
TAEDA_COMPAT_DEFAULTS2(conv1d);
TAEDA_COMPAT_DEFAULTS2(conv2d);
TAEDA_COMPAT_DEFAULTS2(conv3d);
TAEDA_COMPAT_DEFAULTS2(conv_transpose1d);
TAEDA_COMPAT_DEFAULTS2(conv_transpose2d);
TAEDA_COMPAT_DEFAULTS2(conv_transpose3d);
TAEDA_COMPAT_DEFAULTS2(cosine_similarity);
TAEDA_COMPAT_DEFAULTS2(cross_entropy);
TAEDA_COMPAT_DEFAULTS2(hinge_embedding_loss);
TAEDA_COMPAT_DEFAULTS2(huber_loss);
TAEDA_COMPAT_DEFAULTS2(kl_div);
TAEDA_COMPAT_DEFAULTS2(l1_loss);
TAEDA_COMPAT_DEFAULTS2(mse_loss);
TAEDA_COMPAT_DEFAULTS2(nll_loss);
TAEDA_COMPAT_DEFAULTS2(pairwise_distance);
TAEDA_COMPAT_DEFAULTS2(poisson_nll_loss);
TAEDA_COMPAT_DEFAULTS2(smooth_l1_loss);
TAEDA_COMPAT_DEFAULTS2(soft_margin_loss);

TAEDA_COMPAT_DEFAULTS3(batch_norm);
TAEDA_COMPAT_DEFAULTS3(cosine_embedding_loss);
TAEDA_COMPAT_DEFAULTS3(margin_ranking_loss);
TAEDA_COMPAT_DEFAULTS3(triplet_margin_loss);
#undef TAEDA_COMPAT_DEFAULTS
#undef TAEDA_COMPAT_DEFAULTS2
#undef TAEDA_COMPAT_DEFAULTS3

/// The loss with another beta than the options'.
template <class = void>  // Note [Plain forms and options]
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta) {
  return taeda::smooth_l1_loss(input, target, options.reduction(), beta);
}
using taeda::one_hot;

}  // namespace taeda::nn::functional
