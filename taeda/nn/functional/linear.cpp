#include "taeda/nn/functional/linear.h"

#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/tensor/autocast_mode.h"

namespace taeda::inline v0_2::nn::functional {

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  TAEDA_CHECK(input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ",
              input1.dim(), " and ", input2.dim());
  for (int64_t d = 0; d + 1 < input1.dim(); ++d)
    TAEDA_CHECK(input1.size(d) == input2.size(d),
                "bilinear(): input batch dimensions do not match at dim ", d, ": got ",
                input1.size(d), " and ", input2.size(d));
  TAEDA_CHECK(weight.dim() == 3 && input1.size(-1) == weight.size(1),
              "bilinear(): input1 size does not match weight size: got ", input1.size(-1),
              " but expected ", weight.size(1));
  TAEDA_CHECK(input2.size(-1) == weight.size(2),
              "bilinear(): input2 size does not match weight size: got ", input2.size(-1),
              " but expected ", weight.size(2));
  const AutocastMode::Pause own_dtypes;  // no list of autocast has it
  const int64_t in1 = weight.size(1), in2 = weight.size(2), out = weight.size(0);
  DimVector sizes = input1.sizes();
  sizes.back() = out;
  const Tensor x1 = input1.reshape({-1, in1}), x2 = input2.reshape({-1, in2});
  // [n, out * in2] = x1 times the weight with in1 in front, then a sum over in2 against x2.
  const Tensor left =
      x1.matmul(weight.permute({1, 0, 2}).reshape({in1, out * in2})).view({-1, out, in2});
  Tensor y = left.matmul(x2.unsqueeze(-1)).reshape(sizes);
  return bias.defined() ? y.add(bias) : y;
}

}  // namespace taeda::nn::functional
