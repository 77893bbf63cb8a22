#include "taeda/autograd/lanes.h"

#include <algorithm>
#include <optional>

#include "taeda/autograd/sequence.h"
#include "taeda/device/host_clock.h"
#include "taeda/tensor/thread_state.h"

namespace taeda::inline v0_2::autograd {

namespace {

/// The lane that this thread runs, of the pass that runs here.
thread_local void* current_lane = nullptr;

}  // namespace

Lanes::Lanes(Pass& pass) : pass_(pass), states_(pass.table_.states()) {
  // The first lane is the caller's.
  for (const auto& [edge, grad] : pass.roots_)
    if (const Device d = edge.node->stream.device(); !d.is_cpu()) {
      devices_.push_back(d);
      break;
    }
  for (const Device d : pass.accelerators_)
    if (devices_.empty() || d != devices_[0]) devices_.push_back(d);
  for (size_t i = 0; i < devices_.size(); ++i) lanes_.push_back(std::make_unique<Lane>());
  plan();
}

size_t Lanes::index(const NodeState& state) const {
  return static_cast<size_t>(&state - states_.data());
}

uint32_t Lanes::lane_of(const Node& node) {
  const Device d = node.stream.device();
  if (d.is_cpu()) return 0;
  return static_cast<uint32_t>(std::find(devices_.begin(), devices_.end(), d) - devices_.begin());
}

/// Finds the order in which one thread would run the nodes, and divides it.
void Lanes::plan() {
  places_.resize(states_.size());
  std::vector<int> waiting;
  std::priority_queue<Node*, std::vector<Node*>, Pass::BySequence> ready;
  for (const NodeState& s : states_) {
    waiting.push_back(s.waiting);
    if (s.waiting == 0) ready.push(s.node.get());
  }
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    Node* const node = ready.top();
    ready.pop();
    const NodeState& state = pass_.table_.at(node);
    Place& place = places_[index(state)];
    place.position = static_cast<uint32_t>(order.size());
    place.lane = lane_of(*node);
    order.push_back(static_cast<uint32_t>(index(state)));
    if (state.end) continue;
    for (const Edge& e : node->edges)
      if (e && --waiting[index(pass_.table_.at(e.node.get()))] == 0) ready.push(e.node.get());
  }
  give_mail(order);
  for (const bool last : {false, true})
    for (const uint32_t i : order)
      if ((places_[i].mail && is_sink(*states_[i].node)) == last)
        lanes_[places_[i].lane]->order.push_back(i);
}

/// Gives a mailbox to every node that another lane feeds, or a sink that another stream does, and
/// ranks what goes there.
void Lanes::give_mail(const std::vector<uint32_t>& order) {
  for (const uint32_t i : order) {
    if (states_[i].end) continue;
    for (const Edge& e : states_[i].node->edges) {
      if (!e) continue;
      Place& to = places_[index(pass_.table_.at(e.node.get()))];
      const bool other_stream = is_sink(*e.node) && !(e.node->stream == states_[i].node->stream);
      if (to.mail || (to.lane == places_[i].lane && !other_stream)) continue;
      to.mail = std::make_unique<Mailbox>();
      to.mail->next_rank.resize(e.node->num_inputs());
      to.mail->made.resize(e.node->num_inputs());
    }
  }
  for (const uint32_t i : order) {
    if (states_[i].end) continue;
    const auto& edges = states_[i].node->edges;
    for (size_t k = 0; k < edges.size(); ++k) {
      if (!edges[k]) continue;
      Place& to = places_[index(pass_.table_.at(edges[k].node.get()))];
      if (!to.mail) continue;
      places_[i].ranks.resize(edges.size());
      places_[i].ranks[k] = to.mail->next_rank[edges[k].input_nr]++;
    }
  }
  for (const uint32_t i : order)
    if (places_[i].mail) std::ranges::fill(places_[i].mail->next_rank, 0);
}

void Lanes::run() {
  pass_.lanes_ = this;
  const uint64_t first_number = next_sequence_nr();
  std::vector<uint64_t> numbers(lanes_.size());
  run_side_by_side(lanes_.size(), [&](size_t lane) {
    set_next_sequence_nr(first_number);
    work(lane);
    numbers[lane] = next_sequence_nr();
  });
  set_next_sequence_nr(*std::ranges::max_element(numbers));
  pass_.lanes_ = nullptr;
  if (error_) std::rethrow_exception(error_);
  collect();
}

void Lanes::work(size_t number) {
  const Pass::Here here(pass_);
  Lane& lane = *lanes_[number];
  void* const outer = std::exchange(current_lane, &lane);
  for (const uint32_t i : lane.order) {
    lane.position = places_[i].position;
    if (!wait_for(lane, states_[i], lane.position)) continue;
    try {
      if (places_[i].mail) open_mail(states_[i], *places_[i].mail);
      pass_.evaluate(states_[i]);
    } catch (...) {
      fail(lane.position, std::current_exception());
    }
  }
  current_lane = outer;
}

/// Returns when the node has got everything; false when it is not to run.
bool Lanes::wait_for(Lane& lane, NodeState& state, uint32_t position) {
  const std::atomic_ref<int> waiting(state.waiting);
  const auto cancelled = [&] { return stop_at_.load(std::memory_order_acquire) < position; };
  const auto complete = [&] { return waiting.load(std::memory_order_acquire) == 0; };
  if (!complete() && !cancelled()) {
    std::unique_lock lock(lane.mutex);
    lane.changed.wait(lock, [&] { return complete() || cancelled(); });
  }
  return !cancelled();
}

void Lanes::open_mail(NodeState& state, Mailbox& mail) {
  set_host_clock(std::max(host_clock(), mail.clock));
  for (size_t i = 0; i < mail.made.size(); ++i) {
    if (mail.made[i].empty()) continue;
    const Stream stream = state.node->stream_on(state.grads[i].device());
    for (const Event& e : mail.made[i]) stream.wait_event(e);
  }
}

/// Hands a node's results on.
void Lanes::finish(NodeState& state, TensorVec out) {
  const Node& node = *state.node;
  const Place& from = places_[index(state)];
  for (size_t i = 0; i < node.edges.size(); ++i) {
    const Edge& edge = node.edges[i];
    if (!edge) continue;
    NodeState& next = *pass_.table_.find_existing(edge.node.get());
    const Place& to = places_[index(next)];
    Tensor grad = i < out.size() && next.needed ? std::move(out[i]) : Tensor();
    if (to.mail)
      post(next, *to.mail, {edge.input_nr, from.ranks[i], std::move(grad), Event()}, node);
    else if (grad.defined())
      pass_.deliver(next, edge.input_nr, std::move(grad), &node);
    if (std::atomic_ref<int>(next.waiting).fetch_sub(1, std::memory_order_acq_rel) == 1 &&
        to.lane != from.lane) {
      Lane& lane = *lanes_[to.lane];
      std::lock_guard lock(lane.mutex);
      lane.changed.notify_one();
    }
  }
}

void Lanes::post(NodeState& to, Mailbox& mail, Letter letter, const Node& from) {
  if (letter.grad.defined() && !letter.grad.is_cpu()) {
    const Device device = letter.grad.device();
    const Stream made = from.stream_on(device), used = to.node->stream_on(device);
    if (!(made == used)) {
      // The place in the producer's stream is that of now; the consumer waits when it gets there.
      letter.made.record(made);
      mark_user(letter.grad, used);
      pass_.several_streams_ = true;
    }
  }
  std::lock_guard lock(mail.mutex);
  mail.clock = std::max(mail.clock, host_clock());
  mail.early.push_back(std::move(letter));
  for (size_t i = 0; i < mail.early.size();) {
    if (mail.early[i].rank != mail.next_rank[mail.early[i].input_nr]) {
      ++i;
      continue;
    }
    Letter next = std::move(mail.early[i]);
    mail.early.erase(mail.early.begin() + static_cast<ptrdiff_t>(i));
    ++mail.next_rank[next.input_nr];
    if (next.grad.defined()) sort_in(to, mail, std::move(next));
    i = 0;
  }
}

/// Adds the next gradient of an input to what the node has been given.
void Lanes::sort_in(NodeState& to, Mailbox& mail, Letter letter) {
  if (to.grads.size() < to.node->num_inputs()) to.grads.resize(to.node->num_inputs());
  Tensor& sum = to.grads[letter.input_nr];
  std::vector<Event>& made = mail.made[letter.input_nr];
  if (letter.made.handle()) made.push_back(std::move(letter.made));
  std::optional<StreamGuard> on_stream;
  if (sum.defined() && !sum.is_cpu()) {
    const Stream stream = to.node->stream_on(sum.device());
    for (const Event& e : made) stream.wait_event(e);
    made.clear();
    on_stream.emplace(stream);
  }
  pass_.add_to(sum, std::move(letter.grad));
}

/// Notes what a node threw, and wakes the lanes that wait for what will not come.
void Lanes::fail(uint32_t position, std::exception_ptr error) {
  {
    std::lock_guard lock(error_mutex_);
    if (position >= stop_at_.load(std::memory_order_relaxed)) return;
    error_ = std::move(error);
    stop_at_.store(position, std::memory_order_release);
  }
  for (const auto& lane : lanes_) {
    std::lock_guard lock(lane->mutex);
    lane->changed.notify_one();
  }
}

void Lanes::queue_callback(std::function<void()> f) {
  Lane& lane = *static_cast<Lane*>(current_lane);
  lane.callbacks.emplace_back(lane.position, std::move(f));
}

std::vector<Stream>& Lanes::side_streams() {
  return static_cast<Lane*>(current_lane)->side_streams;
}

/// Gives the pass what its lanes left for its end.
void Lanes::collect() {
  std::vector<std::pair<uint32_t, std::function<void()>>> callbacks;
  for (const auto& lane : lanes_) {
    for (const Stream& s : lane->side_streams) pass_.side_streams_.push_back(s);
    std::ranges::move(lane->callbacks, std::back_inserter(callbacks));
  }
  std::ranges::stable_sort(callbacks, {}, [](const auto& c) { return c.first; });
  for (auto& [position, f] : callbacks) pass_.callbacks_.push_back(std::move(f));
}

}  // namespace taeda::autograd
