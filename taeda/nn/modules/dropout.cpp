#include "taeda/nn/modules/dropout.h"

#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn {

template <class Derived>
void DropoutImplBase<Derived>::settings(Settings& out) const {
  out.of(typeid(Derived))("p", options.p)("inplace", options.inplace);
}

template class DropoutImplBase<DropoutImpl>;
template class DropoutImplBase<Dropout2dImpl>;
template class DropoutImplBase<Dropout3dImpl>;
template class DropoutImplBase<AlphaDropoutImpl>;
template class DropoutImplBase<FeatureAlphaDropoutImpl>;

}  // namespace taeda::inline v0_2::nn
