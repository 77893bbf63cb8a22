// Tensors and containers of them, to several devices and back.
#include "taeda/parallel/scatter_gather.h"

#include "common.h"

namespace taeda::nn {
namespace {

using parallel::gather;
using parallel::scatter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> lengths(const std::vector<Tensor>& chunks) {
  std::vector<int64_t> out;
  for (const Tensor& c : chunks) out.push_back(c.size(0));
  return out;
}

TEST(Scatter, CutsIntoChunksOneForEachDevice) {
  const Tensor x = taeda::arange(14).reshape({7, 2});
  const std::vector<Tensor> chunks = scatter(x, sim_devices(4));
  EXPECT_THAT(lengths(chunks), ElementsAre(2, 2, 2, 1));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(chunks[static_cast<size_t>(i)].device(), sim_device(i));
  EXPECT_THAT(values(chunks[1]), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(values(chunks[3]), ElementsAre(12, 13));
}

TEST(Scatter, ASmallBatchHasFewerChunksThanDevices) {
  EXPECT_THAT(lengths(scatter(taeda::zeros({5}), sim_devices(4))), ElementsAre(2, 2, 1));
  EXPECT_THAT(lengths(scatter(taeda::zeros({1}), sim_devices(4))), ElementsAre(1));
  EXPECT_THAT(lengths(scatter(taeda::zeros({0, 3}), sim_devices(2))), ElementsAre(0, 0));
  EXPECT_THAT(error_of([] { scatter(taeda::zeros({}), sim_devices(2)); }),
              HasSubstr("chunk expects at least a 1-dimensional tensor"));
  EXPECT_THAT(error_of([] { scatter(taeda::zeros({2}), {}); }),
              HasSubstr("expected at least one device"));
}

TEST(Scatter, AnyDimension) {
  const std::vector<Tensor> chunks = scatter(taeda::arange(6).reshape({2, 3}), sim_devices(2), -1);
  EXPECT_THAT(values(chunks[0]), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(values(chunks[1]), ElementsAre(2, 5));
  EXPECT_THAT(values(gather(chunks, Device(kCPU), 1)), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Scatter, GradientsComeBack) {
  for (const Device device : {Device(kCPU), sim_device(0), sim_device(1)}) {
    const Tensor x = taeda::ones({5, 2}, TensorOptions().device(device)).requires_grad_();
    std::vector<Tensor> chunks = scatter(x, sim_devices(3));
    for (size_t i = 0; i < chunks.size(); ++i) chunks[i] = chunks[i] * static_cast<double>(i + 1);
    const Tensor y = gather(chunks, sim_device(2));
    EXPECT_EQ(y.device(), sim_device(2));
    EXPECT_STREQ(y.grad_fn()->name(), "GatherBackward");
    y.sum().backward();
    EXPECT_EQ(x.grad().device(), device);
    EXPECT_THAT(values(x.grad()), ElementsAre(1, 1, 1, 1, 2, 2, 2, 2, 3, 3));
  }
}

TEST(Scatter, AChunkThatNobodyUsedHasNoGradient) {
  const Tensor x = taeda::ones({4}).requires_grad_();
  scatter(x, sim_devices(2))[1].sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(0, 0, 1, 1));
}

TEST(Scatter, AChunkOnItsOwnDeviceIsAViewThatMayNotBeChanged) {
  const Tensor x = taeda::ones({4}, TensorOptions().device(sim_device(0))).requires_grad_();
  const std::vector<Tensor> chunks = scatter(x, sim_devices(2));
  EXPECT_EQ(chunks[0].data_ptr(), x.data_ptr());
  EXPECT_THAT(error_of([&] { chunks[0].mul_(2); }), HasSubstr("view"));
}

using Everything =
    std::tuple<Tensor, std::vector<Tensor>, std::map<std::string, Tensor>, int, std::string, Tensor,
               OrderedDict<std::string, std::pair<Tensor, double>>, std::optional<Tensor>,
               std::vector<int>, std::vector<Tensor>>;

TEST(Scatter, ContainersToAnyDepth) {
  const Tensor x = taeda::arange(4);
  OrderedDict<std::string, std::pair<Tensor, double>> dict;
  dict.insert("pair", {x * 4, 0.5});
  const Everything all{x,        {x * 2, x * 3}, {{"a", x * 5}}, 7,      "text",
                       Tensor(), dict,           x * 6,          {1, 2}, {}};
  const std::vector<Everything> parts = scatter(all, sim_devices(2));
  ASSERT_EQ(parts.size(), 2u);
  const Everything& second = parts[1];
  EXPECT_THAT(values(std::get<0>(second)), ElementsAre(2, 3));
  EXPECT_THAT(values(std::get<1>(second)[1]), ElementsAre(6, 9));
  EXPECT_THAT(values(std::get<2>(second).at("a")), ElementsAre(10, 15));
  EXPECT_EQ(std::get<3>(second), 7);
  EXPECT_EQ(std::get<4>(second), "text");
  EXPECT_FALSE(std::get<5>(second).defined());
  EXPECT_THAT(values(std::get<6>(second)["pair"].first), ElementsAre(8, 12));
  EXPECT_EQ(std::get<6>(second)["pair"].second, 0.5);
  EXPECT_EQ(std::get<7>(second)->device(), sim_device(1));
  EXPECT_THAT(std::get<8>(second), ElementsAre(1, 2));
  EXPECT_TRUE(std::get<9>(second).empty());
}

TEST(Scatter, TensorsMustHaveTheSameNumberOfChunks) {
  const std::vector<Tensor> both{taeda::zeros({4}), taeda::zeros({1})};
  EXPECT_THROW(scatter(both, sim_devices(2)), ValueError);
  EXPECT_THAT(error_of([&] { scatter(both, sim_devices(2)); }),
              HasSubstr("different numbers of chunks along dimension 0: 2 and 1 for 2 devices"));
  EXPECT_EQ(
      scatter(std::vector<Tensor>{taeda::zeros({3}), taeda::zeros({4, 2})}, sim_devices(2)).size(),
      2u);
}

TEST(Gather, ContainersToAnyDepth) {
  using Output = std::tuple<Tensor, std::vector<std::pair<Tensor, Tensor>>,
                            std::map<std::string, Tensor>, OrderedDict<std::string, Tensor>,
                            std::optional<Tensor>, std::optional<Tensor>, Tensor>;
  std::vector<Output> outputs;
  for (int i = 0; i < 2; ++i) {
    const Tensor x = taeda::full({2}, i, TensorOptions().device(sim_device(i)));
    outputs.push_back({x, {{x + 1, x + 2}}, {{"m", x + 3}}, {{"d", x + 4}}, x + 5, {}, Tensor()});
  }
  const Output all = gather(outputs, Device(kCPU));
  EXPECT_THAT(values(std::get<0>(all)), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(values(std::get<1>(all)[0].second), ElementsAre(2, 2, 3, 3));
  EXPECT_THAT(values(std::get<2>(all).at("m")), ElementsAre(3, 3, 4, 4));
  EXPECT_THAT(values(std::get<3>(all)["d"]), ElementsAre(4, 4, 5, 5));
  EXPECT_THAT(values(*std::get<4>(all)), ElementsAre(5, 5, 6, 6));
  EXPECT_FALSE(std::get<5>(all));
  EXPECT_FALSE(std::get<6>(all).defined());
}

TEST(Gather, ScalarsBecomeAVector) {
  const std::vector<Tensor> scalars{taeda::full({}, 1.0, TensorOptions().device(sim_device(0))),
                                    taeda::full({}, 2.0, TensorOptions().device(sim_device(1)))};
  EXPECT_THAT(values(gather(scalars, sim_device(0))), ElementsAre(1, 2));
}

TEST(Gather, ShapesAndContainersMustFit) {
  const auto at = [](int i, IntArrayRef sizes) {
    return taeda::zeros(sizes, TensorOptions().device(sim_device(i)));
  };
  EXPECT_THAT(error_of([&] {
                gather(std::vector{at(0, {2, 4}), at(1, {2, 5})}, Device(kCPU));
              }),
              HasSubstr("Input tensor at index 1 has invalid shape [2, 5], but expected [2, 4]"));
  EXPECT_THAT(error_of([&] {
                gather(std::vector{at(0, {2, 4}), at(1, {2})}, Device(kCPU));
              }),
              HasSubstr("tensor at index 1 has 1 dimensions, (expected 2)"));
  using List = std::vector<Tensor>;
  EXPECT_THAT(error_of([&] {
                gather(std::vector<List>{{at(0, {1})}, {}}, Device(kCPU));
              }),
              HasSubstr("All lists must have the same number of elements"));
  using Dict = std::map<std::string, Tensor>;
  EXPECT_THAT(error_of([&] {
                gather(std::vector<Dict>{{{"a", at(0, {1})}}, {{"b", at(1, {1})}}}, Device(kCPU));
              }),
              HasSubstr("All dicts must have the same keys"));
  EXPECT_THAT(error_of([&] {
                gather(std::vector<Dict>{{{"a", at(0, {1})}}, {}}, Device(kCPU));
              }),
              HasSubstr("All dicts must have the same number of keys"));
  EXPECT_THAT(error_of([] { gather(std::vector<Tensor>(), Device(kCPU)); }),
              HasSubstr("expected at least one output"));
}

TEST(ReduceAdd, IsATreeInTheOrderOfDevices) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back(taeda::full({1},
                                i == 0   ? 1e8f
                                : i == 1 ? -1e8f
                                         : 1.5f,
                                TensorOptions().device(sim_device(i))));
  const Tensor sum = parallel::reduce_add(parts, sim_device(3));
  EXPECT_EQ(sum.device(), sim_device(3));
  EXPECT_THAT(values(sum), ElementsAre(3));  // (a + b) + (c + d); from the left it would be 3, too
  std::swap(parts[1], parts[2]);             // (1e8 + 1.5) + (-1e8 + 1.5): rounded away
  EXPECT_THAT(values(parallel::reduce_add(parts, sim_device(0))), ElementsAre(0));
}

TEST(PairwiseSum, HasTheSameBitsOnWhicheverDeviceItIsMade) {
  for (int n = 1; n <= 4; ++n) {
    std::vector<Tensor> parts;
    for (int i = 0; i < n; ++i) parts.push_back(taeda::randn({257}).mul(1e3).to(sim_device(i)));
    std::vector<Tensor> before;
    for (const Tensor& t : parts) before.push_back(t.clone());
    const Tensor expected = parallel::reduce_add(parts, sim_device(0));
    for (const auto side : {parallel::AddedOn::First, parallel::AddedOn::Second})
      for (const int target : {0, 1}) {
        const Tensor out = taeda::empty({257}, TensorOptions().device(sim_device(target)));
        parallel::PairwiseSum sum(out, side);
        for (const Tensor& t : parts) sum.add(t);
        while (sum.step()) {
        }
        EXPECT_TRUE(taeda::equal(out.cpu(), expected.cpu())) << n << " devices, to " << target;
      }
    for (int i = 0; i < n; ++i)
      EXPECT_TRUE(taeda::equal(parts[static_cast<size_t>(i)], before[static_cast<size_t>(i)]));
  }
}

TEST(ReduceAdd, UndefinedTensorsAreZero) {
  const Tensor one = taeda::ones({1}, TensorOptions().device(sim_device(2)));
  EXPECT_THAT(values(parallel::reduce_add({Tensor(), Tensor(), one}, sim_device(0))),
              ElementsAre(1));
  EXPECT_THAT(values(parallel::reduce_add({one, Tensor()}, sim_device(0))), ElementsAre(1));
  EXPECT_FALSE(parallel::reduce_add({Tensor(), Tensor()}, sim_device(0)).defined());
  EXPECT_FALSE(parallel::reduce_add({}, sim_device(0)).defined());
}

}  // namespace
}  // namespace taeda::nn
