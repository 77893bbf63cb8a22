// Texts between ranks: what objects travel as (objects.h).
#pragma once

#include <string>
#include <vector>

#include "taeda/distributed/group/collectives.h"

namespace taeda::inline v0_2::distributed::detail {

// Roots are ranks of the world, results in the order of the group's ranks. Where this process is
// not in the group nothing happens, and the result is empty.

std::vector<std::string> all_gather_texts(const std::string& text, const ProcessGroupPtr& group,
                                          Site site);
/// Empty but on `dst`.
std::vector<std::string> gather_texts(const std::string& text, int dst,
                                      const ProcessGroupPtr& group, Site site);
/// Those of `src`, of which every rank has as many.
std::vector<std::string> broadcast_texts(const std::vector<std::string>& texts, int src,
                                         const ProcessGroupPtr& group, Site site);
/// This rank's of those that `src` has.
std::string scatter_text(const std::vector<std::string>& texts, int src,
                         const ProcessGroupPtr& group, Site site);

}  // namespace taeda::distributed::detail
