#include "taeda/distributed/group/group_core.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "taeda/base/error.h"
#include "taeda/base/tracing.h"
#include "taeda/base/warning.h"
#include "taeda/device/registry.h"
#include "taeda/distributed/group/patience.h"
#include "taeda/distributed/group/termination.h"
#include "taeda/tensor/thread_state.h"

namespace taeda::inline v0_2::distributed {

namespace {

using std::chrono::milliseconds;

constexpr size_t kReported = 64;                    ///< operations in a report
constexpr auto kIdleInterval = milliseconds(2000);  ///< in which idle ranks look for an inquiry
constexpr auto kWarnAfter = std::chrono::seconds(10);
constexpr int kSilentTurns = 20;  ///< check intervals after which a rank that says nothing is gone
// With a lane's key: its streams' ends, and what callbacks of its operations call.
constexpr Lanes::Key kCompletion = Lanes::Key{1} << 61, kFollowers = Lanes::Key{1} << 60;

/// How often a rank that waits for nothing looks whether others ask.
milliseconds idle_interval() { return std::min(kIdleInterval, 4 * GroupCore::check_interval()); }
/// In which those ranks have answered.
milliseconds answer_patience() { return idle_interval() + GroupCore::check_interval(); }
/// With the store, once something failed.
milliseconds store_patience() { return idle_interval() + 4 * GroupCore::check_interval(); }

/// A graph that is replayed would exchange without the other ranks' consent.
void check_not_captured(const char* op, const Stream& stream) {
  const Device device = stream.device();
  TAEDA_CHECK(!backend_of(device.type()).is_capturing(device.index(), stream.id()), op,
              ": collectives cannot be part of a graph, and a capture is under way on the current "
              "stream of ",
              device);
}

std::string report_key(int rank) { return "report/" + std::to_string(rank); }

}  // namespace

milliseconds GroupCore::check_interval() {
  static const int64_t interval = [] {
    constexpr int64_t kByDefault = 500, kMost = 3'600'000;
    const char* const text = std::getenv("TAEDA_DISTRIBUTED_CHECK_MS");
    if (!text || !*text) return kByDefault;
    int64_t given = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, given);
    TAEDA_CHECK_VALUE(error == std::errc() && stop == end && given > 0 && given <= kMost,
                      "environment variable TAEDA_DISTRIBUTED_CHECK_MS expected a number of "
                      "milliseconds from 1 to ",
                      kMost, ", but it is '", text, "'");
    return given;
  }();
  return milliseconds(interval);
}

GroupCore::GroupCore(Membership members, std::shared_ptr<OwnKeys> store,
                     std::unique_ptr<Communicator> communicator, milliseconds timeout)
    : members_(std::move(members)),
      store_(std::move(store)),
      communicator_(std::move(communicator)),
      timeout_(timeout),
      record_group_(FlightRecorder::instance().add_group(members_.name, world_rank())) {}

GroupCore::~GroupCore() = default;

std::string GroupCore::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

WorkPtr GroupCore::start(Fingerprint what, Way way, bool async, std::vector<Tensor> result,
                         Body body) {
  if (!process_.here()) process_.check(what.op, "the process group '" + members_.name + "'");
  const bool queues = queues_on(way.device);
  if (queues) check_not_captured(what.op, current_stream(way.device));
  const Work* const completing = detail::completing();
  const bool follows = completing && completing->group_ == this && completing->lane_ == way.lane;
  const WorkPtr work = enter(std::move(what), way, std::move(result), follows);
  const bool collective = work->what().kind == Fingerprint::Kind::Collective;
  // Where another operation is under way, a lane's thread runs it.
  auto task = [this, work, way, body = std::move(body), state = ThreadState::here(),
               caller = std::this_thread::get_id()] {
    std::optional<ThreadState::Scope> scope;
    if (std::this_thread::get_id() != caller) scope.emplace(state);
    execute(work, body, way);
  };
  const bool watched = detail::is_watched();
  if ((watched || (async && !follows)) && !(queues && collective)) {
    submit(work, follows ? way.lane | kFollowers : way.lane, std::move(task));
    if (!async) work->wait();
    return work;
  }
  {
    const detail::Waiting waiting;
    if (follows)
      task();
    else
      lanes_.run(way.lane, std::move(task));
  }
  if (!async) work->wait();
  return work;
}

/// Gives the operation its number.
WorkPtr GroupCore::enter(Fingerprint what, const Way& way, std::vector<Tensor> result,
                         bool follows) {
  std::lock_guard lock(mutex_);
  TAEDA_CHECK_AS(DistributedError, failure_.empty() && !leaving_, what.op, ": the process group '",
                 members_.name,
                 "' can no longer be used: ", leaving_ ? "it was destroyed" : failure_);
  WorkPtr first;
  if (what.kind != Fingerprint::Kind::Collective) {
    what.sequence = ++messages_;
  } else if (follows) {
    Work* const completing = detail::completing();
    first = completing->first_ ? completing->first_ : completing->shared_from_this();
    what.sequence = first->what().sequence;
    what.follows = ++first->followers_;
  } else {
    what.sequence = ++collectives_;
  }
  auto work = std::make_shared<Work>(std::move(what), std::move(result));
  work->group_ = this;
  work->lane_ = way.lane;
  work->first_ = std::move(first);
  work->timeout_ = timeout();
  work->record_ = FlightRecorder::instance().begin(record_group_, work->what());
  pending_.push_back(work);
  return work;
}

void GroupCore::submit(const WorkPtr& work, Lanes::Key lane, Lanes::Task task) {
  try {
    lanes_.submit(lane, std::move(task));
  } catch (const DistributedError& e) {
    withdraw(work);
    throw DistributedError(std::string(work->what().op) + ": " + e.message());
  }
}

/// A call that failed did not happen.
void GroupCore::withdraw(const WorkPtr& work) {
  FlightRecorder::instance().withdraw(work->record_);
  std::lock_guard lock(mutex_);
  std::erase(pending_, work);
  if (pending_.empty()) idle_.notify_all();
  const Fingerprint& what = work->what();
  uint64_t& last = what.kind == Fingerprint::Kind::Collective ? collectives_ : messages_;
  if (uint32_t follows = what.follows; follows > 0)
    work->first_->followers_.compare_exchange_strong(follows, follows - 1);
  else if (what.sequence == last)
    --last;
}

bool GroupCore::queues_on(Device device) const {
  return !device.is_cpu() && communicator_->serves(device.type());
}

/// The stream on which the operations of a lane are queued, one for each device.
Stream GroupCore::stream_of(const Way& way) {
  std::lock_guard lock(mutex_);
  const auto [it, added] = streams_.try_emplace({way.lane, way.device.index()});
  if (added) it->second = new_stream(way.device);
  return it->second;
}

/// When the engine ends an operation itself: the watchdog should have done it.
Clock::time_point GroupCore::engine_deadline(const Work& work) const {
  return work.due() + store_patience() + check_interval();
}

void GroupCore::execute(const WorkPtr& work, const Body& body, const Way& way) {
  const NoGradGuard values_only;
  const tracing::Span span(tracing::Kind::Range, work->what().op);
  const auto now = Clock::now();
  Clock::rep queued = 0;
  if (!work->started_.compare_exchange_strong(queued, now.time_since_epoch().count())) return;
  std::exception_ptr error;
  try {
    const std::string failed = failure();
    if (!failed.empty()) throw CommunicatorError(failed, -1);
    const Call call{work->what().call_id(), engine_deadline(*work)};
    if (queues_on(way.device)) return queue(work, body, call, way);
    body(*communicator_, call, *work);
  } catch (const CommunicatorError& e) {
    error = error_of(*work, e);
  } catch (...) {
    error = std::current_exception();
  }
  conclude(work, error);
}

/// Queues an operation. Its end is waited for in a lane of its own.
void GroupCore::queue(const WorkPtr& work, const Body& body, const Call& call, const Way& way) {
  Queued queued{stream_of(way)};
  {
    const StreamGuard guard(queued.stream);
    Call with_stream = call;
    with_stream.queued = &queued;
    body(*communicator_, with_stream, *work);
    work->arrived_.emplace_back().record(queued.stream);
  }
  work->let_wait();
  try {
    lanes_.submit(way.lane | kCompletion, [this, work, queued] { complete(work, queued); });
  } catch (const DistributedError&) {
    complete(work, queued);
  }
}

void GroupCore::complete(const WorkPtr& work, const Queued& queued) {
  std::exception_ptr error;
  try {
    await(*work);
    if (queued.confirm) queued.confirm();
  } catch (const CommunicatorError& e) {
    error = error_of(*work, e);
  } catch (...) {
    error = std::current_exception();
  }
  conclude(work, error);
}

/// Waits until the device has done what was queued; when the group fails, not much longer.
void GroupCore::await(const Work& work) const {
  Backoff turns(std::chrono::microseconds(50), milliseconds(1));
  std::optional<Clock::time_point> until;
  const auto done = [&] {
    return std::ranges::all_of(work.arrived_, [](const Event& e) { return e.query(); });
  };
  while (!done()) {
    if (!until && !failure().empty()) until = Clock::now() + kLeavePatience;
    if (until && Clock::now() >= *until) break;
    turns.sleep();
  }
  if (const std::string failed = failure(); !failed.empty()) throw CommunicatorError(failed, -1);
}

void GroupCore::conclude(const WorkPtr& work, std::exception_ptr error) {
  FlightRecorder::instance().end(work->record_, error != nullptr);
  {
    std::lock_guard lock(mutex_);
    pending_.erase(std::find(pending_.begin(), pending_.end(), work));
    if (pending_.empty()) idle_.notify_all();
  }
  const auto callbacks = work->finish(error);
  if (callbacks.empty()) return;
  {
    std::lock_guard lock(mutex_);
    calling_back_.push_back({work->what(), work->record_, Clock::now(), work->timeout_, true});
  }
  for (const auto& f : callbacks) work->call(f);
  std::lock_guard lock(mutex_);
  std::erase_if(calling_back_, [&](const Running& r) { return r.record == work->record_; });
}

/// What an exchange that failed means, for the program. Fails the group.
std::exception_ptr GroupCore::error_of(const Work& work, const CommunicatorError& error) {
  std::lock_guard one(failing_);
  std::string text = failure();
  if (text.empty()) {
    const bool late = Clock::now() + milliseconds(10) >= work.due();
    text = inquire(work.what(), error, late ? Exceeded(work.timeout_) : std::nullopt);
    fail(text);
  }
  wait_until_heard();
  return error_in(work, text);
}

std::exception_ptr GroupCore::error_in(const Work& work, const std::string& text) const {
  return std::make_exception_ptr(
      DistributedError(taeda::detail::concat("rank ", world_rank(), " of group '", members_.name,
                                             "', in ", work.what().to_string(), ": ", text)));
}

/// Ends an operation whose time is up, or whose partner is gone. The others read why before the
/// connections close, which an engine that keeps the time itself could not give them.
void GroupCore::give_up(const Running& running, const CommunicatorError& error, Exceeded timeout) {
  {
    std::lock_guard one(failing_);
    if (!failure().empty()) return;
    if (!running.calls_back) return fail(inquire(running.what, error, timeout));
    const std::string text = taeda::detail::concat(
        "a callback of ", running.what.to_string(), " did not end within the timeout of ",
        running.timeout.count(), " ms, and other operations wait for it");
    const auto shared = within(
        store_patience(), [self = shared_from_this(), text] { return self->share_failure(text); });
    fail(shared.value_or(text));
  }
  end_queued();
}

/// Ends the operations that a callback keeps from being begun.
void GroupCore::end_queued() {
  std::vector<WorkPtr> queued;
  {
    std::lock_guard lock(mutex_);
    queued = pending_;
  }
  for (const WorkPtr& work : queued) {
    Clock::rep not_begun = 0;
    if (work->started_.compare_exchange_strong(not_begun, Clock::now().time_since_epoch().count()))
      conclude(work, error_in(*work, failure()));
  }
}

/// Asks the other ranks why, but not for ever.
std::string GroupCore::inquire(const Fingerprint& what, const CommunicatorError& error,
                               Exceeded timeout) {
  {
    std::lock_guard lock(mutex_);
    if (leaving_) return "the group was destroyed meanwhile";
  }
  const auto text = within(store_patience(), [self = shared_from_this(), what, error, timeout] {
    return self->reason(what, error, timeout);
  });
  if (text) return *text;
  constexpr const char* silent = "the store, which would tell why, does not answer";
  if (timeout)
    return taeda::detail::concat("it did not end within the timeout of ", timeout->count(),
                                 " ms, and ", silent);
  // A peer that knows of another's death closes its connections, too: nobody says here which it is.
  if (error.peer < 0) return error.message();
  return taeda::detail::concat("rank ", world_rank(), " lost the connection to rank ",
                               members_.ranks[error.peer], " (", error.message(), "), and ",
                               silent);
}

/// The meaning of a lost connection where the store has no other reason.
std::string GroupCore::lost_text(const Fingerprint& what, const CommunicatorError& error) const {
  if (error.peer < 0) return error.message();
  const int rank = world_rank();
  return taeda::detail::concat("rank ", members_.ranks[error.peer], " is gone: rank ", rank,
                               " lost the connection to it in ", what.to_string(), " (",
                               error.message(), ")");
}

std::string GroupCore::reason(const Fingerprint& what, const CommunicatorError& error,
                              Exceeded timeout) {
  store_->add("inquiry", 1);
  const bool ask = timeout || !communicator_->notices_death();
  const auto patience = Clock::now() + (ask ? answer_patience() : milliseconds(0));
  while (true) {
    publish();
    if (const auto text = shared_failure()) return *text;
    const Reports reports = read_reports();
    if (const auto text = find_fault(reports, what)) return share_failure(*text);
    const bool complete = reports.size() == members_.ranks.size();
    if (Clock::now() < patience && !complete) {
      std::this_thread::sleep_for(milliseconds(100));
      continue;
    }
    if (!timeout) return share_failure(lost_text(what, error));
    return share_failure(taeda::detail::concat(
        what.to_string(), " did not end within the timeout of ", timeout->count(),
        " ms: ", describe_missing(reports, members_.ranks, world_rank(), what)));
  }
}

/// The program that gets the error probably ends, and the store with it if it is served here: the
/// others then could not read why. Those that died are not waited for long.
void GroupCore::wait_until_heard() {
  if (std::exchange(waited_, true)) return;
  const auto patience = 2 * check_interval();
  within(patience, [self = shared_from_this(), patience] {
    self->meet_at("heard", patience, [] { return false; });
    return true;
  });
}

/// Whoever waits, here or at another rank, gets this error.
void GroupCore::fail(const std::string& text) {
  bool tell;  // the program may not ask, and what is queued has no result
  {
    std::lock_guard lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = text;
    tell = !leaving_ && !streams_.empty();
  }
  communicator_->abort();
  if (const std::string problem = write_flight_record_of(world_rank()); !problem.empty())
    taeda::detail::warn_aside(WarningKind::Runtime, problem);
  if (tell) taeda::detail::warn_aside(WarningKind::Runtime, who() + ": " + text);
}

/// The oldest, but one that has exceeded its timeout before others. A copy: the watchdog must not
/// be the last to let go of a program's tensors or errors.
std::optional<GroupCore::Running> GroupCore::longest_running() const {
  const auto now = Clock::now();
  const auto order = [&](const Work& w) { return std::pair(w.due() > now, w.running_since()); };
  std::lock_guard lock(mutex_);
  const Work* first = nullptr;
  for (const WorkPtr& work : pending_)
    if (work->started_ && (!first || order(*work) < order(*first))) first = work.get();
  if (leaving_) return {};
  if (first) return Running{first->what(), first->record_, first->running_since(), first->timeout_};
  if (pending_.empty() || calling_back_.empty()) return {};
  return calling_back_.front();
}

/// On a thread of its own: other groups want to be watched meanwhile.
static void run_aside(const std::function<void()>& f) {
  try {
    std::thread(f).detach();
  } catch (const std::system_error&) {  // the system has no thread
    f();
  }
}

void GroupCore::watch() {
  const auto now = Clock::now();
  bool failed;
  {
    std::lock_guard lock(mutex_);
    if (leaving_) return;
    failed = !failure_.empty();
  }
  if (failed) {
    // Whoever found it. Queued operations fail when their turn comes, which it never does behind a
    // callback that waits for one of them.
    if (const auto running = longest_running(); running && running->calls_back)
      run_aside([self = shared_from_this()] { self->end_queued(); });
    return;
  }
  // A process that stood still has heard nothing of the others meanwhile, which is not their fault.
  if (now - std::exchange(watched_, now) > kSilentTurns / 4 * check_interval()) beats_.clear();
  auto running = longest_running();
  if (running && now >= running->since + running->timeout)
    return give_up_aside(*running, CommunicatorError("", -1), running->timeout);
  if (running && running->calls_back) running.reset();
  if (now < next_check_) return;
  try {
    const bool notices_death = communicator_->notices_death();
    if (!running || now - running->since < check_interval()) {
      beats_.clear();
      if (!running || !notices_death) answer_inquiry();
      if (running) next_check_ = std::min(next_check_, running->since + check_interval());
      return;
    }
    next_check_ = now + check_interval();
    if (const auto lost = lost_connection(running->what)) return give_up_aside(*running, *lost, {});
    if (running->record != asked_for_ || !notices_death) store_->add("inquiry", 1);
    asked_for_ = running->record;
    publish();
    if (const auto text = shared_failure()) return fail(*text);
    const Reports reports = read_reports();
    if (const auto text = find_fault(reports, running->what)) return fail(share_failure(*text));
    if (!notices_death)
      if (const auto text = find_silent(reports, running->what)) return fail(share_failure(*text));
    if (now - running->since > kWarnAfter) warn(*running, reports);
  } catch (const Error&) {
    // The store does not answer; the connections and the timeout are left.
  }
}

void GroupCore::give_up_aside(const Running& running, const CommunicatorError& error,
                              Exceeded timeout) {
  if (std::exchange(gave_up_, true)) return;
  run_aside([self = shared_from_this(), running, error, timeout] {
    self->give_up(running, error, timeout);
  });
}

/// A lost connection without which `what` cannot end.
std::optional<CommunicatorError> GroupCore::lost_connection(const Fingerprint& what) const {
  const auto lost = communicator_->lost_connection();
  if (!lost || lost->peer < 0 || what.kind == Fingerprint::Kind::Collective) return lost;
  return what.peer == members_.ranks[static_cast<size_t>(lost->peer)] ? lost : std::nullopt;
}

/// A rank that `what` needs and that has not answered for long, though its watchdog would, whatever
/// its program does: for engines that wait for the dead.
std::optional<std::string> GroupCore::find_silent(const Reports& reports, const Fingerprint& what) {
  const auto now = Clock::now();
  for (const int rank : members_.ranks) {
    const bool needed = what.kind == Fingerprint::Kind::Collective || rank == what.peer;
    if (rank == world_rank() || !needed) continue;
    const auto report = reports.find(rank);
    const uint64_t beat = report == reports.end() ? 0 : report->second.beat;
    const auto [seen, first] = beats_.try_emplace(rank, beat, now);
    if (seen->second.first != beat) seen->second = {beat, now};
    if (now - seen->second.second > kSilentTurns * check_interval())
      return taeda::detail::concat("rank ", rank,
                                   " is gone, or stands still: it has not answered for ",
                                   (kSilentTurns * check_interval()).count(), " ms, and rank ",
                                   world_rank(), " waits for it in ", what.to_string());
  }
  return {};
}

void GroupCore::warn(const Running& running, const Reports& reports) {
  if (std::exchange(warned_of_, running.record) == running.record) return;
  taeda::detail::warn_aside(
      WarningKind::Runtime,
      who() + " has waited for " + std::to_string(kWarnAfter.count()) + " s in " +
          running.what.to_string() + ": " +
          describe_missing(reports, members_.ranks, world_rank(), running.what));
}

/// A rank that waits for nothing says what it did last when another one wants to know, and hears
/// whether the group has failed.
void GroupCore::answer_inquiry() {
  const auto now = Clock::now();
  next_check_ = now + idle_interval();
  const int64_t asked = store_->add("inquiry", 0);
  if (std::exchange(answered_, asked) == asked) return;
  publish();
  if (const auto text = shared_failure()) {
    fail(*text);
    store_->add("heard", 1);
  }
}

void GroupCore::publish(bool left) {
  Report report = make_report(FlightRecorder::instance().last(record_group_, kReported));
  report.beat = ++beat_;
  report.left = left;
  store_->set(report_key(world_rank()), to_text(report));
}

Reports GroupCore::read_reports() {
  Reports out;
  for (const int rank : members_.ranks)
    if (const std::string key = report_key(rank); store_->check({key}))
      out.emplace(rank, report_from_text(store_->get(key)));
  return out;
}

std::optional<std::string> GroupCore::shared_failure() {
  if (!store_->check({"failure"})) return {};
  return store_->get("failure");
}

std::string GroupCore::share_failure(const std::string& text) {
  const std::string first = store_->compare_set("failure", "", text);
  store_->add("inquiry", 1);  // for those that wait for nothing
  return first;
}

std::optional<std::string> GroupCore::find_fault(const Reports& reports, const Fingerprint& what) {
  if (auto text = find_mismatch(reports)) return text;
  if (const auto passing = find_passing(reports); passing && confirmed(*passing, reports))
    return passing->text;
  return find_left(reports, what);
}

/// Whether both ranks have reported since they were first seen to miss each other, so that both
/// wait at the same time.
bool GroupCore::confirmed(const Passing& passing, const Reports& reports) {
  const std::pair beats(reports.at(passing.from).beat, reports.at(passing.to).beat);
  std::lock_guard lock(mutex_);
  const auto [seen, first] = passing_.try_emplace({passing.from, passing.to}, beats);
  return !first && beats.first > seen->second.first && beats.second > seen->second.second;
}

}  // namespace taeda::inline v0_2::distributed
