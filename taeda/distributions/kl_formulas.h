// The library's own divergences.
#pragma once

#include <map>

#include "taeda/distributions/kl.h"

namespace taeda::inline v0_2::distributions {

class Divergences {
 public:
  template <class P, class Q, class F>
  void add(F f) {
    insert(detail::pair_of<P, Q>(), detail::divergence_of<P, Q>(std::move(f)));
  }
  void insert(detail::ClassPair classes, detail::Divergence f) {
    of_.insert_or_assign(classes, std::move(f));
  }
  /// An empty function, if there is none.
  detail::Divergence find(detail::ClassPair classes) const {
    const auto found = of_.find(classes);
    return found == of_.end() ? detail::Divergence() : found->second;
  }

 private:
  std::map<detail::ClassPair, detail::Divergence> of_;
};

void add_divergences_of_reals(Divergences& all);
void add_divergences_of_outcomes(Divergences& all);
void add_divergences_of_mixed_pairs(Divergences& all);

}  // namespace taeda::inline v0_2::distributions
