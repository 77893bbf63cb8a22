// Skip connections: tensors that a module of a Sequential hands to a later one by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "taeda/nn/containers/sequential.h"

namespace taeda::inline v0_2::nn {

/// A base, beside Cloneable, of modules that stash or pop tensors. The names are declared, so that
/// a Pipe knows the way of each tensor: from the stage that stashes it straight to the one that
/// pops it, and its gradient back.
///
///     struct DownImpl : nn::Cloneable<DownImpl>, nn::Skippable {
///       DownImpl() : Skippable({"skip"}) { reset(); }            // stashes "skip"
///       Tensor forward(const Tensor& x) { stash("skip", x); return conv(x); }
///     };
///     struct UpImpl : nn::Cloneable<UpImpl>, nn::Skippable {
///       UpImpl() : Skippable({}, {"skip"}) { reset(); }          // pops "skip"
///       Tensor forward(const Tensor& x) { return conv(x) + pop("skip"); }
///     };
///
/// Outside a Pipe a stashed tensor waits on the calling thread until it is popped.
class Skippable {
 public:
  explicit Skippable(std::vector<std::string> stashes, std::vector<std::string> pops = {})
      : stashes_(std::move(stashes)), pops_(std::move(pops)) {}
  virtual ~Skippable() = default;
  const std::vector<std::string>& stashable() const { return stashes_; }
  const std::vector<std::string>& poppable() const { return pops_; }

 protected:
  Skippable(const Skippable&) = default;
  Skippable& operator=(const Skippable&) = default;
  /// Throws Error for a name that was not declared.
  void stash(const std::string& name, const Tensor& tensor) const;
  /// Each stashed tensor can be popped once. Throws Error for a name that was not declared, or
  /// that nobody stashed.
  Tensor pop(const std::string& name) const;

 private:
  std::vector<std::string> stashes_, pops_;
};

/// Throws TypeError unless every name that the modules of `module` declare is stashed once and
/// popped once, by a later child. A Pipe checks this when it is made.
void verify_skippables(const SequentialImpl& module);

namespace detail {

/// The tensors that are stashed on this thread while it lives, instead of those outside.
class SkipScope {
 public:
  SkipScope();
  ~SkipScope();
  SkipScope(const SkipScope&) = delete;
  SkipScope& operator=(const SkipScope&) = delete;

  std::map<std::string, Tensor> tensors;

 private:
  SkipScope* previous_;
};

/// The skippable modules in a tree.
std::vector<const Skippable*> skippables_of(const std::shared_ptr<Module>& module);

}  // namespace detail

}  // namespace taeda::nn
