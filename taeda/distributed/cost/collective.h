// What collectives take on a network.
#pragma once

#include <cstdint>

#include "taeda/distributed/cost/network.h"

namespace taeda::inline v0_2::distributed::cost {

struct Cost {
  double seconds = 0;
  double bytes = 0;  ///< that each device sends
  const char* algorithm = "";
};

// Ways to reduce S bytes on P devices, neighbours on nodes of g. With n nodes, hops of latency a_l
// within and a_r between them:
//
// ring          2 (P - 1) steps, each of which waits for the average hop:
//               2 (P - 1) / P (n a_r + (P - n) a_l + S / b), where b is what a device sends or all
//               adapters of a node together, whichever is less (Patarasuk and Yuan, "Bandwidth
//               optimal all-reduce algorithms for clusters of workstations", JPDC 69, 2009).
// tree          A chain in each node and two binary trees over the nodes, each for half of the
//               data, so that every node is a leaf of one (Sanders, Speck and Traeff, "Two-tree
//               algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
//               35, 2009). Up and down take L = 2 ((g - 1) a_l + log2(n) a_r), the volume
//               V = 2 S / b; in pieces of the best size together (sqrt(L) + sqrt(V))^2.
// hierarchical  Reduce-scatter in each node, one of the above for 1/g of the data between devices
//               of the same place on all nodes, each with its share of the adapters, and all-gather
//               in each node (Thakur, Rabenseifner and Gropp, "Optimization of collective
//               communication operations in MPICH", IJHPCA 19, 2005, compose likewise).

Cost ring_all_reduce(double bytes, int64_t devices, const Network& network);
Cost tree_all_reduce(double bytes, int64_t devices, const Network& network);
/// The ring for devices of one node.
Cost hierarchical_all_reduce(double bytes, int64_t devices, const Network& network);
/// The one of the three that takes least. One device sends nothing.
Cost all_reduce(double bytes, int64_t devices, const Network& network);

/// Down the trees above. `Cost::bytes` is what the busiest device sends.
Cost broadcast(double bytes, int64_t devices, const Network& network);

/// From one device to another, counted from 0 through all nodes.
double send_seconds(double bytes, int64_t from, int64_t to, const Network& network);

}  // namespace taeda::inline v0_2::distributed::cost
