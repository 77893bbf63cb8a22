#include "taeda/distributions/kl.h"

#include <mutex>

#include "taeda/base/error.h"
#include "taeda/distributions/kl_formulas.h"

namespace taeda::inline v0_2::distributions {

namespace {

struct Shared {
  Shared() {
    add_divergences_of_reals(all);
    add_divergences_of_outcomes(all);
    add_divergences_of_mixed_pairs(all);
  }
  std::mutex mutex;
  Divergences all;
};

Shared& shared() {
  static Shared divergences;
  return divergences;
}

/// The formula of the pair that is nearest to the classes of p and q, by the sum of the steps up
/// from both.
detail::Divergence nearest(const Distribution& p, const Distribution& q) {
  const auto of_p = p.lineage(), of_q = q.lineage();
  const size_t most = of_p.size() + of_q.size();
  const std::lock_guard lock(shared().mutex);
  for (size_t steps = 0; steps < most; ++steps)
    for (size_t up = 0; up <= steps; ++up) {
      const size_t other = steps - up;
      if (up >= of_p.size() || other >= of_q.size()) continue;
      const auto f = shared().all.find({of_p[of_p.size() - 1 - up], of_q[of_q.size() - 1 - other]});
      if (f) return f;
    }
  return {};
}

}  // namespace

namespace detail {

void add_divergence(ClassPair classes, Divergence f) {
  const std::lock_guard lock(shared().mutex);
  shared().all.insert(classes, std::move(f));
}

}  // namespace detail

Tensor kl_divergence(const Distribution& p, const Distribution& q) {
  const detail::Divergence formula = nearest(p, q);
  TAEDA_CHECK_NOT_IMPLEMENTED(formula, "No KL(p || q) is implemented for p type ", p.name(),
                              " and q type ", q.name());
  return formula(p, q);
}

}  // namespace taeda::inline v0_2::distributions
