// Automatic mixed precision for a scope, as torch.autocast.
#pragma once

#include <optional>

#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::amp {

/// Runs the operations of this thread on one device type in the precision that suits each: matrix
/// products and convolutions in the lower one, what needs range or accuracy in float32, the rest in
/// the dtype of its inputs (the policies of PyTorch's "Automatic Mixed Precision" page; each stands
/// in the operation it belongs to). Put the forward pass and the loss into its scope; the backward
/// pass follows forward's dtypes, in the scope or out of it.
///
///     {
///       amp::autocast autocast("cuda");
///       loss = loss_fn(model(x), y);
///     }
///
/// `dtype` is float16 or bfloat16; by default that of the guard around, or else bfloat16 on the CPU
/// and float16 elsewhere. Guards nest; one with `enabled` = false makes a region in the dtypes of
/// its inputs. Casts of float32 leaves that require a gradient are made once and kept until the
/// outermost guard ends (`cache_enabled`); a leaf that changed in between is cast again.
/// A CPU without instructions for bfloat16 products (AVX-512 BF16, AMX) gains no time by it: what
/// is multiplied is converted to float32 first.
/// Throws ValueError for another dtype.
class autocast {
 public:
  explicit autocast(Device device, OptionalDtype dtype = {}, bool enabled = true,
                    std::optional<bool> cache_enabled = {});
  ~autocast();
  autocast(const autocast&) = delete;
  autocast& operator=(const autocast&) = delete;

 private:
  AutocastMode::State previous_;
};

/// Takes another thread's autocast state over for a scope: what a program does first in a thread
/// it starts itself. `amp::get_autocast_state()` gives the state to hand over.
class AutocastStateGuard {
 public:
  explicit AutocastStateGuard(const AutocastMode::State& state);
  ~AutocastStateGuard();
  AutocastStateGuard(const AutocastStateGuard&) = delete;
  AutocastStateGuard& operator=(const AutocastStateGuard&) = delete;

 private:
  AutocastMode::State previous_;
};

/// What autocast is at on this thread, for those who restore it.
inline AutocastMode::State get_autocast_state() { return AutocastMode::state(); }

/// Whether operations on this device type are autocast on this thread.
bool is_autocast_enabled(Device device = kCUDA);
/// The lower precision of this device type on this thread.
ScalarType get_autocast_dtype(Device device = kCUDA);
bool is_autocast_cache_enabled();
/// Forgets the casts of this thread.
void clear_autocast_cache();

}  // namespace taeda::amp
