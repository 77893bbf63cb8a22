#include "taeda/nn/parallel/replicate.h"

#include <algorithm>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/meta.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/parallel/comm.h"
#include "taeda/ops/create.h"
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

/// Whether values of `original` can go into the memory of `own` as it is laid out.
bool fits(const Tensor& own, const Tensor& original) {
  return own.dtype() == original.dtype() && own.sizes() == original.sizes() &&
         (own.strides() == original.strides() || !original.layout().is_non_overlapping_and_dense());
}

bool shares(const Tensor& own, const Tensor& original) {
  return own.storage() == original.storage() &&
         own.unsafe_impl()->own_version == original.unsafe_impl()->own_version &&
         own.dtype() == original.dtype() && own.sizes() == original.sizes() &&
         own.strides() == original.strides() && own.storage_offset() == original.storage_offset();
}

}  // namespace

Replicas::Replicas(std::shared_ptr<Module> original, std::vector<Device> devices)
    : original_(std::move(original)), devices_(std::move(devices)) {
  TAEDA_CHECK(!devices_.empty(), "replicate: expected at least one device");
  for (Device& d : devices_) d = resolve(d);
}

Replicas::Snapshot Replicas::look_at(const std::shared_ptr<Module>& module) {
  Snapshot out;
  std::unordered_set<const Module*> seen;
  collect(module, seen, out.modules);
  for (const std::shared_ptr<Module>& m : out.modules) {
    for (const auto& [name, tensor] : m->parameters_) out.tensors.push_back(tensor);
    for (const auto& [name, tensor] : m->buffers_) out.tensors.push_back(tensor);
    if (out.first_tensors == 0) out.first_tensors = out.tensors.size();
    out.members += m->member_bytes();
  }
  return out;
}

bool Replicas::is_as_before() const {
  const Snapshot now = look_at(original_);
  const auto same = [](const Tensor& a, const Tensor& b) { return a.is_same(b); };
  return now.modules == seen_.modules && now.members == seen_.members &&
         std::equal(now.tensors.begin(), now.tensors.end(), seen_.tensors.begin(),
                    seen_.tensors.end(), same);
}

void Replicas::forget() {
  replicas_.clear();
  clones_.clear();
}

void Replicas::look() {
  if (!clones_.empty() && !is_as_before()) forget();
  if (clones_.empty()) seen_ = look_at(original_);
}

void Replicas::send_first() {
  if (clones_.size() < used_ || used_ == 0) return;
  const InferenceMode normal(false);
  const NoGradGuard no_grad;
  look();
  if (!clones_.empty()) update(used_, seen_.first_tensors);
}

const std::vector<std::shared_ptr<Module>>& Replicas::follow(size_t n) {
  const bool recording = GradMode::is_enabled();
  {
    const InferenceMode normal(false);
    const NoGradGuard no_grad;
    look();
    update(n, SIZE_MAX);
  }
  used_ = n;
  if (recording) record_history(n);
  return clones_;
}

/// Adds one clone, which shares all tensors with the original until its first update.
void Replicas::make_clone() {
  std::shared_ptr<Module> clone;
  {
    const KeepRandomState keep;
    const ShallowCloneGuard shallow;
    clone = original_->clone();
  }
  Replica replica;
  std::unordered_set<const Module*> seen;
  collect(clone, seen, replica.modules);
  match(replica);
  replicas_.push_back(std::move(replica));
  clones_.push_back(std::move(clone));
}

/// Finds the tensors of a clone that belong to those of the original.
void Replicas::match(Replica& replica) const {
  const auto check = [&](bool same, const Module& module) {
    TAEDA_CHECK(same, "the clone of ", module.name(),
                " does not have the class, the modules, parameters and buffers of the original. "
                "Does its class derive from Cloneable of itself, and does reset() register all?");
  };
  check(replica.modules.size() == seen_.modules.size(), *original_);
  std::unordered_map<const TensorImpl*, size_t> known;
  size_t position = 0;
  const auto add = [&](const OrderedDict<std::string, Tensor>& own, size_t count, const Module& m) {
    check(own.size() == count, m);
    for (const auto& [name, tensor] : own) {
      const size_t original = position++;
      check(tensor.defined() == seen_.tensors[original].defined(), m);
      if (!tensor.defined()) continue;
      const auto [at, fresh] = known.emplace(tensor.unsafe_impl(), original);
      if (fresh)
        replica.tensors.push_back({original, tensor, {}});
      else  // one tensor under two names: so it must be in the original
        check(seen_.tensors[at->second].is_same(seen_.tensors[original]), m);
    }
  };
  for (size_t i = 0; i < replica.modules.size(); ++i) {
    Module& own = *replica.modules[i];
    const Module& original = *seen_.modules[i];
    check(typeid(own) == typeid(original), original);
    own.key_ = original.key_;
    add(own.parameters_, original.parameters_.size(), original);
    add(own.buffers_, original.buffers_.size(), original);
  }
}

/// Gives a replica the original's state and so many of its tensors memory for their values; returns
/// which of these lack the original's.
std::vector<bool> Replicas::prepare(size_t i, size_t most) {
  if (i == clones_.size()) make_clone();
  Replica& replica = replicas_[i];
  for (size_t m = 0; m < replica.modules.size(); ++m) {
    replica.modules[m]->training_ = seen_.modules[m]->training_;
    replica.modules[m]->hooks_ = seen_.modules[m]->hooks_;
  }
  std::vector<bool> stale(replica.tensors.size());
  for (size_t k = 0; k < std::min(most, stale.size()); ++k) {
    Copy& copy = replica.tensors[k];
    const Tensor original = seen_.tensors[copy.original].detach();
    make_plain(copy.own);
    if (original.device() == devices_[i]) {
      if (!shares(copy.own, original)) share_data(copy.own, original);
      continue;
    }
    if (copy.from == original.storage() && copy.from_offset == original.storage_offset() &&
        copy.from_version == original._version() && copy.own_version == copy.own._version() &&
        fits(copy.own, original))
      continue;
    stale[k] = true;
    // An earlier pass that was not run backward yet keeps the values it was made with.
    const bool reusable =
        copy.from && fits(copy.own, original) && copy.own.storage().use_count() == 1;
    if (!reusable) copy.own.set_data(empty_like(original, original.options().device(devices_[i])));
    copy.from = {};
  }
  return stale;
}

/// The streams between two replicas; null where values go on the current ones.
const nn::detail::Lane* Replicas::lane_to(size_t i) const {
  return i < lanes_.size() && lanes_[i] ? &*lanes_[i] : nullptr;
}

/// Where values of a replica are there once they are.
Stream Replicas::arrival_stream(size_t i) const {
  const nn::detail::Lane* lane = lane_to(i);
  return lane ? lane->receive : current_stream(devices_[i]);
}

/// Brings so many tensors of replicas in step with the original, those of the first replica first
/// and the others' one by one.
void Replicas::update(size_t n, size_t most) {
  const auto on_device = [&](size_t i, const auto& fn) {
    try {
      const DeviceGuard guard(devices_[i]);
      fn();
    } catch (Error& e) {
      e.add_context(taeda::detail::concat("while replicating ", original_->name(), " to device ",
                                          devices_[i]));
      throw;
    }
  };
  std::vector<std::vector<bool>> stale(n);
  for (size_t i = 0; i < n; ++i) on_device(i, [&] { stale[i] = prepare(i, most); });
  const size_t tensors = std::min(most, stale[0].size());
  const auto any = [](const std::vector<bool>& v) { return std::ranges::find(v, true) != v.end(); };
  on_device(0, [&] {
    for (size_t k = 0; k < tensors; ++k)
      if (stale[0][k]) send(k, 0);
  });
  lanes_.resize(devices_.size());
  for (size_t i = 1; i < n; ++i) {
    const Device from = devices_[i - 1], to = devices_[i];
    if (!any(stale[i]) || from.is_cpu() || from.type() != to.type()) continue;
    if (!lanes_[i]) lanes_[i].emplace(from, to);
    lanes_[i]->send.wait_stream(current_stream(from));
    lanes_[i]->receive.wait_stream(current_stream(to));
  }
  for (size_t k = 0; k < tensors; ++k)
    for (size_t i = 1; i < n; ++i)
      if (stale[i][k]) on_device(i, [&] { send(k, i); });
}

/// Queues the copy of a tensor from the replica before, or from the original.
void Replicas::send(size_t k, size_t i) {
  Copy& copy = replicas_[i].tensors[k];
  const Tensor original = seen_.tensors[copy.original].detach();
  const Tensor source = i > 0 ? replicas_[i - 1].tensors[k].own : original;
  if (const nn::detail::Lane* lane = lane_to(i)) {
    nn::detail::mark_user(source, lane->send);
    nn::detail::mark_user(copy.own, lane->receive);
    lane->receive.wait_stream(arrival_stream(i - 1));
    const StreamGuard sender(lane->send), receiver(lane->receive);
    copy.own.copy_(source, true);
    // Each layer begins when it has its values, and may change them when they have been sent.
    copy.own.storage()->use_after(lane->receive);
    source.storage()->use_after(lane->send);
  } else {
    if (i > 0 && !devices_[i - 1].is_cpu())
      current_stream(devices_[i - 1]).wait_stream(arrival_stream(i - 1));
    copy.own.copy_(source, true);
  }
  copy.from = original.storage();
  copy.from_offset = original.storage_offset();
  copy.from_version = original._version();
  copy.own_version = copy.own._version();
}

void Replicas::record_history(size_t n) {
  constexpr int64_t kSmall = int64_t{1} << 18;  // bytes that take as long as a copy's latency
  for (std::vector<Stream>& streams : reduce_streams_)
    if (streams.empty())
      for (const Device& d : devices_) streams.push_back(new_stream(d));
  for (size_t k = 0; k < replicas_[0].tensors.size(); ++k) {
    const Tensor& original = seen_.tensors[replicas_[0].tensors[k].original];
    if (!original.requires_grad()) continue;
    std::vector<Tensor> copies;
    for (size_t i = 0; i < n; ++i) copies.push_back(replicas_[i].tensors[k].own);
    record_broadcast(original, copies, reduce_streams_[original.nbytes() < kSmall]);
  }
}

}  // namespace taeda::inline v0_2::nn::parallel
