// What a second run of a forward must find as the first did. Not part of the public interface.
#pragma once

#include <utility>
#include <vector>

#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::utils::checkpoint {

/// What a forward run looks at besides its arguments, and a second run must find unchanged: the
/// state of autocast and, with `random`, of the generators of the CPU and of all devices of the
/// types that `inputs` are on.
class ForwardState {
 public:
  /// The state as it is now. Casts of weights are not remembered under it: the cast of one run must
  /// not appear in the graph of another.
  explicit ForwardState(const std::vector<Tensor>& inputs, bool random = true);

  /// Puts the state of random numbers and of autocast back for a scope; at its end the state before
  /// it holds again, also where the scope throws.
  class Scope {
   public:
    explicit Scope(const ForwardState& state);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    AutocastMode::State autocast_;
    std::vector<std::pair<Device, std::vector<uint8_t>>> random_;
  };

 private:
  AutocastMode::State autocast_;
  std::vector<std::pair<Device, std::vector<uint8_t>>> random_;
};

/// Says that a scope of this thread is a second run of forward; scopes may be nested, and the
/// default is none.
class RecomputingGuard {
 public:
  RecomputingGuard();
  ~RecomputingGuard();
  RecomputingGuard(const RecomputingGuard&) = delete;
  RecomputingGuard& operator=(const RecomputingGuard&) = delete;

 private:
  bool previous_;
};

/// Whether graphs of this process have tensors that are computed again when they are asked for.
/// Who asks holding a lock that the functions need must give it up first.
bool in_use();

}  // namespace taeda::inline v0_2::utils::checkpoint
