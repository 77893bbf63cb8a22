// Names that libtorch has in torch::nn for what Taeda's modules are made of.
#pragma once

#include <taeda/nn/libtorch_style.h>
#include <taeda_compat/namespaces.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace taeda::nn {

namespace compat_detail {
/// For how many dimensions an ExpandingArray has sizes.
template <class Sizes>
constexpr size_t dims_of =
    std::tuple_size_v<std::remove_cvref_t<decltype(*std::declval<const Sizes&>())>>;
/// Modules of a program that includes this have libtorch's names and print as libtorch's do.
inline const bool style = (detail::use_libtorch_style(true), true);
}  // namespace compat_detail

/// Options by the type of their sizes.
template <class Sizes>
using AdaptiveAvgPoolOptions = AdaptivePoolOptions<compat_detail::dims_of<Sizes>>;
template <class Sizes>
using AdaptiveMaxPoolOptions = AdaptivePoolOptions<compat_detail::dims_of<Sizes>>;
template <size_t D>
using ReflectionPadOptions = PadOptions<D>;
template <size_t D>
using ReplicationPadOptions = PadOptions<D>;

/// What modules of one kind have in common.
template <size_t D, class Sizes, class Derived>
using AdaptiveAvgPoolImpl = AdaptivePoolImpl<D, Derived>;
template <size_t D, class Sizes, class Derived>
using AdaptiveMaxPoolImpl = AdaptivePoolImpl<D, Derived>;
template <size_t D, class Derived>
using ConstantPadImpl = detail::ConstantPadModule<D, Derived>;
template <size_t D, class Derived>
using ReflectionPadImpl = detail::PadModule<D, kReflect, Derived>;
template <size_t D, class Derived>
using ReplicationPadImpl = detail::PadModule<D, kReplicate, Derived>;
template <size_t D, class Derived>
using ConvTransposeNdImpl = ConvTransposeImpl<D, Derived>;
template <size_t D, class Derived>
using InstanceNormImpl = InstanceNormImplBase<Derived>;

}  // namespace taeda::nn
