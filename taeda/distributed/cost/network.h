// The wires between the devices of a cluster, as far as they cost time.
#pragma once

#include <cstdint>
#include <string>

#include "taeda/device/sim_cost.h"

namespace taeda::inline v0_2::distributed::cost {

/// What a message of n bytes takes: latency + n / bandwidth (Hockney, "The communication challenge
/// for MPP", Parallel Computing 20, 1994).
struct Link {
  double latency = 0;    ///< seconds
  double bandwidth = 0;  ///< bytes per second, each way
  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// Nodes of equally many devices. `local` is between two devices of a node, each of which has one;
/// `remote` is one adapter of a node, of which its devices share `adapters`.
struct Network {
  std::string name;
  Link local, remote;
  int64_t devices_per_node = 8;
  int64_t adapters = 8;
  double startup = 0;  ///< seconds before a collective's first message

  /// What `devices` of a node send together to other nodes; in all, and each its share.
  double node_bandwidth() const { return remote.bandwidth * static_cast<double>(adapters); }
  Link share_of_remote(int64_t devices) const;
};

/// The network that `text` describes, between devices of the model. It begins with a name of
/// `network_names()`, or with nothing, and goes on with settings: "ib400", "ib100,adapters=1",
/// "latency=5us,bandwidth=12.5GB/s,adapters=1,node=4". Latency and bandwidth are those of an
/// adapter. Throws ValueError, saying what there is, for other text.
Network network(const std::string& text, const sim::CostModel& device);
/// Comma-separated.
std::string network_names();

}  // namespace taeda::inline v0_2::distributed::cost
