// The helper that compares parallel ways of running a model with one device.
#include "taeda/parallel/equivalence.h"

#include "common.h"

namespace taeda::nn {
namespace {

using equivalence::check_parallel_equivalence;
using equivalence::Difference;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Equivalence, DataParallelHasTheGradientsOfOneDevice) {
  manual_seed(1);
  const equivalence::Batch batch{taeda::randn({10, 6}), taeda::randint(0, 8, {10})};
  const std::vector<Difference> differences = check_parallel_equivalence(
      [] { return Net(); }, batch,
      {equivalence::DataParallel(1), equivalence::DataParallel(2), equivalence::DataParallel(4)});
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[1].plan, "DataParallel(2)");
  EXPECT_LT(differences[2].gradient, 1e-4);
}

TEST(Equivalence, NamesThePlanAndTheFirstParameterThatDiffers) {
  const equivalence::Plan wrong{
      "Wrong", [](const AnyModule& model, Device) {
        model.get<NetImpl>().fc2->bias.register_hook([](const Tensor& g) { return g * 1.01; });
        return [model](const Tensor& x) { return AnyModule(model).forward(x); };
      }};
  const equivalence::Plan shifted{"Shifted", [](const AnyModule& model, Device) {
                                    return [model](const Tensor& x) {
                                      return AnyModule(model).forward(x) + 1;
                                    };
                                  }};
  const equivalence::Batch batch{taeda::ones({4, 6}), taeda::zeros({4, 8})};
  const auto check = [&](const std::vector<equivalence::Plan>& plans,
                         const equivalence::Options& options = {}) {
    return error_of(
        [&] { check_parallel_equivalence([] { return Net(); }, batch, plans, options); });
  };
  EXPECT_THAT(check({equivalence::DataParallel(2), wrong}),
              HasSubstr("Wrong: the gradient of 'fc2.bias' differs from one device's by 0.0"));
  EXPECT_THAT(check({shifted}), HasSubstr("Shifted: the loss differs from one device's: "));
  equivalence::Options loose;
  loose.tolerance = 0.1;
  loose.device = Device("sim:1");
  EXPECT_EQ(check({wrong}, loose), "no error");
}

}  // namespace
}  // namespace taeda::nn
