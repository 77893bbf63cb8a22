// What modules print and are called, as libtorch 1.13 prints and calls them.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>
#include <string>

namespace own {

using namespace torch::nn;

struct NetImpl : Module {
  NetImpl() {
    register_module("a", Linear(2, 3));
    register_module("s", Sequential(Linear(1, 1), ReLU()));
    register_parameter("w", torch::ones(3));
  }
};
TORCH_MODULE(Net);
struct BareImpl : Module {};
TORCH_MODULE(Bare);
template <class T>
struct OfType : Cloneable<OfType<T>> {
  void reset() override {}
};
struct OwnLine : Module {
  OwnLine() : Module("Line") { register_module("x", Tanh()); }
  void pretty_print(std::ostream& out) const override { out << name() << "=7"; }
};

}  // namespace own

namespace {

using namespace torch::nn;

template <class M>
std::string text(const M& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

#define EXPECT_PRINTS(module, line) EXPECT_EQ(text(module), "torch::nn::" line)

TEST(Printing, LinearNormalisingAndRecurrent) {
  EXPECT_PRINTS((Linear(3, 4)), "Linear(in_features=3, out_features=4, bias=true)");
  EXPECT_PRINTS((Linear(LinearOptions(3, 4).bias(false))),
                "Linear(in_features=3, out_features=4, bias=false)");
  EXPECT_PRINTS((Identity()), "Identity()");
  EXPECT_PRINTS((Bilinear(BilinearOptions(2, 3, 4).bias(false))),
                "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=false)");
  EXPECT_PRINTS((Flatten()), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_PRINTS((Flatten(FlattenOptions().start_dim(2).end_dim(3))),
                "Flatten(start_dim=2, end_dim=3)");
  EXPECT_PRINTS((Unflatten(UnflattenOptions(1, {2, 3}))),
                "Unflatten(dim=1, unflattened_size={2, 3})");
  EXPECT_PRINTS((BatchNorm1d(3)),
                "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  EXPECT_PRINTS(
      (BatchNorm2d(BatchNorm2dOptions(3)
                       .eps(1e-3)
                       .momentum(torch::nullopt)
                       .affine(false)
                       .track_running_stats(false))),
      "BatchNorm2d(3, eps=0.001, momentum=None, affine=false, track_running_stats=false)");
  EXPECT_PRINTS((BatchNorm3d(3)),
                "BatchNorm3d(3, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  EXPECT_PRINTS(
      (InstanceNorm1d(3)),
      "InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)");
  EXPECT_PRINTS(
      (InstanceNorm2d(InstanceNorm2dOptions(3).affine(true))),
      "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=true, track_running_stats=false)");
  EXPECT_PRINTS(
      (InstanceNorm3d(3)),
      "InstanceNorm3d(3, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)");
  EXPECT_PRINTS((LayerNorm(LayerNormOptions({2, 3}))),
                "LayerNorm([2, 3], eps=1e-05, elementwise_affine=true)");
  EXPECT_PRINTS((GroupNorm(2, 4)), "GroupNorm(2, 4, eps=1e-05, affine=true)");
  EXPECT_PRINTS((LocalResponseNorm(2)), "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1)");
  EXPECT_PRINTS((CrossMapLRN2d(3)), "CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)");
  EXPECT_PRINTS((Dropout()), "Dropout(p=0.5, inplace=false)");
  EXPECT_PRINTS((Dropout(DropoutOptions(0.3).inplace(true))), "Dropout(p=0.3, inplace=true)");
  EXPECT_PRINTS((Dropout2d(0.25)), "Dropout2d(p=0.25, inplace=false)");
  EXPECT_PRINTS((Dropout3d()), "Dropout3d(p=0.5, inplace=false)");
  EXPECT_PRINTS((AlphaDropout()), "AlphaDropout(p=0.5, inplace=false)");
  EXPECT_PRINTS((FeatureAlphaDropout()), "FeatureAlphaDropout(p=0.5, inplace=false)");
  EXPECT_PRINTS((Embedding(4, 5)), "Embedding(num_embeddings=4, embedding_dim=5)");
  EXPECT_PRINTS(
      (Embedding(
          EmbeddingOptions(4, 5).padding_idx(1).max_norm(2).norm_type(3).scale_grad_by_freq(true))),
      "Embedding(num_embeddings=4, embedding_dim=5, padding_idx=1, max_norm=2, norm_type=3, "
      "scale_grad_by_freq=true)");
  EXPECT_PRINTS((Embedding(EmbeddingOptions(4, 5).sparse(true))),
                "Embedding(num_embeddings=4, embedding_dim=5, sparse=true)");
  EXPECT_PRINTS((EmbeddingBag(4, 5)), "EmbeddingBag(num_embeddings=4, embedding_dim=5)");
  EXPECT_PRINTS((EmbeddingBag(EmbeddingBagOptions(4, 5)
                                  .mode(torch::kSum)
                                  .max_norm(1.5)
                                  .norm_type(3)
                                  .scale_grad_by_freq(true)
                                  .include_last_offset(true))),
                "EmbeddingBag(num_embeddings=4, embedding_dim=5, max_norm=1.5, norm_type=3, "
                "scale_grad_by_freq=true, mode=kSum, include_last_offset=true)");
  EXPECT_PRINTS((RNN(2, 3)),
                "RNN(input_size=2, hidden_size=3, num_layers=1, bias=true, batch_first=false, "
                "dropout=0, bidirectional=false)");
  EXPECT_PRINTS((RNN(RNNOptions(2, 3).nonlinearity(torch::kReLU).num_layers(2))),
                "RNN(input_size=2, hidden_size=3, num_layers=2, bias=true, batch_first=false, "
                "dropout=0, bidirectional=false)");
  EXPECT_PRINTS((LSTM(LSTMOptions(2, 3)
                          .num_layers(2)
                          .bidirectional(true)
                          .dropout(0.5)
                          .batch_first(true)
                          .bias(false)
                          .proj_size(2))),
                "LSTM(input_size=2, hidden_size=3, num_layers=2, bias=false, batch_first=true, "
                "dropout=0.5, bidirectional=true, proj_size=2)");
  EXPECT_PRINTS((GRU(2, 3)),
                "GRU(input_size=2, hidden_size=3, num_layers=1, bias=true, batch_first=false, "
                "dropout=0, bidirectional=false)");
  EXPECT_PRINTS((RNNCell(2, 3)), "RNNCell(2, 3)");
  EXPECT_PRINTS((LSTMCell(LSTMCellOptions(2, 3).bias(false))), "LSTMCell(2, 3, bias=false)");
  EXPECT_PRINTS((GRUCell(2, 3)), "GRUCell(2, 3)");
  EXPECT_PRINTS((RNNCell(RNNCellOptions(2, 3).nonlinearity(torch::kReLU))),
                "RNNCell(2, 3, nonlinearity=kReLU)");
  EXPECT_PRINTS((EmbeddingBag(EmbeddingBagOptions(4, 5).mode(torch::kMax).padding_idx(2))),
                "EmbeddingBag(num_embeddings=4, embedding_dim=5, mode=kMax, padding_idx=2)");
  EXPECT_PRINTS((EmbeddingBag(EmbeddingBagOptions(4, 5).mode(torch::kMean))),
                "EmbeddingBag(num_embeddings=4, embedding_dim=5)");
  EXPECT_PRINTS((LayerNorm(LayerNormOptions({3}).elementwise_affine(false).eps(0.1))),
                "LayerNorm([3], eps=0.1, elementwise_affine=false)");
  EXPECT_PRINTS((GroupNorm(GroupNormOptions(2, 4).affine(false))),
                "GroupNorm(2, 4, eps=1e-05, affine=false)");
  EXPECT_PRINTS((RNN(RNNOptions(2, 3).dropout(0.25))),
                "RNN(input_size=2, hidden_size=3, num_layers=1, bias=true, batch_first=false, "
                "dropout=0.25, bidirectional=false)");
  EXPECT_PRINTS((RNNCell(RNNCellOptions(2, 3).bias(false))), "RNNCell(2, 3, bias=false)");
}

TEST(Printing, ConvolutionsPoolsAndPads) {
  EXPECT_PRINTS((Conv1d(1, 2, 3)), "Conv1d(1, 2, kernel_size=3, stride=1)");
  EXPECT_PRINTS((Conv2d(Conv2dOptions(4, 6, {3, 5})
                            .stride(2)
                            .padding({1, 2})
                            .dilation(2)
                            .groups(2)
                            .bias(false)
                            .padding_mode(torch::kReflect))),
                "Conv2d(4, 6, kernel_size=[3, 5], stride=[2, 2], padding=[1, 2], dilation=[2, 2], "
                "groups=2, bias=false, padding_mode=kReflect)");
  EXPECT_PRINTS((Conv3d(1, 2, 3)), "Conv3d(1, 2, kernel_size=[3, 3, 3], stride=[1, 1, 1])");
  EXPECT_PRINTS((Conv2d(Conv2dOptions(1, 2, 3).padding(torch::kSame))),
                "Conv2d(1, 2, kernel_size=[3, 3], stride=[1, 1], padding='same')");
  EXPECT_PRINTS(
      (Conv2d(Conv2dOptions(1, 2, 3).padding(torch::kValid).padding_mode(torch::kCircular))),
      "Conv2d(1, 2, kernel_size=[3, 3], stride=[1, 1], padding='valid', padding_mode=kCircular)");
  EXPECT_PRINTS((ConvTranspose1d(1, 2, 3)), "ConvTranspose1d(1, 2, kernel_size=3, stride=1)");
  EXPECT_PRINTS((ConvTranspose2d(ConvTranspose2dOptions(2, 4, 3)
                                     .stride(2)
                                     .padding(1)
                                     .output_padding(1)
                                     .groups(2)
                                     .bias(false)
                                     .dilation(2))),
                "ConvTranspose2d(2, 4, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], "
                "dilation=[2, 2], output_padding=[1, 1], groups=2, bias=false)");
  EXPECT_PRINTS((ConvTranspose3d(1, 2, 3)),
                "ConvTranspose3d(1, 2, kernel_size=[3, 3, 3], stride=[1, 1, 1])");
  EXPECT_PRINTS((MaxPool1d(2)),
                "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=false)");
  EXPECT_PRINTS(
      (MaxPool2d(MaxPool2dOptions({2, 3}).stride(1).padding(1).dilation(2).ceil_mode(true))),
      "MaxPool2d(kernel_size=[2, 3], stride=[1, 1], padding=[1, 1], dilation=[2, 2], "
      "ceil_mode=true)");
  EXPECT_PRINTS((MaxPool3d(2)),
                "MaxPool3d(kernel_size=[2, 2, 2], stride=[2, 2, 2], padding=[0, 0, 0], "
                "dilation=[1, 1, 1], ceil_mode=false)");
  EXPECT_PRINTS((AvgPool1d(2)), "AvgPool1d(kernel_size=2, stride=2, padding=0)");
  EXPECT_PRINTS(
      (AvgPool2d(AvgPool2dOptions(2).ceil_mode(true).count_include_pad(false).divisor_override(3))),
      "AvgPool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0])");
  EXPECT_PRINTS((AvgPool3d(2)),
                "AvgPool3d(kernel_size=[2, 2, 2], stride=[2, 2, 2], padding=[0, 0, 0])");
  EXPECT_PRINTS((AdaptiveAvgPool1d(2)), "AdaptiveAvgPool1d(output_size=2)");
  EXPECT_PRINTS((AdaptiveAvgPool2d(2)), "AdaptiveAvgPool2d(output_size=[2, 2])");
  EXPECT_PRINTS((AdaptiveAvgPool3d(AdaptiveAvgPool3dOptions({1, 2, 3}))),
                "AdaptiveAvgPool3d(output_size=[1, 2, 3])");
  EXPECT_PRINTS((AdaptiveMaxPool1d(2)), "AdaptiveMaxPool1d(output_size=2)");
  EXPECT_PRINTS((AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({torch::nullopt, 3}))),
                "AdaptiveMaxPool2d(output_size=[None, 3])");
  EXPECT_PRINTS((AdaptiveMaxPool3d(2)), "AdaptiveMaxPool3d(output_size=[2, 2, 2])");
  EXPECT_PRINTS((FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_size(3))),
                "FractionalMaxPool2d()");
  EXPECT_PRINTS((FractionalMaxPool3d(FractionalMaxPool3dOptions(2).output_ratio(
                    torch::ExpandingArray<3, double>(0.5)))),
                "FractionalMaxPool3d()");
  EXPECT_PRINTS((LPPool1d(LPPool1dOptions(2, 3))),
                "LPPool1d(norm_type=2, kernel_size=3, stride=3, ceil_mode=false)");
  EXPECT_PRINTS((LPPool2d(LPPool2dOptions(1.5, {2, 3}).stride(1).ceil_mode(true))),
                "LPPool2d(norm_type=1.5, kernel_size=[2, 3], stride=[1, 1], ceil_mode=true)");
  EXPECT_PRINTS((ReflectionPad1d(2)), "ReflectionPad1d(padding=[2, 2])");
  EXPECT_PRINTS((ReflectionPad2d(2)), "ReflectionPad2d(padding=[2, 2, 2, 2])");
  EXPECT_PRINTS((ReplicationPad1d(2)), "ReplicationPad1d(padding=[2, 2])");
  EXPECT_PRINTS((ReplicationPad2d(ReplicationPad2dOptions({1, 2, 3, 4}))),
                "ReplicationPad2d(padding=[1, 2, 3, 4])");
  EXPECT_PRINTS((ReplicationPad3d(2)), "ReplicationPad3d(padding=[2, 2, 2, 2, 2, 2])");
  EXPECT_PRINTS((ZeroPad2d(2)), "ZeroPad2d(padding=[2, 2, 2, 2])");
  EXPECT_PRINTS((ConstantPad1d(2, 3.5)), "ConstantPad1d(padding=[2, 2], value=3.5)");
  EXPECT_PRINTS((ConstantPad2d(2, 3)), "ConstantPad2d(padding=[2, 2, 2, 2], value=3)");
  EXPECT_PRINTS((ConstantPad3d(2, 3)), "ConstantPad3d(padding=[2, 2, 2, 2, 2, 2], value=3)");
  EXPECT_PRINTS(
      (Conv1d(Conv1dOptions(2, 4, 3).padding(2).padding_mode(torch::kReplicate).dilation(2))),
      "Conv1d(2, 4, kernel_size=3, stride=1, padding=2, dilation=2, padding_mode=kReplicate)");
  EXPECT_PRINTS(
      (ConvTranspose1d(ConvTranspose1dOptions(1, 2, 3).stride(2).output_padding(1).padding(1))),
      "ConvTranspose1d(1, 2, kernel_size=3, stride=2, padding=1, output_padding=1)");
  EXPECT_PRINTS((LPPool2d(LPPool2dOptions(2, 2))),
                "LPPool2d(norm_type=2, kernel_size=[2, 2], stride=[2, 2], ceil_mode=false)");
  EXPECT_PRINTS((AdaptiveAvgPool1d(AdaptiveAvgPool1dOptions(3))),
                "AdaptiveAvgPool1d(output_size=3)");
}

TEST(Printing, Activations) {
  EXPECT_PRINTS((MaxUnpool1d(2)), "MaxUnpool1d(kernel_size=2, stride=2, padding=0)");
  EXPECT_PRINTS((MaxUnpool2d(2)), "MaxUnpool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0])");
  EXPECT_PRINTS((MaxUnpool3d(2)),
                "MaxUnpool3d(kernel_size=[2, 2, 2], stride=[2, 2, 2], padding=[0, 0, 0])");
  EXPECT_PRINTS((ELU()), "ELU(alpha=1)");
  EXPECT_PRINTS((SELU()), "SELU()");
  EXPECT_PRINTS((Hardshrink()), "Hardshrink(0.5)");
  EXPECT_PRINTS((Hardtanh()), "Hardtanh(min_val=-1, max_val=1)");
  EXPECT_PRINTS((LeakyReLU()), "LeakyReLU(negative_slope=0.01)");
  EXPECT_PRINTS((LogSigmoid()), "LogSigmoid()");
  EXPECT_PRINTS((Softmax(1)), "Softmax(dim=1)");
  EXPECT_PRINTS((Softmin(1)), "Softmin(dim=1)");
  EXPECT_PRINTS((LogSoftmax(1)), "LogSoftmax(dim=1)");
  EXPECT_PRINTS((Softmax2d()), "Softmax2d()");
  EXPECT_PRINTS((PReLU()), "PReLU(num_parameters=1)");
  EXPECT_PRINTS((ReLU()), "ReLU()");
  EXPECT_PRINTS((ReLU(ReLUOptions(true))), "ReLU(inplace=true)");
  EXPECT_PRINTS((ReLU6()), "ReLU6()");
  EXPECT_PRINTS((RReLU()), "RReLU(lower=0.125, upper=0.333333)");
  EXPECT_PRINTS((CELU()), "CELU(alpha=1)");
  EXPECT_PRINTS((GLU()), "GLU(dim=-1)");
  EXPECT_PRINTS((GELU()), "GELU()");
  EXPECT_PRINTS((SiLU()), "SiLU()");
  EXPECT_PRINTS((Mish()), "Mish()");
  EXPECT_PRINTS((Sigmoid()), "Sigmoid()");
  EXPECT_PRINTS((Softplus()), "Softplus(beta=1, threshold=20)");
  EXPECT_PRINTS((Softshrink()), "Softshrink(0.5)");
  EXPECT_PRINTS((Softsign()), "Softsign()");
  EXPECT_PRINTS((Tanh()), "Tanh()");
  EXPECT_PRINTS((Tanhshrink()), "Tanhshrink()");
  EXPECT_PRINTS((Threshold(1., 2.)), "Threshold(threshold=1, value=2)");
  EXPECT_PRINTS((ELU(ELUOptions().alpha(2).inplace(true))), "ELU(alpha=2, inplace=true)");
  EXPECT_PRINTS((LeakyReLU(LeakyReLUOptions().negative_slope(0.2).inplace(true))),
                "LeakyReLU(negative_slope=0.2, inplace=true)");
  EXPECT_PRINTS((Hardtanh(HardtanhOptions().min_val(-2).inplace(true))),
                "Hardtanh(min_val=-2, max_val=1, inplace=true)");
  EXPECT_PRINTS((SELU(SELUOptions(true))), "SELU(inplace=true)");
  EXPECT_PRINTS((CELU(CELUOptions().alpha(2).inplace(true))), "CELU(alpha=2, inplace=true)");
  EXPECT_PRINTS((ReLU6(ReLU6Options(true))), "ReLU6(inplace=true)");
  EXPECT_PRINTS((RReLU(RReLUOptions().inplace(true))),
                "RReLU(lower=0.125, upper=0.333333, inplace=true)");
  EXPECT_PRINTS((Threshold(ThresholdOptions(1, 2).inplace(true))),
                "Threshold(threshold=1, value=2, inplace=true)");
  EXPECT_PRINTS((PReLU(PReLUOptions().num_parameters(3).init(0.1))), "PReLU(num_parameters=3)");
  EXPECT_PRINTS((Softplus(SoftplusOptions().beta(2).threshold(10))),
                "Softplus(beta=2, threshold=10)");
  EXPECT_PRINTS((GLU(GLUOptions(1))), "GLU(dim=1)");
  EXPECT_PRINTS((MaxUnpool2d(MaxUnpool2dOptions({3, 2}).stride(2).padding(1))),
                "MaxUnpool2d(kernel_size=[3, 2], stride=[2, 2], padding=[1, 1])");
}

TEST(Printing, LossesAndDistances) {
  EXPECT_PRINTS((L1Loss()), "L1Loss()");
  EXPECT_PRINTS((MSELoss()), "MSELoss()");
  EXPECT_PRINTS((BCELoss()), "BCELoss()");
  EXPECT_PRINTS((KLDivLoss()), "KLDivLoss()");
  EXPECT_PRINTS((HingeEmbeddingLoss()), "HingeEmbeddingLoss(margin=1)");
  EXPECT_PRINTS((MultiMarginLoss()),
                "MultiMarginLoss(p=1, margin=1, weight=[ Tensor (undefined) ], reduction=kMean)");
  EXPECT_PRINTS((CosineEmbeddingLoss()), "CosineEmbeddingLoss(margin=0)");
  EXPECT_PRINTS((MultiLabelMarginLoss()), "MultiLabelMarginLoss()");
  EXPECT_PRINTS((SoftMarginLoss()), "SoftMarginLoss()");
  EXPECT_PRINTS((MultiLabelSoftMarginLoss()), "MultiLabelSoftMarginLoss()");
  EXPECT_PRINTS((TripletMarginLoss()), "TripletMarginLoss(margin=1, p=2, eps=1e-06, swap=false)");
  EXPECT_PRINTS((TripletMarginWithDistanceLoss()),
                "TripletMarginWithDistanceLoss(margin=1, swap=false)");
  EXPECT_PRINTS((CTCLoss()), "CTCLoss()");
  EXPECT_PRINTS((SmoothL1Loss()), "SmoothL1Loss");
  EXPECT_PRINTS((HuberLoss()), "HuberLoss");
  EXPECT_PRINTS((PoissonNLLLoss()), "PoissonNLLLoss()");
  EXPECT_PRINTS((MarginRankingLoss()), "MarginRankingLoss()");
  EXPECT_PRINTS((NLLLoss()), "NLLLoss()");
  EXPECT_PRINTS((CrossEntropyLoss()), "CrossEntropyLoss()");
  EXPECT_PRINTS((BCEWithLogitsLoss()), "BCEWithLogitsLoss()");
  EXPECT_PRINTS((CosineSimilarity()), "CosineSimilarity(dim=1, eps=1e-08)");
  EXPECT_PRINTS((PairwiseDistance()), "PairwiseDistance(p=2, eps=1e-06, keepdim=false)");
  EXPECT_PRINTS((Fold(FoldOptions({4, 5}, {2, 2}))),
                "Fold(output_size=[4, 5], kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], "
                "stride=[1, 1])");
  EXPECT_PRINTS((Unfold(2)),
                "Unfold(kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1, 1])");
  EXPECT_PRINTS((PixelShuffle(2)), "PixelShuffle(upscale_factor=2)");
  EXPECT_PRINTS((PixelUnshuffle(2)), "PixelUnshuffle(downscale_factor=2)");
  EXPECT_PRINTS(
      (Upsample(UpsampleOptions().scale_factor(std::vector<double>{2}).mode(torch::kNearest))),
      "Upsample(scale_factor=[2], mode=kNearest)");
  EXPECT_PRINTS((Upsample(UpsampleOptions()
                              .size(std::vector<int64_t>{2, 3})
                              .mode(torch::kBilinear)
                              .align_corners(true))),
                "Upsample(size=[2, 3], mode=kBilinear)");
  EXPECT_PRINTS((MultiMarginLoss(MultiMarginLossOptions().p(2).margin(0.5).reduction(torch::kSum))),
                "MultiMarginLoss(p=2, margin=0.5, weight=[ Tensor (undefined) ], reduction=kSum)");
  EXPECT_PRINTS((HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(4))),
                "HingeEmbeddingLoss(margin=4)");
  EXPECT_PRINTS((TripletMarginLoss(TripletMarginLossOptions().swap(true))),
                "TripletMarginLoss(margin=1, p=2, eps=1e-06, swap=true)");
  EXPECT_PRINTS(
      (TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions().margin(2).swap(true))),
      "TripletMarginWithDistanceLoss(margin=2, swap=true)");
  EXPECT_PRINTS(
      (Upsample(UpsampleOptions().scale_factor(std::vector<double>{1.5, 2}).mode(torch::kBicubic))),
      "Upsample(scale_factor=[1.5, 2], mode=kBicubic)");
  EXPECT_PRINTS((Upsample(UpsampleOptions().size(std::vector<int64_t>{2}).mode(torch::kLinear))),
                "Upsample(size=[2], mode=kLinear)");
  EXPECT_PRINTS(
      (Upsample(UpsampleOptions().size(std::vector<int64_t>{2, 2, 2}).mode(torch::kTrilinear))),
      "Upsample(size=[2, 2, 2], mode=kTrilinear)");
  EXPECT_PRINTS((CosineSimilarity(CosineSimilarityOptions().dim(2).eps(0.5))),
                "CosineSimilarity(dim=2, eps=0.5)");
  EXPECT_PRINTS((PairwiseDistance(PairwiseDistanceOptions().p(1).keepdim(true))),
                "PairwiseDistance(p=1, eps=1e-06, keepdim=true)");
}

#undef EXPECT_PRINTS

TEST(Printing, Trees) {
  EXPECT_EQ(text(ModuleList(own::Net(), Sequential())),
            "torch::nn::ModuleList(\n"
            "  (0): own::NetImpl(\n"
            "    (a): torch::nn::Linear(in_features=2, out_features=3, bias=true)\n"
            "    (s): torch::nn::Sequential(\n"
            "      (0): torch::nn::Linear(in_features=1, out_features=1, bias=true)\n"
            "      (1): torch::nn::ReLU()\n"
            "    )\n"
            "  )\n"
            "  (1): torch::nn::Sequential\n"
            ")");
  EXPECT_EQ(text(MultiheadAttention(4, 2)),
            "torch::nn::MultiheadAttention(\n"
            "  (out_proj): torch::nn::Linear(in_features=4, out_features=4, bias=true)\n"
            ")");
  EXPECT_EQ(text(own::OwnLine()), "Line=7(\n  (x): torch::nn::Tanh()\n)");
  EXPECT_EQ(text(Functional(torch::relu)), "torch::nn::Functional()");
  const std::string layer = text(TransformerEncoderLayer(4, 2));
  EXPECT_EQ(layer.substr(0, layer.find('\n')), "torch::nn::TransformerEncoderLayerImpl(");
  AdaptiveLogSoftmaxWithLoss loss(4, 6, std::vector<int64_t>{2});
  EXPECT_EQ(text(loss).find("torch::nn::AdaptiveLogSoftmaxWithLoss(\n  (head): torch::nn::Linear("),
            0u);
}

TEST(Printing, Parameters) {
  ParameterList list;
  EXPECT_EQ(text(list), "torch::nn::ParameterList(\n)");
  list->append(torch::ones({2, 3}));
  EXPECT_EQ(text(list),
            "torch::nn::ParameterList(\n(0): Parameter containing: [Float of size [2, 3]]\n)");
  ParameterDict dict;
  dict->insert("k", torch::ones({2, 3}, torch::kDouble));
  EXPECT_EQ(text(dict),
            "torch::nn::ParameterDict(\n(k): Parameter containing: [Double of size [2, 3]]\n)");
}

TEST(Printing, Names) {
  EXPECT_EQ(Linear(1, 1)->name(), "torch::nn::LinearImpl");
  EXPECT_EQ(BatchNorm2d(3)->name(), "torch::nn::BatchNorm2dImpl");
  EXPECT_EQ(Sequential()->name(), "torch::nn::SequentialImpl");
  EXPECT_EQ(own::Net()->name(), "own::NetImpl");
  EXPECT_EQ(own::Bare()->name(), "own::BareImpl");
  EXPECT_EQ(own::OfType<int>().name(), "own::OfType<int>");
  EXPECT_EQ(own::OwnLine().name(), "Line");
}

}  // namespace
