// Note [Checkpoints in the graph]
// The graph of a checkpointed function is that of the function, but its nodes have numbers in the
// place of the tensors that they saved. The first one that backward asks calls the function again,
// under hooks that note what is saved now: the k-th tensor of the second run is the k-th of the
// first. The second graph is dropped at once. So gradients go wherever the function's do, also to
// tensors that it puts elsewhere, hooks run once, and a second gradient finds the whole history.
#include "taeda/nn/checkpoint.h"

#include <algorithm>
#include <any>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/graph.h"
#include "taeda/autograd/saved.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/generator.h"
#include "taeda/nn/forward_state.h"

namespace taeda::inline v0_2::utils::checkpoint {

namespace {

using autograd::Saved;

void add_state(std::vector<std::pair<Device, std::vector<uint8_t>>>& states, Device device) {
  states.emplace_back(device, default_generator(device).get_state());
}

/// Casts of weights are not remembered in a scope.
class NoCastCache {
 public:
  NoCastCache() : previous_(AutocastMode::state()) {
    AutocastMode::State state = previous_;
    state.cache = false;
    AutocastMode::set_state(state);
  }
  ~NoCastCache() { AutocastMode::set_state(previous_); }
  NoCastCache(const NoCastCache&) = delete;
  NoCastCache& operator=(const NoCastCache&) = delete;

 private:
  AutocastMode::State previous_;
};

/// What a second run must save again.
struct Meta {
  explicit Meta(const Tensor& t) : sizes(t.sizes()), dtype(t.dtype()), device(t.device()) {}
  bool operator==(const Meta&) const = default;
  std::string text() const {
    return taeda::detail::concat("{shape: ", IntArrayRef(sizes), ", dtype: ", to_string(dtype),
                                 ", device: ", device, "}");
  }

  DimVector sizes;
  ScalarType dtype;
  Device device;
};

std::atomic<int> kept_tensors = 0;

/// What a function is called with again, and what that saves, until the pass ends or nobody is left
/// who could ask for it.
class Recomputed : public std::enable_shared_from_this<Recomputed> {
 public:
  Recomputed(detail::Run run, const std::vector<Tensor>& inputs, const CheckpointOptions& options)
      : run_(std::move(run)), options_(options), state_(inputs, options.preserve_rng_state) {
    for (const Tensor& t : inputs) inputs_.push_back(autograd::save_tensor(t));
    autograd::take_saved_count();
  }

  /// In place of a tensor of the first run: its number.
  std::any pack(const Tensor& t) {
    if (std::this_thread::get_id() != thread_) return t;
    metas_.emplace_back(t);
    return std::make_shared<const Ticket>(*this, metas_.size() - 1);
  }
  static Tensor unpack(const std::any& packed) {
    if (const auto* t = std::any_cast<Tensor>(&packed)) return *t;
    const Ticket& ticket = *std::any_cast<const std::shared_ptr<const Ticket>&>(packed);
    return ticket.from->get(ticket.number);
  }
  void end_first_run() { first_run_ended_ = true; }

 private:
  struct Ticket {
    Ticket(Recomputed& r, size_t n) : from(r.shared_from_this()), number(n) { ++kept_tensors; }
    ~Ticket() {
      from->drop(number);
      --kept_tensors;
    }
    const std::shared_ptr<Recomputed> from;
    const size_t number;
  };

  Tensor get(size_t number) {
    const std::lock_guard lock(mutex_);
    if (again_.empty()) run_again();
    const Tensor t = again_[number].unpack();
    if (!autograd::current_pass_id()) again_.clear();
    return t;
  }
  /// Does not wait: who drops the last of a graph may hold what the function needs.
  void drop(size_t number) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && number < again_.size()) again_[number] = {};
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    again_.clear();
  }

  void run_again() {
    metas_again_.clear();
    try {
      run();
      check();
    } catch (...) {
      again_.clear();
      throw;
    }
    if (autograd::current_pass_id())
      autograd::queue_callback([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->forget();
      });
  }
  void run() {
    const AutoGradMode recording(true);
    std::vector<Tensor> given;
    for (const Saved& s : inputs_) given.push_back(s.unpack());
    struct Enough {};
    bool enough = false;
    const auto here = std::this_thread::get_id();
    const ForwardState::Scope state(state_);
    const RecomputingGuard recomputing;
    // A pass within the function asks for what this run saves.
    const autograd::graph::saved_tensors_hooks hooks(
        [&](const Tensor& t) -> std::any {
          if (std::this_thread::get_id() != here) return t;
          if (enough) throw Enough();  // the function went on nevertheless
          again_.push_back(autograd::save_tensor(t));
          metas_again_.emplace_back(t);
          enough = options_.early_stop && again_.size() == metas_.size();
          if (enough) throw Enough();
          return t;
        },
        [](const std::any& t) { return std::any_cast<const Tensor&>(t); });
    try {
      run_(given);
    } catch (...) {
      if (!enough) throw;
    }
    autograd::take_saved_count();
  }

  void check() const {
    const size_t saved = metas_.size(), found = metas_again_.size();
    const auto fail = [](auto... words) {
      throw CheckpointError(taeda::detail::concat("taeda::utils::checkpoint: ", words...));
    };
    if (found > saved && first_run_ended_)
      fail("trying to save more tensors during recomputation than during the original forward "
           "pass.");
    if (found < saved)
      fail("A different number of tensors was saved during the original forward and "
           "recomputation.\nNumber of tensors saved during forward: ",
           saved, "\nNumber of tensors saved during recomputation: ", found, ".");
    std::string different;
    for (size_t i = 0; i < saved && options_.determinism_check; ++i)
      if (metas_again_[i] != metas_[i])
        different += taeda::detail::concat("tensor at position ", i, ":\nsaved metadata: ",
                                           metas_[i].text(), "\nrecomputed metadata: ",
                                           metas_again_[i].text(), "\n");
    if (!different.empty())
      fail("Recomputed values for the following tensors have different metadata than during the "
           "forward pass.\n",
           different, ".");
  }

  const detail::Run run_;
  const CheckpointOptions options_;
  const ForwardState state_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::vector<Saved> inputs_;
  std::vector<Meta> metas_, metas_again_;
  bool first_run_ended_ = false;  // not while a pass within the function asks
  std::recursive_mutex mutex_;    // a pass may run on several threads
  std::vector<Saved> again_;
};

}  // namespace

struct detail::FirstRun::Scope {
  std::shared_ptr<Recomputed> kept;
  NoCastCache uncached{};
  autograd::graph::saved_tensors_hooks hooks{
      [kept = kept](const Tensor& t) { return kept->pack(t); }, Recomputed::unpack};
};

detail::FirstRun::FirstRun(Run again, const std::vector<Tensor>& inputs,
                           const CheckpointOptions& options)
    : scope_(new Scope{std::make_shared<Recomputed>(std::move(again), inputs, options)}) {}
detail::FirstRun::~FirstRun() { scope_->kept->end_first_run(); }

bool in_use() { return kept_tensors > 0; }

ForwardState::ForwardState(const std::vector<Tensor>& inputs, bool random)
    : autocast_(AutocastMode::state()) {
  autocast_.cache = false;
  if (!random) return;
  add_state(random_, kCPU);
  for (const DeviceType type : accelerator::types()) {
    const bool used = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
      return t.defined() && t.device().type() == type;
    });
    for (int i = 0; used && i < device_count(type); ++i) add_state(random_, Device(type, i));
  }
}

namespace {

/// Generators are the process's, so that two threads of a backward pass which run functions again
/// at once would draw from each other's states and leave the wrong ones behind. Recursive, because
/// such a function may itself run another again.
std::recursive_mutex& generators_lent() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

ForwardState::Scope::Scope(const ForwardState& state) : autocast_(AutocastMode::state()) {
  if (!state.random_.empty()) generators_lent().lock();
  for (const auto& [device, bytes] : state.random_) {
    add_state(random_, device);
    default_generator(device).set_state(bytes);
  }
  AutocastMode::set_state(state.autocast_);
}

ForwardState::Scope::~Scope() {
  AutocastMode::set_state(autocast_);
  for (const auto& [device, bytes] : random_) default_generator(device).set_state(bytes);
  if (!random_.empty()) generators_lent().unlock();
}

bool is_recomputing() { return RecomputeMode::is_enabled(); }
RecomputingGuard::RecomputingGuard() : previous_(RecomputeMode::is_enabled()) {
  RecomputeMode::set_enabled(true);
}
RecomputingGuard::~RecomputingGuard() { RecomputeMode::set_enabled(previous_); }

Tensor checkpoint_sequential(const std::vector<nn::AnyModule>& modules, int64_t segments,
                             const Tensor& input, const CheckpointOptions& options) {
  const auto n = static_cast<int64_t>(modules.size());
  TAEDA_CHECK_VALUE(segments > 0 && segments <= n, "checkpoint_sequential: expected between 1 and ",
                    n, " segments (the number of modules), but got ", segments);
  const auto run_part = [&modules](int64_t begin, int64_t end) {
    const std::vector<nn::AnyModule> part(modules.begin() + begin, modules.begin() + end);
    return [part](const Tensor& x) {
      nn::AnyValue value(x);
      for (nn::AnyModule m : part) value = m.call_values(&value, 1);
      return value.get<Tensor>();
    };
  };
  const int64_t length = n / segments;
  Tensor x = input;
  int64_t begin = 0;
  for (; begin < length * (segments - 1); begin += length)
    x = checkpoint(options, run_part(begin, begin + length), x);
  return run_part(begin, n)(x);
}

}  // namespace taeda::inline v0_2::utils::checkpoint
