// State dicts of modules, and what their files hold.
#include <algorithm>
#include <ostream>
#include <utility>

#include "taeda/base/nearest.h"
#include "taeda/base/warning.h"
#include "taeda/io/keyed_archive.h"
#include "taeda/nn/hook_lists.h"
#include "taeda/nn/libtorch_style.h"
#include "taeda/nn/module.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

void Module::collect_own_state(OrderedDict<std::string, Tensor>& out,
                               const std::string& prefix) const {
  for (const auto& [name, tensor] : parameters_)
    if (tensor.defined()) out.insert(prefix + name, tensor.detach());
  for (const auto& [name, tensor] : buffers_)
    if (tensor.defined() && !transient_buffers_.contains(name))
      out.insert(prefix + name, tensor.detach());
  for (const auto& [name, child] : children_) child->collect_own_state(out, prefix + name + ".");
}

void Module::collect_state(OrderedDict<std::string, Tensor>& out, const std::string& prefix) const {
  auto& self = const_cast<Module&>(*this);  // hooks may change what is about to be taken
  const detail::HookLists* const all = detail::hooks_of(*this);
  const auto before = all ? all->state_pre.snapshot() : nullptr;
  const auto after = all ? all->state_post.snapshot() : nullptr;
  if (before)
    for (const auto& entry : *before)
      detail::run("state_dict pre-hook", self, [&] { entry.hook(self, prefix); });
  for (const auto& [name, tensor] : parameters_)
    if (tensor.defined()) out.insert(prefix + name, tensor.detach());
  for (const auto& [name, tensor] : buffers_)
    if (tensor.defined() && !transient_buffers_.contains(name))
      out.insert(prefix + name, tensor.detach());
  for (const auto& [name, child] : children_) child->collect_state(out, prefix + name + ".");
  if (after)
    for (const auto& entry : *after)
      detail::run("state_dict post-hook", self, [&] { entry.hook(self, out, prefix); });
}

OrderedDict<std::string, Tensor> Module::state_dict(const std::string& prefix) const {
  OrderedDict<std::string, Tensor> out;
  collect_state(out, prefix);
  return out;
}

namespace {

std::string quoted_list(const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys) out += (out.empty() ? "\"" : ", \"") + key + "\"";
  return out;
}

/// The values are lost.
void warn_of_meta(const std::string& key) {
  TAEDA_WARN("for ", key,
             ": copying from a non-meta parameter in the checkpoint to a meta parameter in the "
             "current model, which is a no-op. (Did you mean to pass `assign=true`?)");
}

/// What loading finds out and what it will copy: nothing is copied before all of it fits.
class Loading {
 public:
  void want(const std::string& key, const Tensor& own, const Tensor* given) {
    if (!given)
      keys.missing.push_back(key);
    else if (!(given->sizes() == own.sizes()))
      misfits.push_back(taeda::detail::concat(
          "size mismatch for ", key, ": copying a param with shape torch.Size(", given->sizes(),
          ") from checkpoint, the shape in current model is torch.Size(", own.sizes(), ")."));
    else
      copies_.push_back({key, own, *given});
  }
  /// Throws Error if something does not fit.
  void check(const Module& module, bool strict) const {
    std::string message;
    if (strict && !keys.missing.empty())
      message += "\n\tMissing key(s) in state_dict: " + quoted_list(keys.missing) + ". ";
    if (strict && !keys.unexpected.empty())
      message += "\n\tUnexpected key(s) in state_dict: " + quoted_list(keys.unexpected) + ". ";
    for (const std::string& text : misfits) message += "\n\t" + text;
    TAEDA_CHECK(message.empty(), "Error(s) in loading state_dict for ", detail::short_name(module),
                ":", message);
  }
  void copy() const {
    NoGradGuard no_grad;
    for (const auto& [key, own, given] : copies_) {
      if (own.is_meta() && !given.is_meta()) warn_of_meta(key);
      own.copy_(given);
    }
  }

  IncompatibleKeys keys;
  std::vector<std::string> misfits;

 private:
  struct Copy {
    std::string key;
    Tensor own, given;
  };
  std::vector<Copy> copies_;
};

/// Gives the module's tensors the memory of those in `state`; `own` are the keys that it may have.
void assign_state(Module& m, const std::string& prefix, const OrderedDict<std::string, Tensor>& own,
                  const OrderedDict<std::string, Tensor>& state) {
  const auto assign = [&](const OrderedDict<std::string, Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      const Tensor* given = own.contains(prefix + name) ? state.find(prefix + name) : nullptr;
      if (!given) continue;
      tensor.set_data(given->detach());
      tensor.mutable_grad().reset();  // it belongs to the values that were there
    }
  };
  assign(m.named_parameters(false));
  assign(m.named_buffers(false));
  for (const auto& [name, child] : m.named_children())
    assign_state(*child, prefix + name + ".", own, state);
}

/// What keeps the tensors of `state` from becoming the module's own.
void check_assignable(const Module& m, const OrderedDict<std::string, Tensor>& state,
                      std::vector<std::string>& errors) {
  for (const auto& [key, tensor] : m.named_parameters())
    if (const Tensor* given = state.find(key);
        given && tensor.requires_grad() && !is_differentiable(given->dtype()))
      errors.push_back(taeda::detail::concat(
          "While assigning ", key, ": only Tensors of floating point and complex dtype can ",
          "require gradients, got ", to_string(given->dtype())));
}

}  // namespace

namespace {

using ModulesByPrefix = std::vector<std::pair<std::string, Module*>>;

/// The module and all below it, each before its children.
void list_modules(Module& m, const std::string& prefix, ModulesByPrefix& out) {
  out.emplace_back(prefix, &m);
  for (const auto& [name, child] : m.named_children())
    list_modules(*child, prefix + name + ".", out);
}

auto load_pre_hooks(const Module& m) {
  const detail::HookLists* const all = detail::hooks_of(m);
  return all ? all->load_pre.snapshot() : nullptr;
}

bool have_load_pre_hooks(const ModulesByPrefix& modules) {
  return std::any_of(modules.begin(), modules.end(),
                     [](const auto& entry) { return load_pre_hooks(*entry.second); });
}

void run_load_pre_hooks(const ModulesByPrefix& modules, OrderedDict<std::string, Tensor>& state) {
  for (const auto& [prefix, m] : modules)
    if (const auto list = load_pre_hooks(*m))
      for (const auto& entry : *list)
        detail::run("load_state_dict pre-hook", *m, [&] { entry.hook(*m, state, prefix); });
}

void run_load_post_hooks(const ModulesByPrefix& modules, IncompatibleKeys& keys) {
  for (auto at = modules.rbegin(); at != modules.rend(); ++at) {
    const detail::HookLists* const all = detail::hooks_of(*at->second);
    if (const auto list = all ? all->load_post.snapshot() : nullptr)
      for (const auto& entry : *list)
        detail::run("load_state_dict post-hook", *at->second,
                    [&] { entry.hook(*at->second, keys); });
  }
}

}  // namespace

IncompatibleKeys Module::load_state_dict(const OrderedDict<std::string, Tensor>& given, bool strict,
                                         bool assign) {
  ModulesByPrefix all;
  list_modules(*this, "", all);
  OrderedDict<std::string, Tensor> changed;
  const bool hooked = have_load_pre_hooks(all);
  if (hooked) {
    changed = given;
    run_load_pre_hooks(all, changed);
  }
  const OrderedDict<std::string, Tensor>& state = hooked ? changed : given;
  OrderedDict<std::string, Tensor> own;
  collect_own_state(own, "");
  Loading loading;
  for (const auto& [key, tensor] : own) loading.want(key, tensor, state.find(key));
  if (assign) check_assignable(*this, state, loading.misfits);
  for (const auto& [key, tensor] : state)
    if (!own.contains(key)) loading.keys.unexpected.push_back(key);
  run_load_post_hooks(all, loading.keys);
  loading.check(*this, strict);
  if (assign) {
    NoGradGuard no_grad;
    assign_state(*this, "", own, state);
  } else {
    loading.copy();
  }
  return std::move(loading.keys);
}

std::string IncompatibleKeys::str() const {
  std::string out;
  const auto add = [&out](const char* what, const std::vector<std::string>& names,
                          const char* other, const std::vector<std::string>& others) {
    for (const std::string& name : names) {
      out += (out.empty() ? "" : "\n") + std::string(what) + " " + name;
      const std::string near = nearest_name(name, others);
      if (!near.empty()) out += " (" + near + " " + other + ")";
    }
  };
  add("missing", missing, "was unexpected", unexpected);
  add("unexpected", unexpected, "is missing", missing);
  return out;
}

std::ostream& operator<<(std::ostream& out, const IncompatibleKeys& keys) {
  return out << keys.str();
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& [name, tensor] : parameters_)
    if (tensor.defined()) archive.write(name, tensor.detach());
  for (const auto& [name, tensor] : buffers_)
    if (tensor.defined() && !transient_buffers_.contains(name))
      archive.write(name, tensor.detach(), /*is_buffer=*/true);
  for (const auto& [name, child] : children_) {
    if (!child->is_serializable()) continue;
    serialize::OutputArchive nested;
    child->save(nested);
    archive.write(name, nested);
  }
}

namespace {

// Note [Loading a tree]
//
// A class may override load(), so modules load those below them one by one; yet nothing is to be
// copied before everything is known to fit. Therefore the outermost load() of a thread keeps what
// all of them found, with the path that they are at, and copies when the last has returned.
struct Tree {
  Loading loading;
  std::string path;
};
thread_local Tree* current_tree = nullptr;

/// Makes a tree of this load unless it is part of one.
class TreeScope {
 public:
  TreeScope() : outermost_(!current_tree) {
    if (outermost_) current_tree = &tree_;
  }
  ~TreeScope() {
    if (outermost_) current_tree = nullptr;
  }
  TreeScope(const TreeScope&) = delete;
  TreeScope& operator=(const TreeScope&) = delete;
  void finish(const Module& module) {
    if (!outermost_) return;
    current_tree = nullptr;  // what copying calls is no part of it
    tree_.loading.check(module, /*strict=*/true);
    tree_.loading.copy();
  }

 private:
  bool outermost_;
  Tree tree_;
};

/// Lengthens the path for a module below.
class BelowScope {
 public:
  BelowScope(Tree& tree, const std::string& name)
      : tree_(tree), before_(std::exchange(tree.path, tree.path + name + ".")) {}
  ~BelowScope() { tree_.path = std::move(before_); }
  BelowScope(const BelowScope&) = delete;
  BelowScope& operator=(const BelowScope&) = delete;

 private:
  Tree& tree_;
  std::string before_;
};

/// Loads the module, and notes what of its archive nobody asked for.
void load_noting_unread(Module& module, serialize::InputArchive& archive) {
  module.load(archive);
  Tree& tree = *current_tree;
  for (const std::string& key : archive.unread())
    tree.loading.keys.unexpected.push_back(tree.path + key);
}

}  // namespace

void Module::load(serialize::InputArchive& archive) {
  TreeScope scope;
  Tree& tree = *current_tree;
  const auto take = [&](const std::string& name, const Tensor& own) {
    Tensor given;
    const bool found = archive.try_read(name, given);
    tree.loading.want(tree.path + name, own.detach(), found ? &given : nullptr);
  };
  for (const auto& [name, tensor] : parameters_)
    if (tensor.defined()) take(name, tensor);
  for (const auto& [name, tensor] : buffers_)
    if (tensor.defined() && !transient_buffers_.contains(name)) take(name, tensor);
  for (const auto& [name, child] : children_) {
    if (!child->is_serializable()) continue;
    serialize::InputArchive nested;
    archive.try_read(name, nested);  // none: the module tells what it misses
    const BelowScope below(tree, name);
    load_noting_unread(*child, nested);
  }
  scope.finish(*this);
}

void pack_state(io::Archive& archive, const std::string& prefix, const Module& module) {
  serialize::OutputArchive keyed;
  module.save(keyed);
  for (const auto& item : keyed.content().tensors) archive.add(prefix + item.key(), item.value());
  for (const auto& [name, text] : keyed.content().metadata)
    archive.metadata.emplace(prefix + name, text);
}

void unpack_state(const io::Archive& archive, Module& module) {
  serialize::InputArchive keyed;
  keyed.content() = archive;
  TreeScope scope;
  load_noting_unread(module, keyed);
  scope.finish(module);
}

}  // namespace taeda::inline v0_2::nn
