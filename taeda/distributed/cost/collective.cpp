#include "taeda/distributed/cost/collective.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cost {

namespace {

/// How `devices` neighbours lie on nodes.
struct Shape {
  int64_t nodes, per_node;
};

Shape shape_of(int64_t devices, const Network& n) {
  TAEDA_CHECK_VALUE(devices >= 1, "a collective needs a device, got ", devices);
  TAEDA_CHECK_VALUE(n.devices_per_node >= 1, "a network needs a device on each node, got ",
                    n.devices_per_node);
  const int64_t per_node = std::min(devices, n.devices_per_node);
  return {devices / per_node + (devices % per_node != 0), per_node};
}

/// What a chain through all devices carries.
double chain_bandwidth(const Shape& s, const Network& n) {
  return s.nodes == 1 ? n.local.bandwidth : std::min(n.local.bandwidth, n.node_bandwidth());
}

/// Seconds from a tree's root to its last leaf, for nothing.
double tree_latency(const Shape& s, const Network& n) {
  const int levels = std::bit_width(static_cast<uint64_t>(s.nodes - 1));
  return static_cast<double>(s.per_node - 1) * n.local.latency + levels * n.remote.latency;
}

/// `latency` and `volume` are seconds of the whole way for nothing, and of all data over one hop.
double pipelined(double latency, double volume) {
  return std::pow(std::sqrt(latency) + std::sqrt(volume), 2);
}

/// 2 (P - 1) / P: how often each byte is sent.
double rounds(int64_t devices) {
  return 2 * static_cast<double>(devices - 1) / static_cast<double>(devices);
}

}  // namespace

Cost ring_all_reduce(double bytes, int64_t devices, const Network& n) {
  const Shape s = shape_of(devices, n);
  const int64_t remote_hops = s.nodes == 1 ? 0 : s.nodes;
  const double latency = static_cast<double>(remote_hops) * n.remote.latency +
                         static_cast<double>(devices - remote_hops) * n.local.latency;
  return {n.startup + rounds(devices) * (latency + bytes / chain_bandwidth(s, n)),
          rounds(devices) * bytes, "ring"};
}

Cost tree_all_reduce(double bytes, int64_t devices, const Network& n) {
  const Shape s = shape_of(devices, n);
  return {n.startup + pipelined(2 * tree_latency(s, n), 2 * bytes / chain_bandwidth(s, n)),
          rounds(devices) * bytes, "tree"};
}

Cost hierarchical_all_reduce(double bytes, int64_t devices, const Network& n) {
  const Shape s = shape_of(devices, n);
  Cost cost = ring_all_reduce(bytes, s.per_node, n);
  if (s.nodes == 1) return cost;
  Network between = n;
  between.local = between.remote = n.share_of_remote(s.per_node);
  between.devices_per_node = between.adapters = 1;
  between.startup = 0;
  const double part = bytes / static_cast<double>(s.per_node);
  const Cost ring = ring_all_reduce(part, s.nodes, between);
  const Cost tree = tree_all_reduce(part, s.nodes, between);
  cost.seconds += std::min(ring.seconds, tree.seconds);
  cost.bytes += ring.bytes;
  cost.algorithm = "hierarchical";
  return cost;
}

Cost all_reduce(double bytes, int64_t devices, const Network& n) {
  if (devices <= 1) return {0, 0, "none"};
  return std::min({ring_all_reduce(bytes, devices, n), tree_all_reduce(bytes, devices, n),
                   hierarchical_all_reduce(bytes, devices, n)},
                  [](const Cost& a, const Cost& b) { return a.seconds < b.seconds; });
}

Cost broadcast(double bytes, int64_t devices, const Network& n) {
  if (devices <= 1 || bytes == 0) return {0, 0, "none"};
  const Shape s = shape_of(devices, n);
  return {n.startup + pipelined(tree_latency(s, n), bytes / chain_bandwidth(s, n)), bytes, "tree"};
}

double send_seconds(double bytes, int64_t from, int64_t to, const Network& n) {
  if (from == to) return 0;
  const bool same_node = from / n.devices_per_node == to / n.devices_per_node;
  return (same_node ? n.local : n.share_of_remote(n.devices_per_node)).seconds(bytes);
}

}  // namespace taeda::inline v0_2::distributed::cost
