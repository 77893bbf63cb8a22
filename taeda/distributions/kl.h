// The Kullback-Leibler divergence of two distributions, by pairs of their classes.
#pragma once

#include <functional>
#include <typeindex>
#include <utility>

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// KL(p || q), the mean of log p(x) - log q(x) over draws of p; of the broadcast batch shapes.
/// Throws NotImplementedError for a pair without a formula.
Tensor kl_divergence(const Distribution& p, const Distribution& q);

namespace detail {

using Divergence = std::function<Tensor(const Distribution&, const Distribution&)>;
using ClassPair = std::pair<std::type_index, std::type_index>;
void add_divergence(ClassPair classes, Divergence f);

template <class P, class Q>
ClassPair pair_of() {
  return {typeid(P), typeid(Q)};
}
template <class P, class Q, class F>
Divergence divergence_of(F f) {
  return [f](const Distribution& p, const Distribution& q) {
    return f(dynamic_cast<const P&>(p), dynamic_cast<const Q&>(q));
  };
}

}  // namespace detail

/// Makes kl_divergence take pairs of a P and a Q, or of classes derived from them, for which there
/// is none closer: `register_kl<Mine, Normal>([](const Mine& p, const Normal& q) { return ...; })`.
template <class P, class Q, class F>
void register_kl(F f) {
  detail::add_divergence(detail::pair_of<P, Q>(), detail::divergence_of<P, Q>(std::move(f)));
}

}  // namespace taeda::inline v0_2::distributions
