// Maps over samples in C++: what nests, what may differ between samples, and what is refused.
// tests/ops/mapped_test.cpp compares every operation with its samples.
#include "taeda/func/vmap.h"

#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/base/warning.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/ctc_loss.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/mapped.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using func::vmap;

Tensor numbers(IntArrayRef sizes) {
  return arange(product(sizes), TensorOptions(kDouble)).div(7).sin().reshape(sizes);
}

Tensor of_sample(const Tensor& x) { return x.mul(x).sum(); }

TEST(Vmap, TakesSamplesFromAnyDimensionAndPutsThemIntoAny) {
  const Tensor x = numbers({3, 4}), w = numbers({5, 4});
  const auto product = [](const Tensor& a, const Tensor& b) { return a.matmul(b); };
  EXPECT_TRUE(vmap(product, {.in_dims = {std::nullopt, 0}})(w, x).allclose(x.matmul(w.t())));
  EXPECT_TRUE(vmap(product, {.in_dims = {std::nullopt, 1}, .out_dims = {-1}})(w, x.t()).allclose(
      w.matmul(x.t())));
  const auto several = [](const Tensor& a) { return std::vector<Tensor>{a.sum(), ones({2})}; };
  const std::vector<Tensor> made = vmap(several, {.out_dims = {0, std::nullopt}})(x);
  EXPECT_TRUE(made[0].allclose(x.sum({1})));
  EXPECT_EQ(made[1].sizes(), IntArrayRef({2}));
  EXPECT_TRUE(vmap(of_sample, {.chunk_size = 2})(x).allclose(x.mul(x).sum({1})));
}

TEST(Vmap, Nests) {
  const Tensor x = numbers({3, 4}), y = numbers({5, 4});
  const Tensor all = vmap([&](const Tensor& a) {
    return vmap([&](const Tensor& b) { return a.mul(b).sum().add(of_sample(a)); })(y);
  })(x);
  EXPECT_TRUE(all.allclose(x.matmul(y.t()).add(x.mul(x).sum({1}, true))));
}

TEST(Vmap, GradientsOfSamplesAreTheirOwn) {
  const Tensor x = numbers({3, 4}), w = numbers({4});
  const auto slope = [&](const Tensor& a) {
    const Tensor own = map_everywhere(w).detach().requires_grad_();
    const Tensor loss = own.mul(a).sin().sum();
    const Tensor first = autograd::grad({loss}, {own}, {}, {}, true)[0];
    return autograd::grad({first.sum()}, {own})[0];
  };
  EXPECT_TRUE(vmap(slope)(x).allclose(w.mul(x).sin().neg().mul(x).mul(x)));
}

TEST(Vmap, GradientsByWeightsThatDifferBetweenSamplesAlone) {
  const Tensor x = numbers({4}).requires_grad_();
  const Tensor y = x.sin().reshape({2, 2});
  const auto pull = [&](const Tensor& weight) {
    return autograd::grad({y}, {x}, {weight}, true)[0];
  };
  const Tensor rows = vmap(pull)(eye(4, TensorOptions(kDouble)).reshape({4, 2, 2}));
  EXPECT_TRUE(rows.allclose(eye(4, TensorOptions(kDouble)).mul(x.cos())));
}

TEST(Vmap, SumsOfGradientsThatDifferBetweenSamplesAndThatDoNot) {
  const Tensor x = numbers({4}).requires_grad_(), y = x.mul(2), z = x.sin();
  const auto pull = [&](const Tensor& weight) {
    return autograd::grad({y, z}, {x}, {ones({4}, kDouble), weight}, true)[0];
  };
  const Tensor weights = numbers({3, 4});
  EXPECT_TRUE(vmap(pull)(weights).allclose(weights.mul(x.cos()).add(2)));
}

TEST(Vmap, ASumOfGradientsChangesNoGradientThatSharesItsMemory) {
  const Tensor x = numbers({2, 2}).requires_grad_(), y = x.mul(1), z = y.mul(1);
  const auto pull = [&](const Tensor& weight) {
    const std::vector<Tensor> g = autograd::grad({z, y.t()}, {x, z}, {weight, weight.t()}, true);
    return std::vector<Tensor>(g);
  };
  const Tensor weights = numbers({3, 2, 2});
  const std::vector<Tensor> found = vmap(pull)(weights);
  EXPECT_TRUE(found[0].allclose(weights.mul(2)));
  EXPECT_TRUE(found[1].equal(weights));
}

/// A function of which the gradient is an error.
struct Failing : autograd::Function<Failing> {
  static inline int calls = 0;
  static Tensor forward(autograd::AutogradContext*, Tensor x) { return x.mul(2); }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
    ++calls;
    throw Error("no gradient");
  }
};

TEST(Vmap, AnErrorOfAFormulaIsNotTriedForEachSample) {
  const Tensor y = Failing::apply(numbers({4}).requires_grad_());
  const auto pull = [&](const Tensor& weight) { return autograd::grad({y}, {y}, {weight})[0]; };
  EXPECT_TRUE(vmap(pull)(numbers({3, 4})).equal(numbers({3, 4})));
  const Tensor x = numbers({4}).requires_grad_(), z = Failing::apply(x);
  EXPECT_NE(
      error_of([&] {
        vmap([&](const Tensor& w) { return autograd::grad({z}, {x}, {w})[0]; })(numbers({3, 4}));
      }).find("no gradient"),
      std::string::npos);
  EXPECT_EQ(Failing::calls, 1);
}

TEST(Vmap, AMappedTensorHasAGradientOfItsOwn) {
  const Tensor x = numbers({3, 4}).requires_grad_();
  x.mutable_grad() = x.detach();
  const Tensor found = vmap([](const Tensor& a) {
    EXPECT_FALSE(a.grad().defined());
    a.mutable_grad() = a.mul(2);
    return a.grad();
  })(x);
  EXPECT_TRUE(found.equal(x.mul(2)));
  EXPECT_TRUE(x.grad().equal(x.detach()));
  const auto back = [](const Tensor& a) {
    a.sum().backward();
    return a;
  };
  EXPECT_EQ(error_of([&] { vmap(back)(x); }),
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms.");
}

TEST(Vmap, AMappedTensorHasNoAddress) {
  const auto address = [](const Tensor& a) {
    a.data_ptr();
    return a;
  };
  EXPECT_EQ(error_of([&] {
              vmap(address)(numbers({3, 4}));
            }),
            "Cannot access data pointer of Tensor that doesn't have storage");
}

TEST(Vmap, ChangesInPlaceWhatIsMapped) {
  Tensor x = numbers({3, 4});
  const Tensor before = x.clone();
  vmap([](const Tensor& a) {
    a.t().slice(0, 1).mul_(2);
    a.select(0, 0).copy_(a.sum());
    return a;
  })(x);
  EXPECT_TRUE(x.slice(1, 1).allclose(before.slice(1, 1).mul(2)));
  const Tensor shared = zeros({4}, kDouble);
  EXPECT_EQ(error_of([&] { vmap([&](const Tensor& a) { return shared.add_(a); })(x); }),
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            "Tensor `other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap. Please try to "
            "use out-of-place operators instead of inplace arithmetic. If said operator is being "
            "called inside the PyTorch framework, please file a bug report instead.");
}

TEST(Vmap, ValuesThatAreAssignedHaveGradients) {
  const Tensor y = numbers({3}).requires_grad_();
  const auto put = [](const Tensor& a) {
    return zeros({2, 4}, kDouble).index_put({Tensor(arange(2, kLong))}, a).sum();
  };
  const Tensor g = autograd::grad({vmap(put)(y).sum()}, {y})[0];
  EXPECT_TRUE(g.equal(full({3}, 8, kDouble)));
}

TEST(Vmap, RandomNumbersAreRefusedOrDifferOrAreTheSame) {
  const Tensor x = ones({3, 64}, kDouble);
  const auto drop = [](const Tensor& a) { return dropout(a, 0.5, true); };
  EXPECT_NE(error_of([&] { vmap(drop)(x); }).find("randomness error mode"), std::string::npos);
  const Tensor same = vmap(drop, {.randomness = Randomness::Same})(x);
  EXPECT_TRUE(same.select(0, 0).equal(same.select(0, 2)));
  const Tensor different = vmap(drop, {.randomness = Randomness::Different})(x);
  EXPECT_FALSE(different.select(0, 0).equal(different.select(0, 2)));
  const auto draw = [](const Tensor& a) { return a.add(randn({64}, TensorOptions(kDouble))); };
  const Tensor drawn = vmap(draw, {.randomness = Randomness::Different})(x);
  EXPECT_FALSE(drawn.select(0, 0).equal(drawn.select(0, 1)));
}

TEST(Vmap, RefusesWhatDependsOnASample) {
  const Tensor x = numbers({3, 4});
  const auto words = [&](auto f) { return error_of([&] { vmap(f)(x); }); };
  EXPECT_NE(words([](const Tensor& a) { return a.mul(a.sum().item()); }).find("calling .item()"),
            std::string::npos);
  EXPECT_NE(words([](const Tensor& a) {
              return a.sum().is_nonzero() ? a : a.neg();
            }).find("data-dependent control flow"),
            std::string::npos);
  EXPECT_NE(words([](const Tensor& a) { return a.nonzero(); }).find("output dynamic shape"),
            std::string::npos);
  EXPECT_NE(words([](const Tensor& a) { return a.index({a.gt(0)}); }).find("a boolean mask"),
            std::string::npos);
}

/// What `f` gives for all samples at once and for one after the other, and derivatives by them;
/// nothing may go sample by sample.
template <class F>
void expect_as_samples(F f, const Tensor& x) {
  struct Refuse : WarningHandler {
    void process(const Warning& w) override { ADD_FAILURE() << w.msg(); }
  } refuse;
  const WarningHandlerGuard guard(&refuse);
  Warning::set_warnAlways(true);
  const Tensor leaf = x.detach().requires_grad_(), all = vmap(f)(leaf);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < x.size(0); ++i) parts.push_back(f(leaf.select(0, i)));
  const Tensor one_by_one = stack(parts, 0);
  EXPECT_TRUE(all.allclose(one_by_one)) << all << "\nnot\n" << one_by_one;
  const auto slope = [&](const Tensor& y) {
    return autograd::grad({y.mul(numbers(y.sizes()).add(2)).sum()}, {leaf}, {}, true)[0];
  };
  EXPECT_TRUE(slope(all).allclose(slope(one_by_one)));
  Warning::set_warnAlways(false);
}

TEST(Vmap, AlignmentsOfAllSamplesAreOneBatch) {
  const Tensor scores = log_softmax(numbers({3, 6, 2, 4}), -1);
  for (const Reduction reduction : {Reduction::None, Reduction::Sum, Reduction::Mean}) {
    const auto padded = [&](const Tensor& s) {
      return ctc_loss(s, tensor({{1, 2}, {3, 0}}), {6, 5}, {2, 1}, 0, reduction);
    };
    expect_as_samples(padded, scores);
    const auto joined = [&](const Tensor& s) {
      return ctc_loss(s, tensor({1, 2, 3}), tensor({6, 5}), tensor({2, 1}), 0, reduction);
    };
    expect_as_samples(joined, scores);
    const auto alone = [&](const Tensor& s) {
      return ctc_loss(s, tensor({1, 2}), {6}, {2}, 0, reduction);
    };
    expect_as_samples(alone, scores.select(2, 0));
  }
  const Tensor lengths = tensor({{6, 5}, {4, 6}, {5, 5}}),
               labels = tensor({{2, 1}, {1, 2}, {0, 2}});
  for (const Reduction reduction : {Reduction::None, Reduction::Sum, Reduction::Mean}) {
    const auto of_sample = [&](const Tensor& s, const Tensor& l, const Tensor& n) {
      return ctc_loss(s, tensor({{1, 2}, {3, 1}}), l, n, 0, reduction);
    };
    const Tensor found = vmap(of_sample)(scores, lengths, labels);
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_TRUE(found.select(0, i).allclose(
          of_sample(scores.select(0, i), lengths.select(0, i), labels.select(0, i))));
  }
  const Tensor targets = tensor({{1, 2}, {3, 3}, {2, 1}});
  const Tensor all = vmap([](const Tensor& s, const Tensor& t) {
    return ctc_loss(s, t, {6}, {2});
  })(scores.select(2, 1), targets);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(all.select(0, i).allclose(
        ctc_loss(scores.select(2, 1).select(0, i), targets.select(0, i), {6}, {2})));
}

TEST(Vmap, DistancesOfRowsAndPlacesOfMemory) {
  for (const double p : {1.0, 2.0, 3.0})
    expect_as_samples([&](const Tensor& x) { return pdist(x, p); }, numbers({3, 4, 2}));
  expect_as_samples([](const Tensor& x) { return pdist(x); }, numbers({2, 1, 2}));
  const auto scatter = [](const Tensor& x) {
    return as_strided_scatter(x, x.sum().expand({2}), {2}, {2});
  };
  expect_as_samples(scatter, numbers({3, 2, 3}));
  expect_as_samples(scatter, numbers({3, 5, 2}).transpose(1, 2));
  expect_as_samples(scatter, numbers({2, 3, 5}).transpose(0, 1).narrow(2, 1, 4));
  const Tensor shared = numbers({5});
  expect_as_samples([&](const Tensor& x) { return as_strided_scatter(shared, x, {2}, {2}).sin(); },
                    numbers({3, 2}));
}

TEST(Vmap, ChangesOfWhatAGradientKeptAreSeenWithAndWithoutAMap) {
  const auto changed = [](const Tensor& x) {
    const Tensor y = x.cumprod(0), z = y.clone();
    y.zero_();
    return z;
  };
  const Tensor x = numbers({3}).requires_grad_();
  for (const Tensor& z : {changed(x.select(0, 1)), vmap(changed)(x)})
    EXPECT_NE(error_of([&] { z.sum().backward(); }).find("modified by an inplace operation"),
              std::string::npos);
}

}  // namespace
}  // namespace taeda
