// Convolution, pooling, norms, random numbers, losses, attention, pictures: options and inputs that
// cannot be.
#include <cmath>

#include "taeda/taeda.h"
#include "tests/ops/wrong_calls/inputs.h"

namespace taeda::wrong {
namespace {

TEST(WrongCallsOfOperations, OnLayers) {
  check({
      REFUSED(Error, conv1d(image(), kernel()),
              "Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [1, "
              "2, 6,"),
      REFUSED(
          Error, conv2d(numbers(), kernel()),
          "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [4]"),
      REFUSED(Error, conv2d(image(), rand({3, 5, 3, 3})),
              "Given groups=1, weight of size [3, 5, 3, 3], expected input[1, 2, 6, 6] to have 5"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 0), "non-positive stride is not supported"),
      REFUSED(Error, conv2d(image(), kernel(), {}, -1), "non-positive stride is not supported"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 1, -1), "negative padding is not supported"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 1, 0, 0),
              "dilation should be greater than zero"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 1, 0, 1, 0),
              "non-positive groups is not supported"),
      REFUSED(
          Error, conv2d(image(), kernel(), {}, 1, 0, 1, 2),
          "Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 1, 0, 1, -1),
              "non-positive groups is not supported"),
      REFUSED(
          Error, conv2d(image(), rand({3, 2, 9, 9})),
          "Calculated padded input size per channel: (6 x 6). Kernel size: (9 x 9). Kernel size"),
      REFUSED(Error, conv2d(image(), kernel(), rand({4})),
              "Given weight of size [3, 2, 3, 3], expected bias to be 1-dimensional with 3 "
              "elements, but"),
      REFUSED(Error, conv2d(image(), kernel(), rand({3}, kDouble)),
              "Input type (Float) and bias type (Double) should be the same"),
      REFUSED(Error, conv2d(image(), kernel().to(kDouble)),
              "Input type (Float) and weight type (Double) should be the same"),
      REFUSED(Error, conv2d(image().to(kLong), kernel()),
              "Input type (Long) and weight type (Float) should be the same"),
      REFUSED(
          Error, conv2d(image(), rand({3, 2, 0, 3})),
          "conv2d: kernel size should be greater than zero, but got weight of size [3, 2, 0, 3]"),
      REFUSED(Error, conv2d(image(), kernel(), {}, {1, 1, 1}),
              "expected stride to be a single integer value or a list of 2 values to match the"),
      REFUSED(
          Error, conv2d(rand({1, 2, 0, 6}), kernel()),
          "Calculated padded input size per channel: (0 x 6). Kernel size: (3 x 3). Kernel size"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 2, "same"),
              "padding='same' is not supported for strided convolutions"),
      REFUSED(Error, conv2d(image(), kernel(), {}, 1, "around"),
              "Invalid padding string: 'around'"),
      REFUSED(Error, conv3d(image(), kernel()),
              "Expected 5-dimensional weight for conv3d, but got weight of size [3, 2, 3, 3]"),
      REFUSED(Error, conv_transpose1d(image(), kernel()),
              "Expected 2D (unbatched) or 3D (batched) input to conv_transpose1d, but got input of "
              "size:"),
      REFUSED(
          Error, conv_transpose2d(image(), kernel()),
          "Given transposed=1, weight of size [3, 2, 3, 3], expected input[1, 2, 6, 6] to have 3"),
      REFUSED(Error, conv_transpose2d(image(), transposed_kernel(), {}, 1, 0, 1),
              "output padding must be smaller than either stride or dilation, but got "
              "output_padding: 1"),
      REFUSED(Error, conv_transpose2d(image(), transposed_kernel(), {}, 0),
              "non-positive stride is not supported"),
      REFUSED(
          Error, conv_transpose2d(image(), transposed_kernel(), {}, 1, 0, 0, 3),
          "Given groups=3, expected weight to be divisible by 3 at dimension 0, but got weight of"),
      REFUSED(Error, conv_transpose2d(image(), transposed_kernel(), {}, 1, 9),
              "Given input size per channel: (6 x 6). Calculated output size per channel: (-10 x "
              "-10)."),
      REFUSED(Error, max_pool2d(image(), 0), "kernel size should be greater than zero, but got 0"),
      REFUSED(Error, max_pool2d(image(), -2),
              "kernel size should be greater than zero, but got -2"),
      REFUSED(
          Error, max_pool2d(image(), 9),
          "Given input size: (2x6x6). Calculated output size: (2x0x0). Output size is too small"),
      REFUSED(Error, max_pool2d(image(), 2, 2, 2),
              "pad should be at most half of kernel size, but got pad=2 and kernel_size=2"),
      REFUSED(Error, max_pool2d(image(), 2, 0), "stride should not be zero"),
      REFUSED(Error, max_pool2d(image(), 2, 2, -1), "pad must be non-negative, but got pad: -1"),
      REFUSED(Error, max_pool2d(image(), 2, 2, 0, 0),
              "dilation should be greater than zero, but got 0"),
      REFUSED(
          Error, max_pool2d(numbers(), 2),
          "max_pool2d: Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for"),
      REFUSED(
          Error, max_pool1d(numbers(), 2),
          "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for"),
      REFUSED(
          Error, max_pool3d(image().select(0, 0).select(0, 0), 2),
          "max_pool3d: Expected 4D or 5D (batch mode) tensor with optional 0 dim batch size for"),
      REFUSED(Error, avg_pool2d(image(), 0), "kernel size should be greater than zero, but got 0"),
      REFUSED(
          Error, avg_pool2d(image(), 9),
          "Given input size: (2x6x6). Calculated output size: (2x0x0). Output size is too small"),
      REFUSED(Error, avg_pool2d(image(), 2, 2, 2),
              "pad should be at most half of kernel size, but got pad=2 and kernel_size=2"),
      REFUSED(Error, avg_pool2d(image(), 2, 0), "stride should not be zero"),
      REFUSED(
          Error, avg_pool2d(numbers(), 2),
          "avg_pool2d: Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for"),
      REFUSED(Error, adaptive_avg_pool1d(image(), 2),
              "adaptive_avg_pool1d(): Expected 2D or 3D tensor, but got [1, 2, 6, 6]"),
      REFUSED(Error, adaptive_avg_pool2d(numbers(), 2),
              "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got [4]"),
      REFUSED(Error, adaptive_avg_pool3d(square(), 2),
              "adaptive_avg_pool3d(): Expected 4D or 5D tensor, but got [4, 4]"),
      REFUSED(Error, batch_norm(image(), rand({3}), rand({3}), {}, {}, false, 0.1, 1e-5),
              "running_mean must be defined in evaluation mode"),
      REFUSED(Error, batch_norm(image(), {}, {}, {}, {}, false, 0.1, 1e-5),
              "running_mean must be defined in evaluation mode"),
      REFUSED(ValueError, batch_norm(rand({1, 2}), {}, {}, {}, {}, true, 0.1, 1e-5),
              "Expected more than 1 value per channel when training, got input size [1, 2]"),
      REFUSED(Error, layer_norm(square(), {3}),
              "Given normalized_shape=[3], expected input with shape [*, 3], but got input of "
              "size[4, 4]"),
      REFUSED(
          Error, layer_norm(square(), {}),
          "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one"),
      REFUSED(Error, layer_norm(square(), {4}, rand({3})),
              "Expected weight to be of same shape as normalized_shape, but got weight of shape "
              "[3] and"),
      REFUSED(
          Error, group_norm(image(), 3),
          "Expected number of channels in input to be divisible by num_groups, but got input of"),
      REFUSED(Error, group_norm(image(), 0), "Expected num groups to be greater than 0, got 0"),
      REFUSED(Error, group_norm(image(), -1), "Expected num groups to be greater than 0, got -1"),
      REFUSED(ValueError, instance_norm(rand({1, 2, 1})),
              "Expected more than 1 spatial element when training, got input size [1, 2, 1]"),
      REFUSED(Error, instance_norm(numbers()),
              "instance_norm expects an input with at least 2 dimensions, got 1"),
      REFUSED(ValueError, local_response_norm(numbers(), 2),
              "Expected 3D or higher dimensionality input (got 1 dimensions)"),
      REFUSED(Error, dropout(numbers(), -0.1),
              "dropout probability has to be between 0 and 1, but got -0.1"),
      REFUSED(Error, dropout(numbers(), 1.1),
              "dropout probability has to be between 0 and 1, but got 1.1"),
      REFUSED(Error, dropout(numbers(), kNaN),
              "dropout probability has to be between 0 and 1, but got nan"),
      REFUSED(Error, alpha_dropout(numbers(), 2, true),
              "dropout probability has to be between 0 and 1, but got 2"),
      REFUSED(Error, feature_dropout(numbers(), 2, true),
              "dropout probability has to be between 0 and 1, but got 2"),
      REFUSED(Error, bernoulli(numbers(), 2), "bernoulli_ expects p to be in [0, 1], but got p=2"),
      REFUSED(Error, bernoulli(numbers(), kNaN),
              "bernoulli_ expects p to be in [0, 1], but got p=nan"),
      REFUSED(Error, multinomial(numbers(), 0), "cannot sample n_sample <= 0 samples"),
      REFUSED(Error, multinomial(numbers(), 5),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement"),
      REFUSED(Error, multinomial(zeros({3}), 1),
              "invalid multinomial distribution (sum of probabilities <= 0)"),
      REFUSED(Error, multinomial(tensor({-1.0f, 2.0f}), 1),
              "probability tensor contains either `inf`, `nan` or element < 0"),
      REFUSED(Error, multinomial(tensor({kNaN, 2.0}), 1),
              "probability tensor contains either `inf`, `nan` or element < 0"),
      REFUSED(Error, multinomial(image(), 1), "prob_dist must be 1 or 2 dim"),
      REFUSED(Error, multinomial(numbers().to(kLong), 1),
              "multinomial only supports floating-point dtypes for input, got: Long"),
      REFUSED(Error, normal(0, -1, {2}), "normal expects std >= 0.0, but found std -1"),
      REFUSED(Error, normal(0, kNaN, {2}), "normal expects std >= 0.0, but found std nan"),
      REFUSED(Error, numbers().normal_(0, -1), "normal expects std >= 0.0, but found std -1"),
      REFUSED(Error, numbers().uniform_(2, 1),
              "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
      REFUSED(Error, numbers().uniform_(kNaN, 1),
              "uniform_ expects to return a [from, to) range, but found from=nan > to=1"),
      REFUSED(Error, numbers().uniform_(0, HUGE_VAL), "found from=0 and to=inf"),
      REFUSED(Error, numbers().exponential_(0),
              "exponential_ expects lambda > 0.0, but found lambda=0"),
      REFUSED(Error, numbers().exponential_(-1),
              "exponential_ expects lambda > 0.0, but found lambda=-1"),
      REFUSED(Error, numbers().exponential_(kNaN),
              "exponential_ expects lambda > 0.0, but found lambda=nan"),
      REFUSED(Error, numbers().geometric_(0), "geometric_ expects p to be in (0, 1), but got p=0"),
      REFUSED(Error, numbers().geometric_(1.5),
              "geometric_ expects p to be in (0, 1), but got p=1.5"),
      REFUSED(Error, numbers().cauchy_(0, -1), "cauchy_ expects sigma > 0.0, but found sigma=-1"),
      REFUSED(Error, numbers().log_normal_(0, -1),
              "log_normal_ expects std > 0.0, but found std=-1"),
      REFUSED(Error, numbers().random_(5, 5),
              "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
      REFUSED(Error, numbers().random_(7, 3),
              "random_ expects 'from' to be less than 'to', but got from=7 >= to=3"),
      REFUSED(NotImplementedError, numbers().to(kLong).normal_(),
              "\"normal_\" not implemented for 'Long'"),
      REFUSED(NotImplementedError, numbers().to(kLong).uniform_(),
              "\"uniform_\" not implemented for 'Long'"),
      REFUSED(Error, mse_loss(numbers(), rand({3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 0"),
      REFUSED(Error, l1_loss(numbers(), rand({3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 0"),
      REFUSED(Error, smooth_l1_loss(numbers(), numbers(), Reduction::Mean, -1),
              "smooth_l1_loss does not support negative values for beta."),
      REFUSED(Error, huber_loss(numbers(), numbers(), Reduction::Mean, 0),
              "huber_loss does not support non-positive values for delta."),
      REFUSED(Error, huber_loss(numbers(), numbers(), Reduction::Mean, -1),
              "huber_loss does not support non-positive values for delta."),
      REFUSED(IndexError, nll_loss(square(), tensor({0, 1, 2, 4}, kLong)),
              "Target 4 is out of bounds."),
      REFUSED(IndexError, nll_loss(square(), tensor({0, 1, 2, -1}, kLong)),
              "Target -1 is out of bounds."),
      REFUSED(ValueError, nll_loss(square(), tensor({0, 1}, kLong)),
              "Expected input batch_size (4) to match target batch_size (2)."),
      REFUSED(Error, nll_loss(square(), rand({4})), "expected scalar type Long but found Float"),
      REFUSED(
          Error, nll_loss(square(), tensor({0, 1, 2, 3}, kLong), rand({3})),
          "weight tensor should be defined either for all 4 classes or no classes but got weight"),
      REFUSED(ValueError, nll_loss(tensor(1.0f), tensor(0, kLong)),
              "Expected 1 or more dimensions (got 0)"),
      REFUSED(IndexError, cross_entropy(square(), tensor({0, 1, 2, 7}, kLong)),
              "Target 7 is out of bounds."),
      REFUSED(ValueError, cross_entropy(square(), tensor({0, 1, 2}, kLong)),
              "Expected input batch_size (4) to match target batch_size (3)."),
      REFUSED(Error, cross_entropy(square(), tensor({0, 1, 2, 3}, kInt)),
              "expected scalar type Long but found Int"),
      REFUSED(Error, binary_cross_entropy(numbers() * 2, rand({4})),
              "all elements of input should be between 0 and 1"),
      REFUSED(ValueError, binary_cross_entropy(rand({4}), rand({3})),
              "Using a target size ([3]) that is different to the input size ([4]) is deprecated. "
              "Please"),
      REFUSED(ValueError, binary_cross_entropy_with_logits(rand({4}), rand({3})),
              "Target size ([3]) must be the same as input size ([4])"),
      REFUSED(Error, kl_div(numbers(), rand({3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 0"),
      REFUSED(Error, poisson_nll_loss(numbers(), rand({3})),
              "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
              "dimension 0"),
      REFUSED(ValueError, gaussian_nll_loss(numbers(), numbers(), -ones({4})),
              "var has negative entry/entries"),
      REFUSED(ValueError, gaussian_nll_loss(numbers(), numbers(), rand({3})),
              "var is of incorrect size"),
      REFUSED(Error, cosine_embedding_loss(square(), square(), rand({3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 0"),
      REFUSED(Error, margin_ranking_loss(numbers(), rand({3}), numbers()),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 0"),
      REFUSED(Error, hinge_embedding_loss(numbers(), rand({3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 0"),
      REFUSED(Error, triplet_margin_loss(square(), rand({4, 3}), square()),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 1"),
      REFUSED(
          Error, scaled_dot_product_attention(numbers(), numbers(), numbers()),
          "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: 1"),
      REFUSED(Error, scaled_dot_product_attention(square(), rand({4, 3}), square()),
              "mat1 and mat2 shapes cannot be multiplied (4x4 and 3x4)"),
      REFUSED(Error, scaled_dot_product_attention(square(), square(), square(), {}, 2),
              "dropout probability has to be between 0 and 1, but got 2"),
      REFUSED(Error, scaled_dot_product_attention(square(), square(), square(), rand({3, 3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 1"),
      REFUSED(
          Error,
          scaled_dot_product_attention(square(), square(), square(), ones({4, 4}, kBool), 0, true),
          "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
          "is_causal=True"),
      REFUSED(Error, F::pad(numbers(), F::PadFuncOptions({1})),
              "Padding length must be divisible by 2"),
      REFUSED(Error, F::pad(numbers(), F::PadFuncOptions({1, 2, 3, 4})),
              "Padding length too large"),
      REFUSED(
          Error, F::pad(numbers(), F::PadFuncOptions({-3, -3})),
          "The input size 4, plus negative padding -3 and -3, resulted in a negative output size,"),
      REFUSED(Error, F::pad(image(), F::PadFuncOptions({9, 9}).mode(kReflect)),
              "Padding size should be less than the corresponding input dimension, but got: "
              "padding (9,"),
      REFUSED(Error, F::pad(image(), F::PadFuncOptions({9, 9}).mode(kCircular)),
              "Padding value causes wrapping around more than once."),
      REFUSED(Error, F::interpolate(image(), to_size({0, 3})),
              "Input and output sizes should be greater than 0, but got input [1, 2, 6, 6] output "
              "[0, 3]"),
      REFUSED(Error, F::interpolate(image(), to_size({-1, 3})),
              "Input and output sizes should be greater than 0, but got input [1, 2, 6, 6] output "
              "[-1, 3]"),
      REFUSED(
          ValueError, F::interpolate(image(), to_size({3})),
          "Input and output must have the same number of spatial dimensions, but got input with"),
      REFUSED(Error, F::interpolate(image(), by_factor(-1)),
              "Input and output sizes should be greater than 0, but got input [1, 2, 6, 6] output "
              "[-6, 6]"),
      REFUSED(Error, F::interpolate(image(), by_factor(0)),
              "Input and output sizes should be greater than 0, but got input [1, 2, 6, 6] output "
              "[0, 6]"),
      REFUSED(ValueError, F::interpolate(image(), F::InterpolateFuncOptions()),
              "either size or scale_factor should be defined"),
      REFUSED(NotImplementedError, F::interpolate(numbers(), to_size({3})),
              "Input Error: Only 3D, 4D and 5D input Tensors supported (got 1D) for the modes: "
              "nearest |"),
      REFUSED(
          Error, F::pixel_shuffle(image(), F::PixelShuffleFuncOptions(3)),
          "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of"),
      REFUSED(Error, F::pixel_shuffle(image(), F::PixelShuffleFuncOptions(0)),
              "pixel_shuffle expects a positive upscale_factor, but got 0"),
      REFUSED(Error, F::pixel_unshuffle(image(), F::PixelUnshuffleFuncOptions(4)),
              "pixel_unshuffle expects height to be divisible by downscale_factor, but "
              "input.size(-2)=6"),
      REFUSED(Error, F::pixel_unshuffle(image(), F::PixelUnshuffleFuncOptions(-1)),
              "pixel_unshuffle expects a positive downscale_factor, but got -1"),
      REFUSED(Error, F::grid_sample(image(), rand({1, 2, 2, 3})),
              "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with "
              "sizes"),
      REFUSED(Error, F::grid_sample(image(), rand({2, 2, 2, 2})),
              "grid_sampler(): expected grid and input to have same batch size, but got input with "
              "sizes"),
      REFUSED(ValueError, F::affine_grid(square(), {1, 1, 2, 2}),
              "Expected a batch of 2D affine matrices of shape Nx2x3 for size (1, 1, 2, 2). Got "
              "[4, 4]."),
      REFUSED(ValueError, F::affine_grid(rand({1, 2, 3}), {1, 1, -2, 2}),
              "Expected non-zero, positive output size. Got (1, 1, -2, 2)"),
      REFUSED(Error, F::fold(image(), F::FoldFuncOptions({4, 4}, {2, 2})),
              "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
              "non-zero"),
      REFUSED(
          Error, F::unfold(numbers(), F::UnfoldFuncOptions({2, 2})),
          "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero"),
      REFUSED(
          Error, F::unfold(image(), F::UnfoldFuncOptions({9, 9})),
          "Given input with spatial size (6, 6), kernel_size=(9, 9), dilation=(1, 1), padding=(0,"),
      REFUSED(Error, F::unfold(image(), F::UnfoldFuncOptions({2, 2}).stride({0, 1})),
              "stride should be greater than zero, but got stride_height: 0 stride_width: 1"),
      REFUSED(IndexError, F::gumbel_softmax(numbers(), F::GumbelSoftmaxFuncOptions().dim(4)),
              "Dimension out of range (expected to be in range of [-1, 0], but got 4)"),
      REFUSED(Error, F::glu(rand({3}), F::GLUFuncOptions(0)),
              "Halving dimension must be even, but dimension 0 is size 3"),
      REFUSED(
          Error, F::prelu(image(), rand({3})),
          "Mismatch of parameter numbers and input channel size. Found parameter numbers = 3 and"),
      REFUSED(ValueError, F::hardtanh(numbers(), F::HardtanhFuncOptions().min_val(1).max_val(0)),
              "hardtanh: min_val cannot be greater than max_val, got 1 and 0"),
      REFUSED(IndexError, F::normalize(square(), F::NormalizeFuncOptions().dim(4)),
              "Dimension out of range (expected to be in range of [-2, 1], but got 4)"),
      REFUSED(Error, F::cosine_similarity(square(), rand({3, 3}), F::CosineSimilarityFuncOptions()),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 1"),
      REFUSED(Error, F::pairwise_distance(square(), rand({3, 3})),
              "The size of tensor a (4) must match the size of tensor b (3) at non-singleton "
              "dimension 1"),
      REFUSED(ValueError, F::embedding_bag(tensor({9}, kLong), square()),
              "offsets has to be a 1D Tensor but got null"),
      REFUSED(Error, F::bilinear(square(), square(), rand({2, 3, 3})),
              "bilinear(): input1 size does not match weight size: got 4 but expected 3"),
      REFUSED(Error, F::linear(square(), rand({2, 3})),
              "mat1 and mat2 shapes cannot be multiplied (4x4 and 3x2)"),
      REFUSED(Error, F::rrelu(numbers(), F::RReLUFuncOptions().lower(1).upper(0)),
              "Lower bound should be less than or equal to the upper bound"),
      REFUSED(Error, F::threshold(Tensor(), F::ThresholdFuncOptions(0, 1)),
              "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient "
              "that"),
  });
}

}  // namespace
}  // namespace taeda::wrong
