#include "taeda/rpc/contexts.h"

#include "taeda/autograd/meta.h"
#include "taeda/autograd/sequence.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

thread_local int64_t current_context = -1;

detail::FutureState::Made no_result(Reader&) { return nullptr; }

/// The workers that a worker knows.
std::set<int64_t> peers_of(const std::shared_ptr<detail::FutureState>& answer) {
  return *static_cast<std::set<int64_t>*>(answer->value().get());
}

}  // namespace

Contexts::Scope::Scope(int64_t id) : previous_(current_context) {
  current_context = id;
  // Note [The backward pass over workers]: gates come after nodes that are made from now on.
  if (id >= 0 && autograd::next_sequence_nr() == 0) autograd::set_next_sequence_nr(1);
}
Contexts::Scope::~Scope() { current_context = previous_; }
int64_t Contexts::current() { return current_context; }

Contexts::Contexts(Agent& agent) : agent_(agent) {
  agent.serve(Kind::StartPass, [this](Request& r) { serve_start(r); });
  agent.serve(Kind::Gradients, [this](Request& r) { serve_gradients(r); });
  agent.serve(Kind::Release, [this](Request& r) {
    release(r.in.integer());
    r.answer.send(r.answer.writer());
  });
}

/// Other workers' numbers differ.
int64_t Contexts::next_id() {
  std::lock_guard lock(mutex_);
  return (agent_.self().id << 48) | ++last_;
}

int64_t Contexts::make() {
  const int64_t id = next_id();
  ensure(id);
  return id;
}

std::shared_ptr<Context> Contexts::ensure(int64_t id) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Context>& context = contexts_[id];
  if (!context) context = std::make_shared<Context>(agent_, id);
  return context;
}

std::shared_ptr<Context> Contexts::get(int64_t id) const {
  std::lock_guard lock(mutex_);
  const auto context = contexts_.find(id);
  TAEDA_CHECK_VALUE(context != contexts_.end(), "Could not find autograd context with id: ", id);
  return context->second;
}

void Contexts::fail_gates(const std::exception_ptr& error) {
  std::map<int64_t, std::shared_ptr<Context>> contexts;
  {
    std::lock_guard lock(mutex_);
    contexts = contexts_;
  }
  for (const auto& [id, context] : contexts) context->fail_gates(error);
}

void Contexts::release(int64_t id) {
  std::shared_ptr<Context> context;
  {
    std::lock_guard lock(mutex_);
    const auto entry = contexts_.find(id);
    if (entry == contexts_.end()) return;
    context = std::move(entry->second);
    contexts_.erase(entry);
  }
  // A pass that still waits, because another worker's part of it failed, ends with the context.
  context->fail_gates(std::make_exception_ptr(DistributedError(
      "autograd context " + std::to_string(id) + " has ended during its backward pass")));
  if (agent_.stopped()) return;
  for (const int64_t peer : context->peers()) {
    Writer out(&agent_, peer);
    out.integer(id);
    try {
      agent_.request({Kind::Release, peer, "the end of an autograd context", no_result},
                     std::move(out));
    } catch (const DistributedError&) {  // a worker that is gone has nothing to release
    }
  }
}

void Contexts::write(Writer& out, const Writer& message, int64_t id) {
  out.integer(id);
  if (id < 0) return;
  const auto context = ensure(id);
  context->add_peer(out.to());
  const std::vector<Tensor>& tensors = message.with_gradient();
  if (tensors.empty() || !GradMode::is_enabled()) return out.integer(-1);
  Context::Sent sent{next_id(), out.to(), {}};
  for (const Tensor& t : tensors) sent.edges.push_back(autograd::gradient_edge(t));
  out.integer(sent.message);
  context->add_sent(std::move(sent));
}

int64_t Contexts::read(Reader& in) {
  const int64_t id = in.integer();
  if (id < 0) return -1;
  const auto context = ensure(id);
  context->add_peer(in.from());
  const int64_t message = in.integer();
  if (message >= 0)
    in.on_gradient([node = context->add_received(message, in.from())](const Tensor& t) {
      autograd::set_history(t, node, node->add_input(t));
    });
  return id;
}

void Contexts::backward(int64_t id, const std::vector<Tensor>& roots, bool retain_graph) {
  TAEDA_CHECK_VALUE(!roots.empty(), "dist_autograd.backward: no tensors were given");
  const auto context = get(id);
  const int64_t number = next_id();
  std::exception_ptr error;
  const auto attempt = [&](const auto& f) {
    try {
      f();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  };
  context->pass(number)->begin();
  attempt([&] { context->run(number, roots, retain_graph); });
  std::set<int64_t> known = {agent_.self().id}, next = context->peers();
  while (!next.empty()) {
    std::vector<Agent::FuturePtr> answers;
    for (const int64_t peer : next)
      if (known.insert(peer).second)
        attempt([&] { answers.push_back(start_pass(agent_, peer, id, number, retain_graph)); });
    next.clear();
    for (const auto& answer : answers) attempt([&] { next.merge(peers_of(answer)); });
  }
  if (error) std::rethrow_exception(error);
}

Agent::FuturePtr Contexts::start_pass(Agent& agent, int64_t peer, int64_t context, int64_t number,
                                      bool retain_graph) {
  Writer out(&agent, peer);
  out.integer(context);
  out.integer(number);
  out.byte(retain_graph);
  return agent.request(
      {Kind::StartPass, peer, "the backward pass of autograd context " + std::to_string(context),
       [](Reader& in) {
         auto peers = std::make_shared<std::set<int64_t>>();
         for (size_t n = in.count(); n > 0; --n) peers->insert(in.integer());
         return peers;
       }},
      std::move(out));
}

void Contexts::serve_start(Request& request) {
  const auto context = ensure(request.in.integer());
  const int64_t number = request.in.integer();
  const bool retain_graph = request.in.byte() != 0;
  request.in.finish();
  const auto pass = context->pass(number);
  pass->done->on_done([context, pass = pass.get(), answer = request.answer] {
    try {
      pass->done->value();
      const std::set<int64_t> peers = context->peers();
      Writer out = answer.writer();
      out.integer(static_cast<int64_t>(peers.size()));
      for (const int64_t peer : peers) out.integer(peer);
      answer.send(std::move(out));
    } catch (...) {
      answer.fail(std::current_exception());
    }
  });
  if (!pass->begin()) return;
  try {
    context->run(number, {}, retain_graph);
  } catch (...) {  // is the answer already
  }
}

void Contexts::serve_gradients(Request& request) {
  Reader& in = request.in;
  const auto context = ensure(in.integer());
  const auto pass = context->pass(in.integer());
  const auto gate = pass->gate(in.integer(), request.from.id);
  const std::string error = in.text();
  std::vector<Tensor> gradients;
  for (size_t n = in.count(); n > 0; --n) gradients.push_back(in.tensor());
  in.finish();
  if (error.empty())
    gate->arrive(
        [made = std::make_shared<std::vector<Tensor>>(std::move(gradients))] { return made; });
  else
    gate->fail(std::make_exception_ptr(
        Error("On " + to_string(request.from) + ", in its backward pass: " + error)));
  request.answer.send(request.answer.writer());
}

}  // namespace taeda::inline v0_2::distributed::rpc
