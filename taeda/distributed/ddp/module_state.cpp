#include "taeda/distributed/ddp/module_state.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "taeda/base/error.h"
#include "taeda/distributed/group/texts.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/parallel/buckets.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// One line for each parameter and buffer.
std::vector<std::string> describe_state(const nn::Module& module) {
  std::vector<std::string> out;
  for (const auto& [name, p] : module.named_parameters())
    out.push_back(taeda::detail::concat("parameter '", name, "' ", dtype_name(p.dtype()), p.sizes(),
                                        p.requires_grad() ? "" : " without gradient"));
  for (const auto& [name, b] : module.named_buffers())
    out.push_back(taeda::detail::concat("buffer '", name, "' ", dtype_name(b.dtype()), b.sizes()));
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    out.push_back(text.substr(at, end - at));
  return out;
}

/// The first difference of two modules.
std::string difference(int rank, const std::string& first, const std::string& other) {
  const std::vector<std::string> a = lines_of(first), b = lines_of(other);
  const auto entry = [](const std::vector<std::string>& lines, size_t i) {
    return i < lines.size() ? lines[i] : std::string("none more");
  };
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return taeda::detail::concat("rank 0 has ", entry(a, i), ", rank ", rank, " has ", entry(b, i));
}

}  // namespace

void check_same_module(const nn::Module& module, const ProcessGroupPtr& group, Device device,
                       SourceLocation site) {
  const std::string own = joined(describe_state(module));
  const auto hash = static_cast<int64_t>(std::hash<std::string>()(own));
  const Tensor hashes = make_tensor({group->size()}, kLong, device);
  group->all_gather_into_tensor(hashes, tensor(std::vector<int64_t>{hash}).to(device),
                                {.site = site});
  const Tensor on_host = hashes.cpu();
  const int64_t* const h = on_host.data_ptr<int64_t>();
  if (std::all_of(h, h + group->size(), [&](int64_t x) { return x == h[0]; })) return;
  const auto all = detail::all_gather_texts(own, group, site);
  for (size_t r = 1; r < all.size(); ++r)
    TAEDA_CHECK(all[r] == all[0],
                "DistributedDataParallel expects the same model on all processes, but ",
                difference(static_cast<int>(r), all[0], all[r]));
}

void broadcast_values(const std::vector<Tensor>& tensors, int root, ProcessGroup& group,
                      SourceLocation site) {
  const NoGradGuard values_only;
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  struct Sent {
    std::vector<Tensor> members;
    nn::parallel::FlatLayout layout;
    Tensor flat;
    WorkPtr work;
  };
  std::vector<Sent> all;
  for (const auto& bucket :
       nn::parallel::make_buckets(tensors, order, order, nn::parallel::kValueLimits)) {
    Sent& s = all.emplace_back();
    for (const size_t i : bucket) s.members.push_back(tensors[i].detach());
    s.layout = nn::parallel::FlatLayout(s.members);
    s.flat = s.layout.allocate(s.members[0].device());
    if (group.rank() == root) s.layout.write(s.flat, s.members);
    s.work = group.broadcast(s.flat, root, {.async = true, .site = site});
  }
  for (const Sent& s : all) {
    s.work->wait();
    if (group.rank() == root) continue;
    for (size_t k = 0; k < s.members.size(); ++k) s.members[k].copy_(s.layout.part(s.flat, k));
  }
}

}  // namespace taeda::inline v0_2::distributed
