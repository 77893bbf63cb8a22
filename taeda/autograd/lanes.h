// A backward pass over several accelerators: one launching thread for each.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "taeda/autograd/pass.h"

namespace taeda::inline v0_2::autograd {

/// Note [Lanes]
/// A lane runs the nodes of one accelerator, in a thread of its own; the caller's thread has the
/// CPU's and those of the device on which the pass begins. The caller's modes and streams hold in
/// all of them.
///
/// Nothing depends on how fast a lane is. The order in which one thread would run the nodes follows
/// from the graph alone, so it is known before the first one runs: a node's position in it. Each
/// lane takes its own nodes by position and waits for what the next one lacks, though a later one
/// might be ready. A node of which gradients come from other lanes has a mailbox, which adds them
/// in the order of their producers' positions. So sums, what is launched on a device, and the
/// memory it takes are the same every time; sums are those of one thread, bit for bit. Waiting
/// cannot end in a circle: the first of all nodes that have not run is always ready.
///
/// Sinks that another lane or stream feeds come last in their lane, for their stream waits for it,
/// which must not hold back the nodes in between.
///
/// If a node fails, lanes go on up to its position and no further. The caller gets the exception of
/// the first node, by position, that failed: the one that it would have got from one thread.
class Lanes {
 public:
  explicit Lanes(Pass& pass);
  /// Throws what the first node that failed threw.
  void run();

  // For the pass, from the thread of a lane.
  void finish(NodeState& state, TensorVec out);
  void queue_callback(std::function<void()> f);
  std::vector<Stream>& side_streams();

 private:
  /// A gradient on its way, `rank`-th of those for one input of a node.
  struct Letter {
    uint32_t input_nr, rank;
    Tensor grad;  // or undefined
    Event made;   // if it was made on another stream than it is read on
  };
  struct Mailbox {
    std::mutex mutex;
    std::vector<uint32_t> next_rank;       // by input
    std::vector<std::vector<Event>> made;  // by input: to wait for before its sum is used
    std::vector<Letter> early;             // others come before them
    int64_t clock = 0;                     // of the latest sender
  };
  /// What the lanes know about a node, by the index of its state.
  struct Place {
    uint32_t position = 0;
    uint32_t lane = 0;
    std::vector<uint32_t> ranks;  // of its edges' letters
    std::unique_ptr<Mailbox> mail;
  };
  struct Lane {
    std::vector<uint32_t> order;
    std::mutex mutex;  // with `changed`: a node of the lane has got the last it lacked
    std::condition_variable changed;
    std::vector<Stream> side_streams;
    std::vector<std::pair<uint32_t, std::function<void()>>> callbacks;  // with the positions
    uint32_t position = 0;                                              // of the node that runs
  };

  size_t index(const NodeState& state) const;
  uint32_t lane_of(const Node& node);
  void plan();
  void give_mail(const std::vector<uint32_t>& order);
  void work(size_t lane);
  bool wait_for(Lane& lane, NodeState& state, uint32_t position);
  void open_mail(NodeState& state, Mailbox& mail);
  void post(NodeState& to, Mailbox& mail, Letter letter, const Node& from);
  void sort_in(NodeState& to, Mailbox& mail, Letter letter);
  void fail(uint32_t position, std::exception_ptr error);
  void collect();

  Pass& pass_;
  std::vector<NodeState>& states_;
  std::vector<Place> places_;
  std::vector<Device> devices_;  // of the lanes
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::atomic<uint32_t> stop_at_{UINT32_MAX};  // position of the node that failed
};

}  // namespace taeda::autograd
