#include "taeda/nn/modules/pooling.h"

namespace taeda::inline v0_2::nn {

std::string detail::pool_text(const std::string& kernel, const std::string& stride,
                              const std::string& padding) {
  return "kernel_size=" + kernel + ", stride=" + stride + ", padding=" + padding;
}

template <size_t D, class Derived>
std::string MaxPoolImpl<D, Derived>::extra_repr() const {
  const auto& o = this->options;
  return detail::pool_text(o.kernel_size().text(), o.stride().text(), o.padding().text()) +
         ", dilation=" + o.dilation().text() + ", ceil_mode=" + bool_text(o.ceil_mode());
}
template class MaxPoolImpl<1, MaxPool1dImpl>;
template class MaxPoolImpl<2, MaxPool2dImpl>;
template class MaxPoolImpl<3, MaxPool3dImpl>;

template <size_t D, class Derived>
std::string AvgPoolImpl<D, Derived>::extra_repr() const {
  const auto& o = this->options;
  // Python's one-dimensional average pool keeps its numbers as tuples.
  if (D == 1)
    return detail::pool_text(tuple_text(o.kernel_size()), tuple_text(o.stride()),
                             tuple_text(o.padding()));
  return detail::pool_text(o.kernel_size().text(), o.stride().text(), o.padding().text());
}
template class AvgPoolImpl<1, AvgPool1dImpl>;
template class AvgPoolImpl<2, AvgPool2dImpl>;
template class AvgPoolImpl<3, AvgPool3dImpl>;

template <size_t D, class Derived>
std::string MaxUnpoolImpl<D, Derived>::extra_repr() const {
  const auto& o = this->options;
  return detail::pool_text(tuple_text(o.kernel_size()), tuple_text(o.stride()),
                           tuple_text(o.padding()));
}
template class MaxUnpoolImpl<1, MaxUnpool1dImpl>;
template class MaxUnpoolImpl<2, MaxUnpool2dImpl>;
template class MaxUnpoolImpl<3, MaxUnpool3dImpl>;

template <size_t D, class Derived>
std::string LPPoolImpl<D, Derived>::extra_repr() const {
  const auto& o = this->options;
  return "norm_type=" + float_text(o.norm_type()) + ", kernel_size=" + o.kernel_size().text() +
         ", stride=" + o.stride().text() + ", ceil_mode=" + bool_text(o.ceil_mode());
}
template class LPPoolImpl<1, LPPool1dImpl>;
template class LPPoolImpl<2, LPPool2dImpl>;

}  // namespace taeda::nn
