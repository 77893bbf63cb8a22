#include "taeda/distributed/ddp/reducer.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/parallel/lane.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed {

namespace {

bool on_one_device(const std::vector<Tensor>& tensors) {
  return std::ranges::all_of(tensors,
                             [&](const Tensor& t) { return t.device() == tensors[0].device(); });
}

/// A piece of a flat tensor, as a tensor of its own.
Tensor piece(const Tensor& flat, int64_t start, int64_t length) {
  return make_alias(flat, Layout{{length}, {1}, flat.storage_offset() + start}, flat.dtype());
}

}  // namespace

Reducer::Reducer(OrderedDict<std::string, Tensor> parameters, ProcessGroupPtr group,
                 Options options)
    : names_(parameters.keys()),
      parameters_(parameters.values()),
      group_(std::move(group)),
      options_(options),
      one_device_(on_one_device(parameters_)),
      divisor_(group_->size()) {
  std::vector<size_t> order(parameters_.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});  // gradients of the last layers come first
  arrange(order);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Device device = parameters_[i].device();
    if (!device.is_cpu() && !stream_of(device)) streams_.push_back(new_stream(device));
    hooks_.push_back(parameters_[i].register_post_accumulate_grad_hook(
        [this, i](const Tensor&) { on_gradient(i); }));
  }
}

Reducer::~Reducer() {
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (const autograd::Edge edge = autograd::gradient_edge(parameters_[i]))
      edge.node->remove_hook(hooks_[i]);
}

void Reducer::set_comm_hook(CommHook hook) {
  std::lock_guard lock(mutex_);
  comm_hook_ = std::move(hook);
}

void Reducer::set_synchronize(bool on) {
  std::lock_guard lock(mutex_);
  synchronize_ = on;
}

void Reducer::set_divisor(int divisor) {
  std::lock_guard lock(mutex_);
  divisor_ = divisor;
}

size_t Reducer::num_buckets() const {
  std::lock_guard lock(mutex_);
  return buckets_.size();
}

Stream* Reducer::stream_of(Device device) {
  for (Stream& s : streams_)
    if (s.device() == device) return &s;
  return nullptr;
}

/// Divides the parameters into buckets.
void Reducer::arrange(const std::vector<size_t>& order) {
  std::vector<size_t> apart(parameters_.size());
  std::iota(apart.begin(), apart.end(), size_t{0});
  buckets_.clear();
  bucket_of_.assign(parameters_.size(), 0);
  for (auto& members : nn::parallel::make_buckets(parameters_, order, apart, options_.limits)) {
    std::vector<Tensor> tensors;
    for (const size_t i : members) {
      tensors.push_back(parameters_[i]);
      bucket_of_[i] = buckets_.size();
    }
    Bucket& bucket = buckets_.emplace_back();
    bucket.members = std::move(members);
    bucket.layout = nn::parallel::FlatLayout(tensors);
  }
}

void Reducer::after_forward(const std::vector<Tensor>& outputs, bool synchronize) {
  std::lock_guard lock(mutex_);
  synchronize_ = synchronize;
  const bool known = options_.static_graph && !first_pass_;
  if (options_.find_unused && synchronize && !known && exchanges()) search(outputs);
}

/// Notes the parameters that gradients of `outputs` would reach.
void Reducer::search(const std::vector<Tensor>& outputs) {
  reached_.resize(parameters_.size());
  std::unordered_map<const autograd::Node*, size_t> sinks;
  for (size_t i = 0; i < parameters_.size(); ++i)
    sinks.emplace(autograd::gradient_edge(parameters_[i]).node.get(), i);
  std::unordered_set<const autograd::Node*> seen;
  std::vector<const autograd::Node*> stack;
  const auto visit = [&](const autograd::Edge& edge) {
    if (edge && seen.insert(edge.node.get()).second) stack.push_back(edge.node.get());
  };
  for (const Tensor& t : outputs)
    if (t.defined() && t.requires_grad()) visit(autograd::gradient_edge(t));
  while (!stack.empty()) {
    const autograd::Node* node = stack.back();
    stack.pop_back();
    if (const auto sink = sinks.find(node); sink != sinks.end()) reached_[sink->second] = 1;
    for (const autograd::Edge& e : node->edges) visit(e);
  }
}

void Reducer::on_gradient(size_t parameter) {
  std::lock_guard lock(mutex_);
  if (!synchronize_ || !exchanges()) return;
  if (pass_.expired()) {
    // The callback goes with the pass, also when that ends by an error.
    auto token = std::make_shared<PassToken>();
    pass_ = token;
    autograd::queue_callback([this, token] { end_pass(); });
    begin_pass();
  }
  if (states_[parameter] != State::Waiting) {
    complaint_ = taeda::detail::concat(
        "DistributedDataParallel: a gradient came for the parameter '", names_[parameter], "', ",
        options_.static_graph ? "which had none in the first pass, though static_graph is set"
                              : "which the outputs of forward do not depend on. With "
                                "find_unused_parameters, everything that the loss is made of must "
                                "be among them");
    return;
  }
  came_on_[parameter] = current_stream(parameters_[parameter].device());
  order_.push_back(parameter);
  settle(parameter, State::Arrived);
}

/// Forgets what an earlier pass has left, which an error may have ended.
void Reducer::begin_pass() {
  next_ = 0;
  order_.clear();
  complaint_.clear();
  told_.reset();
  having_ = Tensor();
  states_.assign(parameters_.size(), State::Waiting);
  came_on_.resize(parameters_.size());
  for (Bucket& bucket : buckets_) {
    bucket.waiting = bucket.members.size();
    bucket.placed = false;
    bucket.result = {};
  }
  const bool searched = !reached_.empty();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if ((searched && !reached_[i]) || (!never_used_.empty() && never_used_[i]))
      settle(i, State::Missing);
}

/// A parameter has its gradient, or will get none. Sends the buckets that are complete.
void Reducer::settle(size_t parameter, State state) {
  states_[parameter] = state;
  --buckets_[bucket_of_[parameter]].waiting;
  while (next_ < buckets_.size() && buckets_[next_].waiting == 0) send(next_++);
}

void Reducer::send(size_t number) {
  const NoGradGuard values_only;
  Bucket& bucket = buckets_[number];
  const Device device = parameters_[bucket.members[0]].device();
  std::optional<StreamGuard> guard;
  if (Stream* const stream = stream_of(device)) {
    stream->wait_stream(current_stream(device));
    for (const size_t i : bucket.members)
      if (states_[i] == State::Arrived) stream->wait_stream(came_on_[i]);
    guard.emplace(*stream);
  }
  put_together(bucket);
  bucket.result = exchange(number);
  // On threads of several devices the gradients of another one may be read now.
  if (one_device_) place_gradients(bucket, State::Arrived);
}

/// Where a rank has none, what was accumulated before or zero counts.
std::vector<Tensor> Reducer::gradients_of(const Bucket& bucket) const {
  std::vector<Tensor> out;
  for (const size_t i : bucket.members) {
    const Tensor& gradient = parameters_[i].grad();
    out.push_back(gradient.defined() && !shadow_ ? gradient : zeros_like(parameters_[i]));
    const Device device = out.back().device();
    if (!device.is_cpu()) nn::detail::mark_user(out.back(), current_stream(device));
  }
  return out;
}

bool Reducer::is_in_place(const Bucket& bucket, size_t k) const {
  const Tensor& gradient = parameters_[bucket.members[k]].grad();
  return gradient.defined() && !shadow_ && gradient.storage() == bucket.flat.storage() &&
         gradient.layout() == bucket.layout.part(bucket.flat, k).layout();
}

void Reducer::put_together(Bucket& bucket) const {
  const bool tells = !comm_hook_ && &bucket == &buckets_.back();
  const int64_t more = tells ? static_cast<int64_t>(parameters_.size()) : 0;
  const Tensor& like = parameters_[bucket.members[0]];
  const int64_t size = bucket.layout.numel() + more;
  const std::vector<Tensor> gradients = gradients_of(bucket);
  if (!options_.keep_buckets || !bucket.flat.defined() || bucket.flat.numel() != size) {
    bucket.flat = make_tensor({size}, like.dtype(), like.device());
    bucket.layout.write(bucket.flat, gradients);
    return;
  }
  for (size_t k = 0; k < gradients.size(); ++k)
    if (!is_in_place(bucket, k)) bucket.layout.part(bucket.flat, k).copy_(gradients[k]);
}

std::future<Tensor> Reducer::exchange(size_t number) {
  const bool last = number + 1 == buckets_.size();
  const Bucket& bucket = buckets_[number];
  if (last) tell_who_has_what();
  if (!comm_hook_) return average(bucket.flat, last);
  std::vector<Tensor> parameters;
  for (const size_t i : bucket.members) parameters.push_back(parameters_[i]);
  GradBucket given(number, last, bucket.flat, bucket.layout, std::move(parameters));
  return comm_hook_(given);
}

/// After the last bucket nothing is left to compute: it is exchanged by the thread that waits for
/// it, when it has waited for the others, and no other thread has to be woken.
std::future<Tensor> Reducer::average(const Tensor& flat, bool last) const {
  const auto start = [this, flat, factor = 1.0 / divisor_](bool async) {
    return group_->all_reduce(flat, ReduceOp::premul_sum(factor),
                              {.async = async, .site = options_.site});
  };
  if (last)
    return std::async(std::launch::deferred, [start, flat] {
      start(false);
      return flat;
    });
  return std::async(std::launch::deferred, [work = start(true), flat] {
    work->wait();
    return flat;
  });
}

/// With the last bucket all states are known.
void Reducer::tell_who_has_what() {
  const auto count = static_cast<int64_t>(parameters_.size());
  const Tensor& flat = buckets_.back().flat;
  having_ = comm_hook_ ? make_tensor({count}, kFloat, flat.device())
                       : piece(flat, flat.numel() - count, count);
  having_.fill_(shadow_ ? 0 : 1);
  for (size_t i = 0; i < states_.size() && !shadow_; ++i)
    if (states_[i] == State::Missing && !parameters_[i].grad().defined())
      piece(having_, static_cast<int64_t>(i), 1).zero_();
  if (comm_hook_ && group_->size() > 1)
    told_ = group_->all_reduce(having_, ReduceOp::SUM, {.async = true, .site = options_.site});
}

/// Makes gradients parts of their bucket. One with a history keeps it and takes the values.
void Reducer::place_gradients(Bucket& bucket, State which) {
  for (size_t k = 0; k < bucket.members.size(); ++k) {
    const size_t i = bucket.members[k];
    if (states_[i] != which) continue;
    Tensor& gradient = parameters_[i].mutable_grad();
    if (gradient.defined() && gradient.requires_grad()) continue;
    if (!is_in_place(bucket, k)) gradient = bucket.layout.part(bucket.flat, k);
  }
  bucket.placed |= which == State::Arrived;
}

void Reducer::end_pass() {
  const std::string warning = end_pass_locked();
  if (!warning.empty()) TAEDA_WARN(warning);
}

/// What there is to be warned of.
std::string Reducer::end_pass_locked() {
  const std::lock_guard lock(mutex_);
  const NoGradGuard values_only;
  finish_missing();
  for (Bucket& bucket : buckets_) receive(bucket);
  if (!shadow_) place_missing();
  if (!options_.keep_buckets)
    for (Bucket& bucket : buckets_) bucket.flat = Tensor();
  learn_from_first_pass();
  reached_.clear();
  having_ = Tensor();
  pass_.reset();
  if (!complaint_.empty()) throw Error(std::exchange(complaint_, {}));
  return std::exchange(warning_, {});
}

/// Lets the buckets go that wait for gradients.
void Reducer::finish_missing() {
  if (next_ == buckets_.size()) return;
  if (!shadow_) warn_of_missing();
  for (size_t i = 0; i < states_.size(); ++i)
    if (states_[i] == State::Waiting) settle(i, State::Missing);
}

void Reducer::warn_of_missing() {
  std::string names;
  size_t missing = 0;
  for (size_t i = 0; i < states_.size(); ++i)
    if (states_[i] == State::Waiting && ++missing <= 5)
      names += (names.empty() ? "'" : ", '") + names_[i] + "'";
  if (missing > 5) names += " and " + std::to_string(missing - 5) + " more";
  if (options_.static_graph && !first_pass_) {
    complaint_ = "DistributedDataParallel: no gradient came for " + names +
                 ", which had one in the first pass, though static_graph is set";
  } else if (!options_.static_graph && !std::exchange(warned_, true)) {
    warning_ = taeda::detail::concat(
        "DistributedDataParallel: rank ", group_->rank(), " got no gradient for ", names,
        " in backward. They count as zero, and their buckets wait for the end of backward; with "
        "find_unused_parameters, or static_graph if it is so in every pass, they do not.");
  }
}

/// Waits for a bucket's average.
void Reducer::receive(Bucket& bucket) {
  const Device device = bucket.flat.device();
  if (Stream* const stream = stream_of(device)) {
    current_stream(device).wait_stream(*stream);
    nn::detail::mark_user(bucket.flat, current_stream(device));
  }
  const Tensor result = bucket.result.get();
  if (!(result.storage() == bucket.flat.storage()))
    piece(bucket.flat, 0, bucket.layout.numel()).copy_(result);
  if (shadow_) return;
  if (!bucket.placed) place_gradients(bucket, State::Arrived);
  for (size_t k = 0; k < bucket.members.size(); ++k)
    if (const Tensor& g = parameters_[bucket.members[k]].grad(); g.defined() && g.requires_grad())
      g.copy_(bucket.layout.part(bucket.flat, k));
}

/// A parameter without a gradient here gets the average if another rank had one.
void Reducer::place_missing() {
  if (std::ranges::none_of(states_, [](State s) { return s == State::Missing; })) return;
  if (told_) told_->wait();
  const Tensor had = having_.cpu().to(kFloat);
  for (size_t i = 0; i < states_.size(); ++i)
    if (states_[i] == State::Missing && had.data_ptr<float>()[i] == 0)
      states_[i] = State::Waiting;  // nobody has one
  for (Bucket& bucket : buckets_) place_gradients(bucket, State::Missing);
}

void Reducer::learn_from_first_pass() {
  if (!std::exchange(first_pass_, false)) return;
  if (options_.static_graph && !shadow_) {
    never_used_.resize(states_.size());
    for (size_t i = 0; i < states_.size(); ++i) never_used_[i] = states_[i] != State::Arrived;
  }
  arrange(common_order());
}

/// That of rank 0, whose gradients that did not come follow in the order they had.
std::vector<size_t> Reducer::common_order() const {
  std::vector<int64_t> order(order_.begin(), order_.end());
  for (const Bucket& bucket : buckets_)
    for (const size_t i : bucket.members)
      if (states_[i] != State::Arrived) order.push_back(static_cast<int64_t>(i));
  const Tensor shared = tensor(order).to(parameters_[0].device());
  group_->broadcast(shared, 0, {.site = options_.site});
  const Tensor numbers = shared.cpu();
  const int64_t* first = numbers.data_ptr<int64_t>();
  return {first, first + numbers.numel()};
}

void Reducer::take_part_without_gradients() {
  {
    std::lock_guard lock(mutex_);
    shadow_ = true;
    begin_pass();
  }
  end_pass();
  std::lock_guard lock(mutex_);
  shadow_ = false;
}

}  // namespace taeda::inline v0_2::distributed
