#include "taeda/nn/cloneable.h"

#include <optional>

#include "taeda/nn/init.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

namespace {

constinit thread_local bool shallow = false;

void check_clone(bool same, const char* what, const char* how) {
  TAEDA_CHECK(same, "The cloned module does not have the same number of ", what,
              " as the original module after calling reset(). Are you sure you called ", how,
              "() inside reset() and not the constructor?");
}

void fill_clone(const OrderedDict<std::string, Tensor>& from,
                const OrderedDict<std::string, Tensor>& to, const char* what, const char* how,
                const std::optional<Device>& device) {
  check_clone(from.size() == to.size(), what, how);
  NoGradGuard no_grad;
  for (const auto& [key, tensor] : from) {
    if (!tensor.defined()) continue;
    const Tensor& target = to[key];
    if (shallow)
      share_data(target, tensor);
    else
      target.set_data(device ? tensor.to(*device, false, /*copy=*/true).detach()
                             : tensor.detach().clone());
    target.requires_grad_(tensor.requires_grad());
  }
}

}  // namespace

ShallowCloneGuard::ShallowCloneGuard() : previous_(shallow) { shallow = true; }
ShallowCloneGuard::~ShallowCloneGuard() { shallow = previous_; }

std::shared_ptr<Module> CloneableBase::clone(const std::optional<Device>& device) const {
  CloneableBase* const copy = copy_object();
  std::shared_ptr<Module> owner(copy);
  copy->forget_members();
  {
    // A program for libtorch goes on with the random numbers behind those of reset().
    std::optional<init::SkipInitGuard> values_are_copied_below;
    if (shallow || dialect() == Dialect::Python) values_are_copied_below.emplace();
    copy->reset();
  }
  this->copy_members_to(*copy, device);
  return owner;
}

namespace {

/// Gives the tensors that were registered anew the memory of those that were there.
bool keep_memory(const OrderedDict<std::string, Tensor>& before,
                 const OrderedDict<std::string, Tensor>& now) {
  if (now.size() != before.size()) return false;
  for (const auto& [key, tensor] : before) {
    const Tensor* const fresh = now.find(key);
    if (!fresh || fresh->defined() != tensor.defined()) return false;
    if (tensor.defined()) share_data(*fresh, tensor);
  }
  return true;
}

}  // namespace

bool CloneableBase::take_members(const Module& original) {
  const auto parameters = parameters_, buffers = buffers_;
  const auto children = children_;
  if (!assign_object(original)) return false;
  forget_members();
  {
    init::SkipInitGuard values_are_there;
    reset();
  }
  if (!keep_memory(parameters, parameters_) || !keep_memory(buffers, buffers_)) return false;
  if (children_.size() != children.size()) return false;
  for (const auto& [key, child] : children) {
    const auto* const fresh = children_.find(key);
    auto* const own = fresh ? dynamic_cast<CloneableBase*>(fresh->get()) : nullptr;
    if (!own || !own->assign_object(*child)) return false;
  }
  return true;
}

void CloneableBase::clone_from(const Module& other, const std::optional<Device>& device) {
  TAEDA_CHECK(assign_object(*other.clone(device)),
              "Attempted to clone submodule, but it is of a different type than the submodule it "
              "was to be cloned into");
}

void Module::forget_members() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

void Module::copy_members_to(Module& copy, const std::optional<Device>& device) const {
  fill_clone(parameters_, copy.parameters_, "parameters", "register_parameter", device);
  fill_clone(buffers_, copy.buffers_, "buffers", "register_buffer", device);
  check_clone(children_.size() == copy.children_.size(), "child modules", "register_module");
  for (const auto& [key, child] : children_) copy.children_[key]->clone_from(*child, device);
}

}  // namespace taeda::inline v0_2::nn
