#include "taeda/parallel/replicate.h"

#include <algorithm>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/libtorch_style.h"
#include "taeda/parallel/broadcast.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::parallel {

namespace {

/// All modules of a tree, parents first, a shared one once.
void collect(const std::shared_ptr<Module>& module, std::unordered_set<const Module*>& seen,
             std::vector<std::shared_ptr<Module>>& out) {
  if (!seen.insert(module.get()).second) return;
  out.push_back(module);
  for (const auto& [name, child] : module->named_children()) collect(child, seen, out);
}

/// Cloning runs constructors, which may draw numbers: the program's must not depend on it.
class KeepRandomState {
 public:
  KeepRandomState() : state_(default_generator(kCPU).get_state()) {}
  ~KeepRandomState() { default_generator(kCPU).set_state(state_); }
  KeepRandomState(const KeepRandomState&) = delete;
  KeepRandomState& operator=(const KeepRandomState&) = delete;

 private:
  std::vector<uint8_t> state_;
};

/// A tensor without history or relation to others, as results of an operation start.
void make_plain(const Tensor& t) {
  TensorImpl& impl = *t.unsafe_impl();
  impl.view_kind = ViewKind::None;
  impl.base.reset();
  impl.wants_grad = false;
  if (autograd::AutogradMeta* meta = autograd::find_meta(t)) {
    meta->grad_fn.reset();
    meta->output_nr = 0;
    meta->requires_grad = false;
  }
}

}  // namespace

/// The order in which gradients came in a backward pass. Passes may run on other threads.
class Replicas::Arrivals {
 public:
  void note(const std::vector<size_t>& tensors) {
    std::lock_guard lock(mutex_);
    for (const size_t k : tensors)
      if (std::ranges::find(order_, k) == order_.end()) order_.push_back(k);
  }
  std::vector<size_t> order() const {
    std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<size_t> order_;
};

namespace {

std::vector<Device> resolved(std::vector<Device> devices) {
  TAEDA_CHECK(!devices.empty(), "replicate: expected at least one device");
  for (Device& d : devices) d = resolve(d);
  return devices;
}

}  // namespace

Replicas::Replicas(std::shared_ptr<Module> original, std::vector<Device> devices)
    : original_(std::move(original)), devices_(resolved(std::move(devices))), values_(devices_) {}

Replicas::Snapshot Replicas::look_at(const std::shared_ptr<Module>& module) {
  Snapshot out;
  std::unordered_set<const Module*> seen;
  collect(module, seen, out.modules);
  for (size_t i = 0; i < out.modules.size(); ++i) {
    const Module& m = *out.modules[i];
    for (const auto& [name, tensor] : m.parameters_) out.tensors.push_back(tensor);
    for (const auto& [name, tensor] : m.buffers_) out.tensors.push_back(tensor);
    out.owners.resize(out.tensors.size(), i);
    out.members.emplace_back(m.member_bytes());
  }
  return out;
}

void Replicas::forget() {
  replicas_.clear();
  clones_.clear();
  unique_.clear();
  arrivals_.reset();
  gradient_buckets_.clear();
  wanted_.clear();
  ordered_ = false;
  used_ = 0;
}

/// Compares the module with what it was when the clones were made.
void Replicas::look() {
  Snapshot now = look_at(original_);
  const bool had_clones = !clones_.empty();
  if (had_clones && !take_over(now)) forget();
  seen_ = std::move(now);
  warn_if_made_again(had_clones && clones_.empty());
}

/// Gives the replicas the members of modules where these have changed; false if clones have to be
/// made anew.
bool Replicas::take_over(const Snapshot& now) {
  const auto same = [](const Tensor& a, const Tensor& b) { return a.is_same(b); };
  if (now.modules != seen_.modules || !std::ranges::equal(now.tensors, seen_.tensors, same))
    return false;
  for (size_t m = 0; m < now.modules.size(); ++m) {
    if (now.members[m] == seen_.members[m]) continue;
    const KeepRandomState keep;
    for (size_t i = 0; i < replicas_.size(); ++i) {
      auto* const own = dynamic_cast<CloneableBase*>(replicas_[i].modules[m].get());
      if (!own || !own->take_members(*now.modules[m])) return false;
      match(i);
    }
  }
  return true;
}

void Replicas::warn_if_made_again(bool made) {
  if (made && made_in_last_pass_ && !std::exchange(warned_, true))
    TAEDA_WARN("nn::DataParallel makes its replicas of ", nn::detail::short_name(*original_),
               " anew in each pass, because the modules in it, what is registered in them, or "
               "members of a module with its own clone() change from pass to pass. That takes "
               "longer than following values.");
  made_in_last_pass_ = made;
}

const std::vector<std::shared_ptr<Module>>& Replicas::follow(size_t n) {
  return follow([n] { return n; });
}

const std::vector<std::shared_ptr<Module>>& Replicas::follow(
    const std::function<size_t()>& send_inputs) {
  const bool recording = GradMode::is_enabled();
  size_t ready_for = 0;
  {
    const InferenceMode normal(false);
    const NoGradGuard no_grad;
    look();
    if (!clones_.empty() && used_ > 0) {
      ready(0, ready_for = used_);
      values_.send_first(used_ - 1);
    }
  }
  const size_t n = send_inputs();
  {
    const InferenceMode normal(false);
    const NoGradGuard no_grad;
    ready(ready_for, n);
    values_.send(n);
  }
  used_ = n;
  if (recording) record_history(n);
  return clones_;
}

/// Adds one clone, which shares all tensors with the original until it gets memory.
void Replicas::make_clone() {
  std::shared_ptr<Module> clone;
  {
    const KeepRandomState keep;
    const ShallowCloneGuard shallow;
    clone = original_->clone();
  }
  clones_.push_back(std::move(clone));
  replicas_.emplace_back();
  try {
    match(clones_.size() - 1);
  } catch (...) {
    forget();
    throw;
  }
}

/// Finds the modules and tensors of a clone that belong to those of the original.
void Replicas::match(size_t i) {
  Replica replica;
  std::unordered_set<const Module*> seen;
  collect(clones_[i], seen, replica.modules);
  const auto check = [&](bool same, const Module& module) {
    TAEDA_CHECK(same, "the clone of ", nn::detail::short_name(module),
                " does not have the class, the modules, parameters and buffers of the original. "
                "Does its class derive from Cloneable of itself, and does reset() register all?");
  };
  check(replica.modules.size() == seen_.modules.size(), *original_);
  std::unordered_map<const TensorImpl*, size_t> known;
  std::vector<size_t> unique;
  size_t position = 0;
  const auto add = [&](const OrderedDict<std::string, Tensor>& own, size_t count, const Module& m) {
    check(own.size() == count, m);
    for (const auto& [name, tensor] : own) {
      const size_t original = position++;
      check(tensor.defined() == seen_.tensors[original].defined(), m);
      if (!tensor.defined()) continue;
      const auto [at, fresh] = known.emplace(tensor.unsafe_impl(), original);
      if (fresh) {
        replica.tensors.push_back(tensor);
        unique.push_back(original);
      } else {  // one tensor under two names: so it must be in the original
        check(seen_.tensors[at->second].is_same(seen_.tensors[original]), m);
      }
    }
  };
  for (size_t m = 0; m < replica.modules.size(); ++m) {
    Module& own = *replica.modules[m];
    const Module& original = *seen_.modules[m];
    check(typeid(own) == typeid(original), original);
    own.key_ = original.key_;
    add(own.parameters_, original.parameters_.size(), original);
    add(own.buffers_, original.buffers_.size(), original);
  }
  unique_ = std::move(unique);
  replicas_[i] = std::move(replica);
}

/// Gives so many replicas the original's state, and memory for its values.
void Replicas::ready(size_t begin, size_t end) {
  const auto on_device = [&](size_t i, const auto& fn) {
    try {
      const DeviceGuard guard(devices_[i]);
      fn();
    } catch (Error& e) {
      e.add_context(taeda::detail::concat("while replicating ", nn::detail::short_name(*original_),
                                          " to device ", devices_[i]));
      throw;
    }
  };
  for (size_t i = begin; i < end; ++i)
    if (i == clones_.size()) on_device(i, [&] { make_clone(); });
  if (begin == 0) {
    std::vector<Tensor> originals;
    std::vector<size_t> owners;
    for (const size_t k : unique_) {
      originals.push_back(seen_.tensors[k].detach());
      owners.push_back(seen_.owners[k]);
    }
    values_.begin(std::move(originals), owners);
  }
  for (size_t i = begin; i < end; ++i) {
    for (size_t m = 0; m < replicas_[i].modules.size(); ++m) {
      replicas_[i].modules[m]->training_ = seen_.modules[m]->training_;
      replicas_[i].modules[m]->hooks_ = seen_.modules[m]->hooks_;
    }
    for (const Tensor& t : replicas_[i].tensors) make_plain(t);
    on_device(i, [&] { values_.place(i, replicas_[i].tensors); });
  }
}

/// Divides the tensors that want gradients into buckets. Until it is known in which order their
/// gradients come, those of a module are one; what had none then stays apart, so that it does not
/// keep others from travelling together.
void Replicas::assign_buckets(const std::vector<size_t>& wanted) {
  std::vector<size_t> arrived, others;
  for (const size_t k : arrivals_->order())
    if (std::ranges::find(wanted, k) != wanted.end()) arrived.push_back(k);
  for (const size_t k : wanted)
    if (std::ranges::find(arrived, k) == arrived.end()) others.push_back(k);
  std::ranges::reverse(others);
  std::vector<Tensor> tensors;
  std::vector<size_t> owners;
  for (const size_t k : unique_) {
    tensors.push_back(seen_.tensors[k]);
    owners.push_back(seen_.owners[k]);
  }
  gradient_buckets_.clear();
  const auto add = [&](const std::vector<size_t>& order, const BucketLimits& limits) {
    for (const std::vector<size_t>& members : make_buckets(tensors, order, owners, limits)) {
      std::vector<Tensor> of_bucket;
      for (const size_t k : members) of_bucket.push_back(tensors[k]);
      gradient_buckets_.push_back({members, std::make_shared<const FlatLayout>(of_bucket)});
    }
  };
  add(arrived, kGradientLimits);
  add(others, {0, 0});
  ordered_ = !arrived.empty();
  wanted_ = wanted;
}

bool Replicas::buckets_fit(const std::vector<size_t>& wanted) const {
  if (wanted != wanted_ || (!ordered_ && !arrivals_->order().empty())) return false;
  return std::ranges::all_of(gradient_buckets_, [&](const GradientBucket& b) {
    std::vector<Tensor> originals;
    for (const size_t k : b.members) originals.push_back(seen_.tensors[unique_[k]]);
    return b.layout->fits(originals);
  });
}

void Replicas::record_history(size_t n) {
  constexpr int64_t kSmall = int64_t{1} << 18;  // bytes that take as long as a copy's latency
  for (std::vector<Stream>& streams : reduce_streams_)
    if (streams.empty())
      for (size_t i = 0; i < 3 * devices_.size(); ++i)
        streams.push_back(new_stream(devices_[i % devices_.size()]));
  if (!arrivals_) arrivals_ = std::make_shared<Arrivals>();
  std::vector<size_t> wanted;
  for (size_t k = 0; k < unique_.size(); ++k)
    if (seen_.tensors[unique_[k]].requires_grad()) wanted.push_back(k);
  if (!buckets_fit(wanted)) assign_buckets(wanted);
  for (const GradientBucket& b : gradient_buckets_) {
    std::vector<Tensor> originals;
    std::vector<std::vector<Tensor>> copies(n);
    int64_t bytes = 0;
    for (const size_t k : b.members) {
      originals.push_back(seen_.tensors[unique_[k]]);
      bytes += originals.back().nbytes();
      for (size_t i = 0; i < n; ++i) copies[i].push_back(replicas_[i].tensors[k]);
    }
    std::function<void()> arrived;
    if (!ordered_)
      arrived = [arrivals = arrivals_, members = b.members] { arrivals->note(members); };
    const std::vector<Stream>& streams = reduce_streams_[bytes < kSmall];
    const auto add = streams.begin() + std::ssize(devices_), opposite = add + std::ssize(devices_);
    record_broadcast(originals, copies, b.layout,
                     {{streams.begin(), add}, {add, opposite}, {opposite, streams.end()}},
                     std::move(arrived));
  }
}

}  // namespace taeda::inline v0_2::nn::parallel
