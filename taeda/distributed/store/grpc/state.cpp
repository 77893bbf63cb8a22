#include "taeda/distributed/store/grpc/state.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

bool changes_a_key(taeda_store::Operation operation) {
  return operation == taeda_store::SET || operation == taeda_store::ADD ||
         operation == taeda_store::COMPARE_SET;
}

/// Whether it makes a difference to do it twice.
bool counts(taeda_store::Operation operation) {
  return operation == taeda_store::ADD || operation == taeda_store::COMPARE_SET ||
         operation == taeda_store::DELETE_KEY;
}

/// The longest value that is kept for who may ask again.
constexpr size_t kMostKept = 4096;

bool waits_for_keys(taeda_store::Operation operation) {
  return operation == taeda_store::GET || operation == taeda_store::WAIT;
}

std::vector<std::string> keys_of(const Request& request) {
  return {request.keys().begin(), request.keys().end()};
}

/// Why the request makes no sense; its client is not ours.
std::string malformed(const Request& request) {
  const bool one_key = changes_a_key(request.operation()) ||
                       request.operation() == taeda_store::GET ||
                       request.operation() == taeda_store::DELETE_KEY;
  return one_key && request.keys_size() != 1 ? "takes one key" : objection(request);
}

}  // namespace

void State::handle(const void* member, const Request& request, Reply reply, History* history) {
  Replies out;
  {
    std::lock_guard lock(mutex_);
    const auto operation = request.operation();
    const std::string refusal = malformed(request);
    if (!refusal.empty()) {
      Response response;
      response.set_error(std::string(".") + name_of(operation) + ": " + refusal);
      out.emplace_back(std::move(reply), std::move(response));
    } else if (waits_for_keys(operation)) {
      Waiters waiter;
      waiter.push_back({member, request, std::move(reply)});
      park_or_finish(waiter, waiter.begin(), out);
    } else if (operation == taeda_store::WAIT_WORKERS) {
      waiters_for_workers_.push_back({member, request, std::move(reply)});
      wake_for_workers(out);
    } else if (operation == taeda_store::CANCEL) {
      cancel(member, request, out);
    } else {
      out.emplace_back(std::move(reply), answer_once(request, history));
      if (changes_a_key(operation) && values_.find(request.keys(0))) wake(request.keys(0), out);
    }
    for (auto& [to, response] : out)
      if (response.number() == 0) response.set_number(request.number());
  }
  for (auto& [to, response] : out) to(response);
}

Response State::answer_once(const Request& request, History* history) {
  if (!history || !counts(request.operation())) return answer(request);
  history->erase(history->begin(), history->upper_bound(request.answered()));
  const auto [told, first] = history->try_emplace(request.number());
  if (!first) return told->second;
  Response out = answer(request);
  if (out.value().size() <= kMostKept)
    told->second = out;
  else
    history->erase(told);  // only a compare_set has it, which makes hardly a difference twice
  return out;
}

void State::add_worker() {
  Replies out;
  {
    std::lock_guard lock(mutex_);
    ++workers_;
    wake_for_workers(out);
  }
  for (auto& [to, response] : out) to(response);
}

void State::remove(const void* member) {
  const auto is_its = [&](const Waiter& waiter) { return waiter.member == member; };
  std::lock_guard lock(mutex_);
  waiters_for_workers_.remove_if(is_its);
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    it->second.remove_if(is_its);
    it = it->second.empty() ? waiters_.erase(it) : std::next(it);
  }
}

/// What an operation that does not wait gives. An error is an answer, too.
Response State::answer(const Request& request) {
  Response out;
  const std::string key = request.keys_size() ? request.keys(0) : "";
  try {
    switch (request.operation()) {
      case taeda_store::SET: set(key, request.value()); break;
      case taeda_store::ADD:
        out.set_amount(values_.sum("", key, request.amount()));
        set(key, std::to_string(out.amount()));
        break;
      case taeda_store::COMPARE_SET:
        if (values_.matches(key, request.expected())) set(key, request.value());
        out.set_value(values_.value_or(key, request.expected()));
        break;
      case taeda_store::DELETE_KEY: out.set_amount(values_.erase(key)); break;
      case taeda_store::CHECK: out.set_amount(values_.has_all(keys_of(request))); break;
      case taeda_store::NUM_KEYS: out.set_amount(static_cast<int64_t>(values_.size())); break;
      default: out.set_error(": an operation that this server does not know");
    }
  } catch (const DistributedError& e) {
    out.set_error(e.what());
  }
  return out;
}

void State::set(const std::string& key, std::string value) {
  const std::string* old = values_.find(key);
  const size_t bytes = values_.bytes() - (old ? key.size() + old->size() : 0);
  const bool fits = bytes + key.size() + value.size() <= most_bytes_;
  TAEDA_CHECK_AS(DistributedError, fits && (old || values_.size() < most_keys_),
                 ": the store is full, with ", values_.size(), " keys and ", values_.bytes(),
                 " bytes; at most ", most_keys_, " and ", most_bytes_);
  values_.set(key, std::move(value));
}

/// Ends a wait with what it lacks, unless it has ended.
void State::cancel(const void* member, const Request& request, Replies& out) {
  const auto number = static_cast<uint64_t>(request.amount());
  const auto end_in = [&](Waiters& list) {
    list.remove_if([&](const Waiter& waiter) {
      if (waiter.member != member || waiter.request.number() != number) return false;
      Response response = answer_to_waiter(waiter);
      response.set_cancelled(true);
      for (const std::string& key : values_.missing(keys_of(waiter.request)))
        response.add_missing(key);
      out.emplace_back(waiter.reply, std::move(response));
      return true;
    });
  };
  end_in(waiters_for_workers_);
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    end_in(it->second);
    it = it->second.empty() ? waiters_.erase(it) : std::next(it);
  }
}

/// Puts a waiter of `from` where its next missing key wakes it, or answers it if none is missing.
void State::park_or_finish(Waiters& from, Waiters::iterator waiter, Replies& out) {
  const auto& keys = waiter->request.keys();
  const auto has = [&](int i) { return values_.find(keys[i]) != nullptr; };
  while (waiter->next_key < keys.size() && has(waiter->next_key)) ++waiter->next_key;
  if (waiter->next_key == keys.size()) {  // one that was seen may have been deleted since
    waiter->next_key = 0;
    while (waiter->next_key < keys.size() && has(waiter->next_key)) ++waiter->next_key;
  }
  if (waiter->next_key < keys.size()) {
    Waiters& there = waiters_[keys[waiter->next_key]];
    there.splice(there.end(), from, waiter);
  } else {
    out.emplace_back(std::move(waiter->reply), answer_to_waiter(*waiter));
    from.erase(waiter);
  }
}

void State::wake(const std::string& key, Replies& out) {
  const auto it = waiters_.find(key);
  if (it == waiters_.end()) return;
  Waiters woken = std::move(it->second);
  waiters_.erase(it);
  while (!woken.empty()) park_or_finish(woken, woken.begin(), out);
}

void State::wake_for_workers(Replies& out) {
  waiters_for_workers_.remove_if([&](const Waiter& waiter) {
    if (workers_ < waiter.request.amount()) return false;
    out.emplace_back(waiter.reply, answer_to_waiter(waiter));
    return true;
  });
}

Response State::answer_to_waiter(const Waiter& waiter) const {
  Response out;
  out.set_number(waiter.request.number());
  if (waiter.request.operation() == taeda_store::GET)
    out.set_value(values_.value_or(waiter.request.keys(0), ""));
  if (waiter.request.operation() == taeda_store::WAIT_WORKERS) out.set_amount(workers_);
  return out;
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
