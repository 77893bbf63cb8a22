#include "taeda/distributed/metrics.h"

#include <sstream>

#include "taeda/distributed/group/texts.h"
#include "taeda/io/serialize.h"

namespace taeda::inline v0_2::distributed::detail {

void sync(training::Metric& metric, const ProcessGroupPtr& group, Site site) {
  std::ostringstream own;
  save(metric.state(), own);
  const std::vector<std::string> states = all_gather_texts(own.str(), group, site);
  if (states.empty()) return;  // not a member
  metric.reset();
  for (const std::string& text : states) {
    std::istringstream in(text);
    std::vector<Tensor> state;
    load(state, in);
    metric.merge(state);
  }
}

}  // namespace taeda::inline v0_2::distributed::detail
