// torch::nn: holders whose modules speak libtorch's dialect, and names that libtorch has for what
// Taeda's modules are made of.
#pragma once

#include <taeda/generated/compat/options.h>
#include <taeda_compat/namespaces.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace taeda_compat::nn {
using namespace taeda::nn;

namespace nn_detail {
/// For how many dimensions an ExpandingArray has sizes.
template <class Sizes>
constexpr size_t dims_of =
    std::tuple_size_v<std::remove_cvref_t<decltype(*std::declval<const Sizes&>())>>;
/// A member that is made after the rest of the object: gives its module libtorch's dialect.
struct Libtorch {
  explicit Libtorch(taeda::nn::Module* module) {
    if (module) module->set_dialect(Dialect::Libtorch);
  }
};
}  // namespace nn_detail

/// A holder of Taeda's under its name in torch::nn: what it makes or takes over is named, printed
/// and cloned as by libtorch. Converts from and to `Base`.
template <class Base>
class Holder : public Base {
 public:
  using Base::Base;
  Holder() = default;
  Holder(Base base) : Base(std::move(base)) {}

 private:
  [[no_unique_address]] nn_detail::Libtorch libtorch_{this->is_empty() ? nullptr : this->get()};
};

/// A base of modules with a `clone()`, whose clones are libtorch's.
template <class Derived>
class Cloneable : public taeda::nn::Cloneable<Derived> {
 public:
  using taeda::nn::Cloneable<Derived>::Cloneable;

 private:
  [[no_unique_address]] nn_detail::Libtorch libtorch_{this};
};

/// Options by the type of their sizes.
template <class Sizes>
using AdaptiveAvgPoolOptions = nn_options::AdaptivePoolOptions<nn_detail::dims_of<Sizes>>;
template <class Sizes>
using AdaptiveMaxPoolOptions = nn_options::AdaptivePoolOptions<nn_detail::dims_of<Sizes>>;
template <size_t D>
using ReflectionPadOptions = nn_options::PadOptions<D>;
template <size_t D>
using ReplicationPadOptions = nn_options::PadOptions<D>;

/// What modules of one kind have in common.
template <size_t D, class Sizes, class Derived>
using AdaptiveAvgPoolImpl = AdaptivePoolImpl<D, Derived>;
template <size_t D, class Sizes, class Derived>
using AdaptiveMaxPoolImpl = AdaptivePoolImpl<D, Derived>;
template <size_t D, class Derived>
using ConstantPadImpl = taeda::nn::detail::ConstantPadModule<D, Derived>;
template <size_t D, class Derived>
using ReflectionPadImpl = taeda::nn::detail::PadModule<D, kReflect, Derived>;
template <size_t D, class Derived>
using ReplicationPadImpl = taeda::nn::detail::PadModule<D, kReplicate, Derived>;
template <size_t D, class Derived>
using ConvTransposeNdImpl = ConvTransposeImpl<D, Derived>;
template <size_t D, class Derived>
using InstanceNormImpl = InstanceNormImplBase<Derived>;

}  // namespace taeda_compat::nn
