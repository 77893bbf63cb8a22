// Modules, options and containers in the forms that libtorch's programs use.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <deque>
#include <sstream>

#include "tests/error_of.h"

namespace {

using namespace torch;
using taeda::error_of;
namespace F = torch::nn::functional;

TEST(NnNames, TransposedConvolutionOfThreeDimensions) {
  manual_seed(0);
  nn::ConvTranspose3d up(nn::ConvTranspose3dOptions(2, 3, 2).stride(2).output_padding(1));
  const Tensor x = randn({1, 2, 2, 2, 2});
  const Tensor y = up(x);
  EXPECT_EQ(y.sizes().vec(), (std::vector<int64_t>{1, 3, 5, 5, 5}));
  EXPECT_NEAR(y.sum().item<double>(), 3.8536808, 1e-4) << "PyTorch's sum from the same seed";
  const std::optional<IntArrayRef> none;
  EXPECT_TRUE(up->forward(x, none).equal(y));
  nn::ConvTranspose3d plain(nn::ConvTranspose3dOptions(2, 3, 2).stride(2));
  EXPECT_EQ(plain->forward(x, {5, 4, 5}).sizes().vec(), (std::vector<int64_t>{1, 3, 5, 4, 5}));
  EXPECT_EQ(error_of([] {
              nn::ConvTranspose1d(nn::ConvTranspose1dOptions(1, 1, 2).padding_mode(kReflect))
                  ->forward(torch::zeros({1, 1, 4}));
            }),
            "Only \"zeros\" padding mode is supported for ConvTranspose1d");
}

TEST(NnNames, PoolsLeaveSizesAsTheyAre) {
  nn::AdaptiveAvgPool2d pool(nn::AdaptiveAvgPool2dOptions({torch::nullopt, 2}));
  EXPECT_EQ(pool(torch::ones({1, 1, 5, 6})).sizes().vec(), (std::vector<int64_t>{1, 1, 5, 2}));
  EXPECT_NE(pool->repr().find("output_size=[None, 2]"), std::string::npos) << pool->repr();
  const torch::ExpandingArrayWithOptionalElem<3> sizes({2, torch::nullopt, 10});
  EXPECT_EQ(sizes.text(), "(2, None, 10)");
}

TEST(NnNames, OptionsTakeEveryFormOfAValue) {
  using Padding = std::variant<torch::ExpandingArray<2>, enumtype::kValid, enumtype::kSame>;
  nn::Conv2dOptions options(1, 1, 3);
  options.padding(Padding(enumtype::kSame{}));
  EXPECT_EQ(nn::Conv2d(options)(torch::zeros({1, 1, 4, 4})).size(2), 4);
  options.padding(Padding(torch::ExpandingArray<2>(2)));
  EXPECT_EQ(nn::Conv2d(options)(torch::zeros({1, 1, 4, 4})).size(2), 6);
  EXPECT_TRUE(nn::EmbeddingBagOptions(3, 2).mode(enumtype::kSum{}).mode().is_sum());
  const Tensor x = torch::ones({1, 1, 2, 2});
  EXPECT_EQ(F::interpolate(x, F::InterpolateFuncOptions().size({{4, 4}}).mode(enumtype::kNearest{}))
                .size(3),
            4);
  nn::FractionalMaxPool2dOptions pool(2);
  pool.output_ratio(torch::ExpandingArray<2, double>({0.5, 0.5}));
  EXPECT_EQ(nn::FractionalMaxPool2d(pool)(torch::rand({1, 1, 8, 8})).size(2), 4);
  EXPECT_EQ(
      enumtype::reduction_get_enum(std::variant<enumtype::kMean, enumtype::kSum>(enumtype::kSum{})),
      2);
  Tensor out = torch::empty({0});
  F::normalize(x, F::NormalizeFuncOptions().dim(3).out(out));
  EXPECT_TRUE(out.allclose(F::normalize(x, F::NormalizeFuncOptions().dim(3))));
}

TEST(NnNames, ApplyTakesWhatFunctionsTake) {
  const nn::Sequential net(nn::Linear(2, 2), nn::ReLU());
  std::vector<std::string> seen;
  const nn::Module& fixed = *net;
  fixed.apply([&](const nn::Module& m) { seen.push_back(m.name()); });
  fixed.apply([&](const std::string& path,
                  const std::shared_ptr<nn::Module>& m) { seen.push_back(path + "=" + m->name()); },
              "net");
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen[4].substr(0, 6), "net.0=");
}

TEST(NnNames, ParametersDrawAnew) {
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(4, 2));
  NoGradGuard no_grad;
  for (Tensor& p : layer->parameters()) p.fill_(5);
  layer->reset_parameters();
  for (const auto& item : layer->named_parameters())
    EXPECT_EQ(item.value().eq(5).any().item<bool>(), item.key() == "self_attn.out_proj.weight")
        << item.key() << ": PyTorch draws all but this one";
  nn::InstanceNorm2d norm(nn::InstanceNorm2dOptions(3).affine(true).track_running_stats(true));
  norm->weight.fill_(2);
  norm->running_mean.fill_(2);
  norm->reset_parameters();
  EXPECT_TRUE(norm->weight.equal(torch::ones({3})));
  EXPECT_TRUE(norm->running_mean.equal(torch::zeros({3})));
}

TEST(NnNames, ListsAndDictionariesOfParameters) {
  nn::ParameterDict dict;
  dict->insert("a", torch::ones({1}));
  dict->update(std::map<std::string, Tensor>{{"a", torch::zeros({1})}, {"b", torch::ones({2})}});
  int64_t elements = 0;
  for (const auto& item : *dict) elements += item.value().numel();
  EXPECT_EQ(elements, 3);
  EXPECT_EQ(dict->get("a").item<float>(), 0);
  nn::ParameterList list;
  for (const auto& item : *dict) list->append(item);
  EXPECT_EQ(static_cast<const nn::ParameterListImpl&>(*list).at(1).numel(), 2);
  dict->clear();
  EXPECT_EQ(dict->size(), 0u);
}

TEST(NnNames, ModulesSaveThemselves) {
  nn::Linear a(2, 2), b(2, 2);
  serialize::OutputArchive out;
  a->save(out);
  std::stringstream stream;
  out.save_to(stream);
  serialize::InputArchive in;
  in.load_from(stream);
  b->load(in);
  EXPECT_TRUE(a->weight.equal(b->weight));
  EXPECT_TRUE(a->is_serializable());
  EXPECT_FALSE(nn::Functional(torch::relu)->is_serializable());
  EXPECT_EQ(nn::AnyModule(a).type_info(), typeid(nn::LinearImpl));
}

TEST(NnNames, KeysThatDoNotFitNameTheirNearest) {
  nn::Linear net(2, 2);
  OrderedDict<std::string, Tensor> state;
  state.insert("wieght", torch::ones({2, 2}));
  const auto keys = net->load_state_dict(state, false);
  EXPECT_EQ(keys.str(),
            "missing weight (wieght was unexpected)\n"
            "missing bias\n"
            "unexpected wieght (weight is missing)");
}

TEST(OptimNames, OwnOptimizersWriteNumbersAndBuffers) {
  serialize::OutputArchive out;
  optim::serialize(out, "step", int64_t{7});
  optim::serialize(out, "sizes", std::vector<int64_t>{1, 2});
  optim::serialize(out, "buffers", std::deque<Tensor>{torch::ones({2}), torch::zeros({1})});
  std::stringstream stream;
  out.save_to(stream);
  serialize::InputArchive in;
  in.load_from(stream);
  int64_t step = 0;
  std::vector<int64_t> sizes;
  std::deque<Tensor> buffers;
  optim::serialize(in, "step", step);
  optim::serialize(in, "sizes", sizes);
  optim::serialize(in, "buffers", buffers);
  EXPECT_EQ(step, 7);
  EXPECT_EQ(sizes, (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(optim::deque_to_list(buffers).at(0).equal(torch::ones({2})));
}

TEST(DataNames, TensorDatasetIsAClass) {
  struct Holds {
    data::datasets::TensorDataset rows;
  };
  Holds holds{
      data::datasets::TensorDataset(std::vector<Tensor>{torch::ones({2}), torch::zeros({2})})};
  EXPECT_EQ(holds.rows.size().value(), 2u);
  EXPECT_TRUE(holds.rows.get(1).data.equal(torch::zeros({2})));
}

struct Doubled : autograd::Function<Doubled> {
  static Tensor forward(autograd::AutogradContext*, Tensor x, Tensor y) { return x * 2 + y; }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list grads) {
    const bool any = ctx->needs_input_grad({{0, 1}}), second = ctx->needs_input_grad({{1, 2}});
    EXPECT_TRUE(any);
    EXPECT_FALSE(second);
    return {grads[0] * 2, Tensor()};
  }
};

TEST(AutogradNames, RangesOfInputsThatWantGradients) {
  const Tensor x = torch::ones({2}, requires_grad());
  Doubled::apply(x, torch::ones({2})).sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 2.0)));
}

}  // namespace
