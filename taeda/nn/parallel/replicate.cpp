#include "taeda/nn/parallel/replicate.h"

#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include "taeda/autograd/meta.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/parallel/comm.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn::parallel {

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
  return own.storage() == original.storage() && own.dtype() == original.dtype() &&
         own.sizes() == original.sizes() && own.strides() == original.strides() &&
         own.storage_offset() == original.storage_offset();
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

const std::vector<std::shared_ptr<Module>>& Replicas::follow(size_t n) {
  const bool recording = GradMode::is_enabled();
  {
    const InferenceMode normal(false);
    const NoGradGuard no_grad;
    if (!clones_.empty() && !is_as_before()) forget();
    if (clones_.empty()) seen_ = look_at(original_);
    for (size_t i = 0; i < n; ++i) {
      try {
        const DeviceGuard on_device(devices_[i]);
        if (i == clones_.size()) make_clone();
        update(replicas_[i], devices_[i]);
      } catch (Error& e) {
        e.add_context(taeda::detail::concat("while replicating ", original_->name(), " to device ",
                                            devices_[i]));
        throw;
      }
    }
  }
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

/// Brings a replica in step with the original.
void Replicas::update(Replica& replica, Device device) const {
  for (size_t i = 0; i < replica.modules.size(); ++i) {
    replica.modules[i]->training_ = seen_.modules[i]->training_;
    replica.modules[i]->hooks_ = seen_.modules[i]->hooks_;
  }
  for (Copy& copy : replica.tensors) {
    const Tensor original = seen_.tensors[copy.original].detach();
    make_plain(copy.own);
    if (original.device() == device) {
      if (!shares(copy.own, original)) copy.own.set_data(original);
      continue;
    }
    if (copy.from == original.storage() && copy.from_offset == original.storage_offset() &&
        copy.from_version == original._version() && copy.own_version == copy.own._version() &&
        fits(copy.own, original))
      continue;
    // An earlier pass that was not run backward yet keeps the values it was made with.
    const bool reusable =
        copy.from && fits(copy.own, original) && copy.own.storage().use_count() == 1;
    if (reusable)
      copy.own.copy_(original, true);
    else
      copy.own.set_data(original.to(device, true, true));
    copy.from = original.storage();
    copy.from_offset = original.storage_offset();
    copy.from_version = original._version();
    copy.own_version = copy.own._version();
  }
}

void Replicas::record_history(size_t n) const {
  for (size_t k = 0; k < replicas_[0].tensors.size(); ++k) {
    const Tensor& original = seen_.tensors[replicas_[0].tensors[k].original];
    if (!original.requires_grad()) continue;
    std::vector<Tensor> copies;
    for (size_t i = 0; i < n; ++i) copies.push_back(replicas_[i].tensors[k].own);
    record_broadcast(original, copies);
  }
}

}  // namespace taeda::nn::parallel
