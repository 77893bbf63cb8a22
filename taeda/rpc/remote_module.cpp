#include "taeda/rpc/remote_module.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::detail {

RemoteDevice::RemoteDevice(const std::string& text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const std::string name = text.substr(0, slash);
  device = slash < text.size() ? text.substr(slash + 1) : "cpu";
  constexpr std::string_view kRank = "rank:";
  int64_t rank = -1;
  const bool by_rank = name.starts_with(kRank);
  if (by_rank) std::from_chars(name.data() + kRank.size(), name.data() + name.size(), rank);
  TAEDA_CHECK_VALUE(!name.empty() && !device.empty() && (!by_rank || rank >= 0),
                    "Could not parse remote_device: '", text,
                    "'. The valid format is '<workername>/<device>' or 'rank:<rank>/<device>'");
  worker = by_rank ? rpc::get_worker_info(rank) : rpc::get_worker_info(name);
}

std::vector<rpc::RRef<Tensor>> references_to(const std::vector<Tensor>& tensors) {
  std::vector<rpc::RRef<Tensor>> out;
  for (const Tensor& t : tensors) out.emplace_back(t);
  return out;
}

}  // namespace taeda::inline v0_2::distributed::detail
