#include "taeda/distributed/group/collectives.h"

#include "taeda/base/error.h"
#include "taeda/distributed/group/world.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// The group that is meant.
ProcessGroup& resolve(const ProcessGroupPtr& group) { return group ? *group : *default_group(); }

/// `rank` of the world in the group.
int rank_in(const ProcessGroup& group, const char* op, int rank) {
  const int out = index_of(group.ranks(), rank);
  TAEDA_CHECK_VALUE(out >= 0, op, ": rank ", rank, " is not part of group '", group.name(), "'");
  return out;
}

/// What a function that may be asynchronous returns.
template <class F>
WorkPtr call(const ProcessGroupPtr& group, bool async, Site site, F&& f) {
  ProcessGroup& g = resolve(group);
  if (!g.is_member()) return nullptr;
  WorkPtr work = f(g, ProcessGroup::CallOptions{async, site});
  return async ? work : nullptr;
}

}  // namespace

WorkPtr broadcast(const Tensor& tensor, int src, const ProcessGroupPtr& group, bool async_op,
                  Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.broadcast(tensor, rank_in(g, "broadcast", src), options);
  });
}

WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const ProcessGroupPtr& group, bool async_op,
                   Site site) {
  return call(group, async_op, site,
              [&](ProcessGroup& g, auto options) { return g.all_reduce(tensor, op, options); });
}

WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op, const ProcessGroupPtr& group,
               bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.reduce(tensor, rank_in(g, "reduce", dst), op, options);
  });
}

WorkPtr all_gather(const std::vector<Tensor>& tensor_list, const Tensor& tensor,
                   const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.all_gather(tensor_list, tensor, options);
  });
}

WorkPtr all_gather_into_tensor(const Tensor& output_tensor, const Tensor& input_tensor,
                               const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.all_gather_into_tensor(output_tensor, input_tensor, options);
  });
}

WorkPtr gather(const Tensor& tensor, const std::vector<Tensor>& gather_list, int dst,
               const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.gather(gather_list, tensor, rank_in(g, "gather", dst), options);
  });
}

WorkPtr scatter(const Tensor& tensor, const std::vector<Tensor>& scatter_list, int src,
                const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.scatter(tensor, scatter_list, rank_in(g, "scatter", src), options);
  });
}

WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& input_list, ReduceOp op,
                       const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.reduce_scatter(output, input_list, op, options);
  });
}

WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input, ReduceOp op,
                              const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.reduce_scatter_tensor(output, input, op, options);
  });
}

WorkPtr all_to_all(const std::vector<Tensor>& output_tensor_list,
                   const std::vector<Tensor>& input_tensor_list, const ProcessGroupPtr& group,
                   bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.all_to_all(output_tensor_list, input_tensor_list, options);
  });
}

WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          std::vector<int64_t> output_split_sizes,
                          std::vector<int64_t> input_split_sizes, const ProcessGroupPtr& group,
                          bool async_op, Site site) {
  return call(group, async_op, site, [&](ProcessGroup& g, auto options) {
    return g.all_to_all_single(output, input, std::move(output_split_sizes),
                               std::move(input_split_sizes), options);
  });
}

WorkPtr barrier(const ProcessGroupPtr& group, bool async_op, Site site) {
  return call(group, async_op, site,
              [&](ProcessGroup& g, auto options) { return g.barrier(options); });
}

void monitored_barrier(const ProcessGroupPtr& group,
                       std::optional<std::chrono::milliseconds> timeout, bool wait_all_ranks,
                       Site site) {
  ProcessGroup& g = resolve(group);
  if (g.is_member()) g.monitored_barrier(timeout.value_or(g.timeout()), wait_all_ranks, site);
}

void send(const Tensor& tensor, int dst, const ProcessGroupPtr& group, int64_t tag, Site site) {
  call(group, false, site, [&](ProcessGroup& g, auto options) {
    return g.send(tensor, rank_in(g, "send", dst), tag, options);
  });
}

int recv(const Tensor& tensor, std::optional<int> src, const ProcessGroupPtr& group, int64_t tag,
         Site site) {
  ProcessGroup& g = resolve(group);
  if (!g.is_member()) return -1;
  const int from = src ? rank_in(g, "recv", *src) : -1;
  return g.ranks().at(static_cast<size_t>(g.recv(tensor, from, tag, {false, site})->source_rank()));
}

WorkPtr isend(const Tensor& tensor, int dst, const ProcessGroupPtr& group, int64_t tag, Site site) {
  return call(group, true, site, [&](ProcessGroup& g, auto options) {
    return g.send(tensor, rank_in(g, "isend", dst), tag, options);
  });
}

WorkPtr irecv(const Tensor& tensor, std::optional<int> src, const ProcessGroupPtr& group,
              int64_t tag, Site site) {
  return call(group, true, site, [&](ProcessGroup& g, auto options) {
    return g.recv(tensor, src ? rank_in(g, "irecv", *src) : -1, tag, options);
  });
}

std::vector<WorkPtr> batch_isend_irecv(const std::vector<P2POp>& p2p_op_list, Site site) {
  TAEDA_CHECK_VALUE(!p2p_op_list.empty(),
                    "batch_isend_irecv: Invalid ``p2p_op_list``. Each op is "
                    "expected to be of type ``P2POp``, got none");
  std::vector<WorkPtr> out;
  for (const P2POp& p : p2p_op_list) {
    WorkPtr work = p.op == P2POp::Isend ? isend(p.tensor, p.peer, p.group, p.tag, site)
                                        : irecv(p.tensor, p.peer, p.group, p.tag, site);
    if (work) out.push_back(std::move(work));
  }
  return out;
}

}  // namespace taeda::distributed
