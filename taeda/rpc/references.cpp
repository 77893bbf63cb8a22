#include "taeda/rpc/references.h"

#include <filesystem>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/rpc/rpc.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

void write_id(Writer& out, const GlobalId& id) {
  out.integer(id.worker);
  out.integer(id.number);
}

GlobalId read_id(Reader& in) {
  GlobalId out;
  out.worker = in.integer();
  out.number = in.integer();
  return out;
}

detail::FutureState::Made nothing(Reader&) { return nullptr; }

/// What an owner is told about forks. A worker that is gone need not be told any more.
void tell(Agent& agent, Kind kind, const RRefInfo& info, const GlobalId& fork,
          std::function<void()> then) {
  Writer out(&agent, info.owner);
  write_id(out, info.id);
  write_id(out, fork);
  try {
    agent.request({kind, info.owner, "a count of references", nothing}, std::move(out))
        ->on_done(std::move(then));
  } catch (const DistributedError&) {
  }
}

}  // namespace

void* Value::as(const std::type_info& wanted) const {
  TAEDA_CHECK_TYPE(type && type->cpp && *type->cpp == wanted, "rpc: a reference to ",
                   autograd::detail::demangled(wanted.name()), " leads to a value of type ",
                   type && type->cpp ? autograd::detail::demangled(type->cpp->name()) : "none");
  return data.get();
}

RRefHandle::RRefHandle(std::shared_ptr<Agent> its_agent, RRefInfo its_info, GlobalId its_fork,
                       bool is_confirmed)
    : agent(std::move(its_agent)),
      info(std::move(its_info)),
      fork(its_fork),
      confirmed(is_confirmed) {}

RRefHandle::~RRefHandle() {
  if (agent->stopped()) return;
  if (is_owner())
    agent->references().drop_fork(info.id, fork);
  else
    tell(*agent, Kind::DropFork, info, fork, [] {});
}

std::string RRefHandle::describe() const {
  return "RRef[" + info.type + "], made by " + info.origin;
}

const Value& RRefHandle::local_value() const {
  TAEDA_CHECK(is_owner(), "Cannot call local_value() on a non-local reference: ", describe(),
              ", is owned by ", agent->worker(info.owner), ", but this is ", agent->self());
  return *static_cast<const Value*>(agent->references().value(info.id)->value().get());
}

Agent::FuturePtr RRefHandle::fetch(Agent::Decode decode, double timeout) const {
  Writer out(agent.get(), info.owner);
  write_id(out, info.id);
  return agent->request(
      {Kind::Fetch, info.owner, "to_here() of " + describe(), std::move(decode), timeout, true},
      std::move(out));
}

References::References(Agent& agent) : agent_(agent) {
  agent.serve(Kind::Create, [this](Request& r) { serve_create(r); });
  agent.serve(Kind::Fetch, [this](Request& r) { serve_fetch(r); });
  const auto serve_count = [this](void (References::*f)(const GlobalId&, const GlobalId&)) {
    return [this, f](Request& r) {
      const GlobalId id = read_id(r.in), fork = read_id(r.in);
      r.in.finish();
      (this->*f)(id, fork);
      r.answer.send(r.answer.writer());
    };
  };
  agent.serve(Kind::AddFork, serve_count(&References::add_fork));
  agent.serve(Kind::DropFork, serve_count(&References::drop_fork));
}

GlobalId References::next_id() { return {agent_.self().id, ++last_}; }

RRefInfo References::info_here(int64_t owner, const std::string& type, const SourceLocation& site) {
  return {next_id(), owner, type,
          agent_.self().name + " at " +
              std::filesystem::path(site.file_name()).filename().string() + ":" +
              std::to_string(site.line())};
}

RRefHandlePtr References::own(Value value, const SourceLocation& site) {
  const RRefInfo info = info_here(agent_.self().id, value.type->name, site);
  const GlobalId fork = next_id();
  make(info, fork)->arrive([made = std::make_shared<Value>(std::move(value))] { return made; });
  return std::make_shared<RRefHandle>(agent_.shared_from_this(), info, fork, true);
}

RRefHandlePtr References::create(const WorkerRef& owner, const std::string& type,
                                 const std::string& function,
                                 const std::function<void(Writer&)>& call, double timeout,
                                 const SourceLocation& site) {
  const RRefInfo info = info_here(agent_.worker(owner).id, type, site);
  auto handle = std::make_shared<RRefHandle>(agent_.shared_from_this(), info, next_id(), false);
  Writer out(&agent_, info.owner);
  write_id(out, info.id);
  write_id(out, handle->fork);
  out.text(type);
  out.text(info.origin);
  call(out);
  const auto created = agent_.request(
      {Kind::Create, info.owner, "remote function '" + function + "'", nothing, timeout, true},
      std::move(out));
  created->on_done([created = created.get(), weak = std::weak_ptr(handle)] {
    const auto self = weak.lock();
    if (self && !created->failed()) self->confirmed = true;
  });
  return handle;
}

void References::share(const RRefHandlePtr& handle, Writer& out) {
  TAEDA_CHECK(out.agent(), "an RRef can only be sent to workers");
  Agent& agent = *out.agent();
  References& here = agent.references();
  const GlobalId fork = here.next_id();
  write_id(out, handle->info.id);
  write_id(out, fork);
  out.integer(handle->info.owner);
  out.text(handle->info.type);
  out.text(handle->info.origin);
  out.byte(handle->is_owner());
  if (handle->is_owner())
    here.add_fork(handle->info.id, fork);
  else
    tell(agent, Kind::AddFork, handle->info, fork,
         [handle] {});  // Note [How references are counted]
}

RRefHandlePtr References::receive(Reader& in, const std::string& type) {
  RRefInfo info;
  info.id = read_id(in);
  const GlobalId fork = read_id(in);
  info.owner = in.integer();
  info.type = in.text();
  info.origin = in.text();
  const bool confirmed = in.byte() != 0;
  TAEDA_CHECK(in.agent(), "an RRef can only come from workers");
  Agent& agent = *in.agent();
  agent.worker(info.owner);  // throws for one that does not exist
  auto handle = std::make_shared<RRefHandle>(agent.shared_from_this(), info, fork,
                                             confirmed || info.owner == agent.self().id);
  TAEDA_CHECK_TYPE(info.type == type, "rpc: ", handle->describe(), ", has come where one to ", type,
                   " was expected");
  return handle;
}

/// An entry for a value that is to come.
std::shared_ptr<detail::FutureState> References::make(const RRefInfo& info, const GlobalId& fork) {
  Entry unused;  // is dropped without the lock
  std::lock_guard lock(mutex_);
  const auto entry = entries_.try_emplace(info.id).first;
  entry->second.info = info;
  entry->second.created = true;
  if (dropped_early_.erase(fork) == 0) entry->second.forks.insert(fork);
  const auto value = entry->second.value;
  erase_if_unused(entry, &unused);
  return value;
}

void References::serve_create(Request& request) {
  RRefInfo info;
  info.id = read_id(request.in);
  const GlobalId fork = read_id(request.in);
  info.owner = agent_.self().id;
  info.type = request.in.text();
  info.origin = request.in.text();
  const auto value = make(info, fork);
  request.answer.send(request.answer.writer());
  try {
    value->arrive([made = std::make_shared<Value>(detail::run_call(request))] { return made; });
  } catch (...) {
    value->fail(std::current_exception());
  }
}

void References::serve_fetch(Request& request) {
  const GlobalId id = read_id(request.in);
  request.in.finish();
  const auto future = value(id);
  future->on_done([answer = request.answer, future = future.get()] {
    try {
      const auto made = future->value();
      const Value& value = *static_cast<const Value*>(made.get());
      TAEDA_CHECK_TYPE(value.type->write, "values of type ", value.type->name,
                       " cannot be sent; use local_value() at the owner");
      Writer out = answer.writer();
      value.type->write(out, value.data.get());
      answer.send(std::move(out));
    } catch (...) {
      answer.fail(std::current_exception());
    }
  });
}

std::shared_ptr<detail::FutureState> References::value(const GlobalId& id) {
  std::lock_guard lock(mutex_);
  const auto& out = entries_[id].value;
  if (end_) out->fail(end_);
  return out;
}

/// Callbacks of a value send answers, and need no lock.
void References::fail_open(const std::exception_ptr& error) {
  std::vector<std::shared_ptr<detail::FutureState>> values;
  {
    std::lock_guard lock(mutex_);
    end_ = error;
    for (const auto& [id, entry] : entries_) values.push_back(entry.value);
  }
  for (const auto& value : values) value->fail(error);
}

void References::add_fork(const GlobalId& id, const GlobalId& fork) {
  std::lock_guard lock(mutex_);
  if (dropped_early_.erase(fork) == 0) entries_[id].forks.insert(fork);
}

void References::drop_fork(const GlobalId& id, const GlobalId& fork) {
  Entry unused;  // is dropped without the lock
  std::lock_guard lock(mutex_);
  const auto entry = entries_.find(id);
  if (entry == entries_.end() || entry->second.forks.erase(fork) == 0) {
    dropped_early_.insert(fork);
    return;
  }
  erase_if_unused(entry, &unused);
}

/// With the lock held.
void References::erase_if_unused(std::map<GlobalId, Entry>::iterator entry, Entry* dropped) {
  if (!entry->second.created || !entry->second.forks.empty()) return;
  *dropped = std::move(entry->second);
  entries_.erase(entry);
}

std::vector<std::string> References::in_use() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [id, entry] : entries_)
    out.push_back("RRef[" + entry.info.type + "], made by " + entry.info.origin + ", owned by " +
                  agent_.self().name + ", is still referred to " +
                  (entry.forks.size() == 1 ? std::string("once")
                                           : std::to_string(entry.forks.size()) + " times"));
  return out;
}

void References::clear() {
  std::map<GlobalId, Entry> entries;
  std::lock_guard lock(mutex_);
  entries.swap(entries_);
}

}  // namespace taeda::inline v0_2::distributed::rpc
