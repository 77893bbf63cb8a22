// Tensors of which a function sees one sample while all of them are computed: what vmap is made of.
// Not part of the public interface: func/vmap.h is.
#pragma once

#include <bit>
#include <string>

#include "taeda/base/error.h"
#include "taeda/device/content.h"
#include "taeda/tensor/interceptors.h"
#include "taeda/tensor/randomness.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Note [Mapped tensors]
/// A map over samples calls its function once. In it a tensor of all samples looks like one: it has
/// a sample's sizes and strides, and a storage without memory, in whose place the plain tensor of
/// all samples is. Maps nest, so each has a level, counted from 1, and a mapped tensor a bit for
/// every level that it differs in; the dimensions of these levels come first in the plain tensor,
/// the outer ones before the inner ones.
///
/// The doors of operations let the map in (ops/map/call.h): it takes the innermost level from the
/// operands, which makes its samples their first dimension, and calls the operation by a rule. What
/// has no door is made of operations, or asks a mapped tensor for memory that it does not have.
///
/// Autograd knows plain tensors alone. A mapped tensor has no history of its own and requires a
/// gradient if its plain tensor does, which is its `base` without being one that it is a view of.
/// So gradients within a map are those of the sum over all samples: the same as each sample's, as
/// long as what they are taken by is mapped (`map_everywhere`).
///
/// Where there is no way for all samples at once, they are taken one by one, with a warning for the
/// first time: an operation without a rule, and the formula of a gradient that writes into a tensor
/// which is not mapped, asks for a value or calls a kernel itself. Such a formula is known by what
/// it throws, which is an UnmappedError; any other error is its own.
class UnmappedError : public Error {
  using Error::Error;
};

struct MappedParts final : OwnedContent {
  MappedParts(Tensor v, uint64_t l) : value(std::move(v)), levels(l) {}
  [[noreturn]] void refuse() const override;
  Tensor value;     ///< the plain one
  uint64_t levels;  ///< bit n for level n
};

inline bool is_mapped(const TensorBase& t) {
  const TensorImpl* impl = t.unsafe_impl();
  return impl && impl->base && impl->view_kind == ViewKind::None;
}
/// What a mapped tensor is made of.
const MappedParts& mapped_parts(const TensorBase& t);
/// The levels of a tensor: 0 for one that is not mapped.
uint64_t mapped_levels(const TensorBase& t);
/// The innermost of some levels, -1 for none.
inline int innermost_of(uint64_t levels) { return 63 - std::countl_zero(levels); }
/// The plain tensor behind a mapped one; any other itself.
const Tensor& plain_of(const Tensor& t);

/// A plain tensor whose first dimensions are those of `levels`; itself without levels.
Tensor make_mapped(const Tensor& plain, uint64_t levels);
/// A tensor whose first dimension is the samples of `level`, which is further in than its levels.
Tensor raised(const Tensor& t, int level);
/// The same tensor with the samples of its innermost level as first dimension.
Tensor lowered(const Tensor& t);
/// The same tensor, mapped in `levels`, too, with the same values for all samples.
Tensor expanded_to(const Tensor& t, uint64_t levels);
/// The same tensor with its `levels`, all of which it has, as first dimensions, and back.
Tensor levels_as_dims(const Tensor& t, uint64_t levels);
Tensor dims_as_levels(const Tensor& t, uint64_t levels);
/// `sizes` with the samples in front, and a tensor that is the same for all of these.
DimVector with_samples(int64_t samples, IntArrayRef sizes);
Tensor with_samples(int64_t samples, const Tensor& t);
/// A mapped tensor has its sizes and strides after a change in place of its plain one.
void follow_plain(const Tensor& t);

/// For who would decide something by the value of a sample. Throws UnmappedError.
[[noreturn]] void refuse_control_flow();
/// A warning that something goes sample by sample, the first time that it is said (each time where
/// the program asks for that).
void warn_once_of_samples(const std::string& text);

/// The maps that the calling thread is in.
class Maps {
 public:
  static constexpr int kMost = 60;
  static int depth();
  static int64_t samples(int level);
  static Randomness randomness(int level);

  /// One more map, for a scope. Throws Error beyond kMost.
  class Scope {
   public:
    Scope(int64_t samples, Randomness randomness);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    int level() const { return level_; }

   private:
    int level_, outer_;
    std::string draws_;
  };
  /// The maps outside of `level` alone, for a scope.
  class Outside {
   public:
    explicit Outside(int level);
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    int depth_;
  };
};

/// The tensor mapped in all maps that the thread is in; itself outside of them.
Tensor map_everywhere(const Tensor& t);

}  // namespace taeda::inline v0_2
