// A stage of a pipeline: modules on one device. Not part of the public interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/parallel/pipe/skip.h"

namespace taeda::inline v0_2::nn::detail {

/// The modules of a stage; prints as PyTorch's.
struct PipeSequentialImpl : SequentialImpl {};

/// What tensors between stages are packed in: a tensor, a vector of them, a tuple of two or three.
struct Form {
  enum Kind { One, List, Two, Three } kind = One;
  size_t size = 1;
};
/// Throws TypeError for another type of value. `where` is the beginning of the message.
Form form_of(const AnyValue& value, const std::string& where);
std::vector<Tensor> tensors_of(const AnyValue& value, const Form& form);
AnyValue packed(const Form& form, const Tensor* tensors);
/// A value of each form, of tensors one after the other; there may be more of them.
std::vector<AnyValue> packed(const std::vector<Form>& forms, const std::vector<Tensor>& tensors);
/// Stand-ins that modules may change in place, which a leaf may not be.
std::vector<Tensor> stand_ins(const std::vector<Tensor>& leaves);

/// Throws TypeError unless the last stage's output is a tensor.
void check_last(const Form& form);

class Stage {
 public:
  /// `where`: "device cuda:1", or whatever the stage is on. `parent`: whose children the modules
  /// are, if errors shall say so.
  Stage(size_t index, std::string where, Device device, std::vector<AnyModule> modules,
        std::shared_ptr<PipeSequentialImpl> parent = nullptr);

  /// Runs the modules on one micro-batch. `inputs` are the tensors of the first module's arguments
  /// (one of each form), then those to pop in the order of `pops`; the results those of the last
  /// module, whose form goes into `form`, then those stashed for other stages.
  /// What is thrown says which stage it came from, an Error the module, too.
  std::vector<Tensor> run(size_t micro_batch, const std::vector<Form>& forms,
                          const std::vector<Tensor>& inputs, Form& form) const;

  size_t index() const { return index_; }
  Device device() const { return device_; }
  const std::vector<AnyModule>& modules() const { return modules_; }
  const std::shared_ptr<PipeSequentialImpl>& parent() const { return parent_; }
  /// "stage 1 on device cuda:1 (micro-batch 3)"
  std::string place_of(size_t micro_batch) const;

  /// Names that cross from or to other stages.
  std::vector<std::string> stashes, pops;

 private:
  size_t index_;
  std::string where_;
  Device device_;
  std::vector<AnyModule> modules_;
  std::shared_ptr<PipeSequentialImpl> parent_;
  std::vector<std::vector<const Skippable*>> skippables_;  // of each module
};

}  // namespace taeda::nn::detail
