#include "taeda/nn/modules/pooling.h"

#include "taeda/nn/modules/fractional_pooling.h"
#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn {

template <size_t D, class Derived>
void MaxPoolImpl<D, Derived>::settings(Settings& out) const {
  const auto& o = this->options;
  out.of(typeid(Derived)).given("kernel_size", o.kernel_size).given("stride", o.stride);
  out.given("padding", o.padding).given("dilation", o.dilation)("ceil_mode", o.ceil_mode);
}
template class MaxPoolImpl<1, MaxPool1dImpl>;
template class MaxPoolImpl<2, MaxPool2dImpl>;
template class MaxPoolImpl<3, MaxPool3dImpl>;

template <size_t D, class Derived>
void AvgPoolImpl<D, Derived>::settings(Settings& out) const {
  const auto& o = this->options;
  out.of(typeid(Derived));
  if (D == 1)  // Python's one-dimensional average pool keeps its numbers as tuples
    out("kernel_size", o.kernel_size)("stride", o.stride)("padding", o.padding);
  else
    out.given("kernel_size", o.kernel_size).given("stride", o.stride).given("padding", o.padding);
}
template class AvgPoolImpl<1, AvgPool1dImpl>;
template class AvgPoolImpl<2, AvgPool2dImpl>;
template class AvgPoolImpl<3, AvgPool3dImpl>;

template <size_t D, class Derived>
void AdaptivePoolImpl<D, Derived>::settings(Settings& out) const {
  out.of(typeid(Derived))("output_size", this->options.output_size);
}
template class AdaptivePoolImpl<1, AdaptiveAvgPool1dImpl>;
template class AdaptivePoolImpl<2, AdaptiveAvgPool2dImpl>;
template class AdaptivePoolImpl<3, AdaptiveAvgPool3dImpl>;
template class AdaptivePoolImpl<1, AdaptiveMaxPool1dImpl>;
template class AdaptivePoolImpl<2, AdaptiveMaxPool2dImpl>;
template class AdaptivePoolImpl<3, AdaptiveMaxPool3dImpl>;

template <size_t D, class Derived>
void MaxUnpoolImpl<D, Derived>::settings(Settings& out) const {
  const auto& o = this->options;
  out.of(typeid(Derived))("kernel_size", o.kernel_size)("stride", o.stride)("padding", o.padding);
}
template class MaxUnpoolImpl<1, MaxUnpool1dImpl>;
template class MaxUnpoolImpl<2, MaxUnpool2dImpl>;
template class MaxUnpoolImpl<3, MaxUnpool3dImpl>;

template <size_t D, class Derived>
void LPPoolImpl<D, Derived>::settings(Settings& out) const {
  const auto& o = this->options;
  out.of(typeid(Derived))("norm_type", o.norm_type).given("kernel_size", o.kernel_size);
  out.given("stride", o.stride)("ceil_mode", o.ceil_mode);
}
template class LPPoolImpl<1, LPPool1dImpl>;
template class LPPoolImpl<2, LPPool2dImpl>;

template <size_t D, class Derived>
void FractionalMaxPoolImpl<D, Derived>::settings(Settings& out) const {
  out.of(typeid(Derived));
}
template class FractionalMaxPoolImpl<2, FractionalMaxPool2dImpl>;
template class FractionalMaxPoolImpl<3, FractionalMaxPool3dImpl>;

}  // namespace taeda::inline v0_2::nn
