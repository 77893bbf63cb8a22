// What distributed autograd keeps at one worker.
//
// Note [The backward pass over workers]
// A message within a context that carries tensors with a gradient is a send at one worker and a
// receive at the other. Backward the receive sends gradients and the send takes them: it is a gate
// that waits until they come. A worker runs one pass of the engine over all of its part: a clock
// node starts its receives and the latest of its gates, gates run from the latest to the earliest,
// and after all other nodes that are ready (their sequence number is 0, that of nodes made in a
// context is not). Every receive sends something, be it that there is no gradient. So nobody waits
// for ever: a gate waits for a receive that was made after it, and that one runs when the gates
// that were made after it have opened. This is PyTorch's FAST mode without its assumption that
// every message takes part in the backward pass.
//
// Who begins tells the workers that it exchanged messages with, they tell theirs; each answers when
// its own part is done, with the workers it knows, until the first has an answer of all. A worker
// that fails sends its error where others wait for it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "taeda/autograd/node.h"
#include "taeda/rpc/agent.h"

namespace taeda::inline v0_2::distributed::rpc {

/// One backward pass at one worker.
class ContextPass {
 public:
  /// Whether the caller is the first to ask; he runs it.
  bool begin();
  /// Where the gradients of a message arrive: a std::vector<Tensor>.
  std::shared_ptr<detail::FutureState> gate(int64_t message, int64_t peer);
  /// Fails the gates that wait for a worker.
  void fail_gates(int64_t peer, const std::exception_ptr& error);

  /// Done when this worker's part is.
  const std::shared_ptr<detail::FutureState> done = std::make_shared<detail::FutureState>();

 private:
  struct Gate {
    std::shared_ptr<detail::FutureState> gradients = std::make_shared<detail::FutureState>();
    int64_t peer = -1;
  };

  std::mutex mutex_;
  bool begun_ = false;
  std::map<int64_t, Gate> gates_;
  std::map<int64_t, std::exception_ptr> failed_peers_;
};

class Context : public std::enable_shared_from_this<Context> {
 public:
  /// A message that was sent: where gradients of its tensors go.
  struct Sent {
    int64_t message, peer;
    std::vector<autograd::Edge> edges;
  };
  using Gradients = std::vector<std::pair<Tensor, Tensor>>;

  Context(Agent& agent, int64_t id) : agent(agent), id(id) {}

  void add_peer(int64_t peer);
  std::set<int64_t> peers() const;
  void add_sent(Sent sent);
  /// The node that tensors of a message get as their history.
  autograd::NodePtr add_received(int64_t message, int64_t peer);
  std::shared_ptr<ContextPass> pass(int64_t number);
  /// Fails the gates of all passes.
  void fail_gates(const std::exception_ptr& error);
  /// Runs this worker's part of a pass.
  void run(int64_t number, const std::vector<Tensor>& roots, bool retain_graph);
  /// Leaves and their gradients.
  Gradients gradients() const;

  Agent& agent;
  const int64_t id;

 private:
  friend class ReceiveNode;

  void begin(int64_t number);
  void end();
  void fail_receives(const std::string& why);
  void compute(ContextPass& pass, const std::vector<Tensor>& roots, bool retain_graph);
  void start_peers(int64_t number, const std::shared_ptr<ContextPass>& pass, bool retain_graph);
  void accumulate(const std::vector<Tensor>& leaves, const std::vector<Tensor>& gradients);
  /// To the send of a message; `error` is empty, or why there are no gradients.
  void send_gradients(int64_t message, int64_t peer, const std::vector<Tensor>& gradients,
                      const std::string& error);

  mutable std::mutex mutex_;
  std::set<int64_t> peers_;
  std::vector<Sent> sent_;
  std::vector<autograd::NodePtr> received_;
  std::map<int64_t, std::shared_ptr<ContextPass>> passes_;
  int64_t running_ = -1;        ///< the number of a pass
  std::set<int64_t> answered_;  ///< messages whose gradients were sent in it
  std::map<TensorImpl*, std::pair<Tensor, Tensor>> gradients_;
};

/// The contexts that a worker takes part in.
class Contexts {
 public:
  explicit Contexts(Agent& agent);

  /// The context of the calling thread; -1 for none.
  static int64_t current();
  class Scope {
   public:
    explicit Scope(int64_t id);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const int64_t previous_;
  };

  int64_t make();
  /// Fails the gates that wait: no gradients come any more.
  void fail_gates(const std::exception_ptr& error);
  /// Here, and at all workers that have part in it.
  void release(int64_t id);
  /// Throws ValueError for one that does not exist.
  std::shared_ptr<Context> get(int64_t id) const;
  void backward(int64_t id, const std::vector<Tensor>& roots, bool retain_graph);

  /// Has a worker run its part of a pass, if it does not yet; the answer, the workers that it knows
  /// (a std::set of their numbers), comes when that is done.
  static Agent::FuturePtr start_pass(Agent& agent, int64_t peer, int64_t context, int64_t number,
                                     bool retain_graph);

  /// Writes what the receiver of `message` must know, and remembers it, before the message.
  void write(Writer& out, const Writer& message, int64_t id);
  /// Reads that; the context of the message.
  int64_t read(Reader& in);

 private:
  std::shared_ptr<Context> ensure(int64_t id);
  void serve_start(Request& request);
  void serve_gradients(Request& request);
  int64_t next_id();

  Agent& agent_;
  mutable std::mutex mutex_;
  int64_t last_ = 0;
  std::map<int64_t, std::shared_ptr<Context>> contexts_;
};

}  // namespace taeda::inline v0_2::distributed::rpc
