#include <gmock/gmock.h>

#include <numeric>

#include "taeda/data/loader.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda::data {
namespace {

using datasets::TensorDataset;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
Tensor iota(std::vector<int64_t> sizes) {
  Tensor t = empty(sizes, dtype_of<T>());
  std::iota(t.data_ptr<T>(), t.data_ptr<T>() + t.numel(), T{});
  return t;
}

TEST(GatherRows, CopiesRowsOfEveryWidth) {
  for (ScalarType t : {kBool, kShort, kFloat, kLong, kComplexDouble}) {
    const Tensor source = iota<float>({5, 3}).to(t);
    for (const Tensor& s : {source, source.select(1, 1), source.slice(1, 0, 2)}) {
      const Tensor got = gather_rows(s, std::vector<size_t>{4, 0, 0, 2});
      EXPECT_EQ(got.dtype(), t);
      ASSERT_EQ(got.size(0), 4);
      const int64_t rows[] = {4, 0, 0, 2};
      for (int64_t i = 0; i < 4; ++i)
        EXPECT_EQ(values<float>(got.select(0, i).to(kFloat)),
                  values<float>(s.select(0, rows[i]).to(kFloat)));
    }
  }
}

TEST(GatherRows, SplitsLargeBatchesOverThreads) {
  const Tensor source = iota<float>({3000, 700});
  std::vector<size_t> indices(3000);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = (i * 7) % indices.size();
  const Tensor got = gather_rows(source, indices);
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(got.data_ptr<float>()[i * 700], source.data_ptr<float>()[indices[i] * 700]);
    EXPECT_EQ(got.data_ptr<float>()[i * 700 + 699],
              source.data_ptr<float>()[indices[i] * 700 + 699]);
  }
}

TEST(GatherRows, EmptyBatchesAndEmptyRows) {
  EXPECT_THAT(gather_rows(iota<float>({3, 2}), std::vector<size_t>{}).sizes().vec(),
              ElementsAre(0, 2));
  EXPECT_THAT(gather_rows(iota<float>({3, 0}), std::vector<size_t>{1, 2}).sizes().vec(),
              ElementsAre(2, 0));
}

TEST(GatherRows, BytesBecomeUnitFloats) {
  const Tensor source = iota<float>({600, 256}).remainder(256).to(kByte);
  for (const Tensor& s : {source, source.slice(1, 3, 250), source.select(1, 7)}) {
    std::vector<size_t> indices(600);
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = (i * 7) % indices.size();
    const Tensor expected = gather_rows(s, indices).to(kFloat).div_(255);
    const Tensor got = gather_unit_rows(s, indices);
    EXPECT_EQ(got.dtype(), kFloat);
    EXPECT_EQ(got.sizes(), expected.sizes());
    EXPECT_EQ(values<float>(got), values<float>(expected));
  }
  EXPECT_EQ(gather_unit_rows(source, std::vector<size_t>{}).numel(), 0);
  EXPECT_THROW(gather_unit_rows(source, std::vector<size_t>{600}), IndexError);
}

TEST(GatherRows, NamesAnIndexBeyondTheEnd) {
  const Tensor t = iota<float>({3, 2});
  EXPECT_THROW(gather_rows(t, std::vector<size_t>{0, 3}), IndexError);
  EXPECT_THAT(error_of([&] {
                gather_rows(t, std::vector<size_t>{0, 3});
              }),
              HasSubstr("index 3 is out of bounds for dimension 0 with size 3"));
  EXPECT_THAT(error_of([&] { gather_rows(t.select(0, 0).select(0, 0), std::vector<size_t>{0}); }),
              HasSubstr("at least one dimension"));
}

TEST(StackExamples, StacksAndRefusesUnequalShapes) {
  const Tensor a = iota<float>({2, 2});
  const Tensor b = a.transpose(0, 1);
  const Tensor s = stack_examples({a, b});
  EXPECT_THAT(s.sizes().vec(), ElementsAre(2, 2, 2));
  EXPECT_THAT(values<float>(s), ElementsAre(0, 1, 2, 3, 0, 2, 1, 3));
  EXPECT_EQ(
      error_of([&] {
        stack_examples({a, iota<float>({3})});
      }),
      "stack expects each tensor to be equal size, but got [2, 2] at entry 0 and [3] at entry 1");
  EXPECT_EQ(error_of([&] { stack_examples({}); }), "stack expects a non-empty TensorList");
}

TEST(TensorDataset, OneTwoAndThreeTensors) {
  const Tensor x = iota<float>({4, 2}), y = iota<int64_t>({4}), z = iota<int32_t>({4});
  TensorDataset one(x);
  TensorDataset two(x, y);
  TensorDataset three(x, y, z);
  EXPECT_EQ(one.size(), 4u);
  EXPECT_THAT(values<float>(one.get(2).data), ElementsAre(4, 5));
  EXPECT_THAT(values<float>(two.get(3).data), ElementsAre(6, 7));
  EXPECT_EQ(two.get(3).target.item<int64_t>(), 3);
  EXPECT_EQ(three.get(1)[2].item<int>(), 1);
  const auto batch = three.get_stacked(std::vector<size_t>{3, 1});
  EXPECT_THAT(values<float>(batch[0]), ElementsAre(6, 7, 2, 3));
  EXPECT_THAT(values<int32_t>(batch[2]), ElementsAre(3, 1));
  EXPECT_EQ(error_of([&] { TensorDataset(x, iota<float>({3})); }), "Size mismatch between tensors");
}

TEST(TensorDataset, FromAListOfExamples) {
  TensorDataset d(std::vector<Tensor>{iota<float>({2}), iota<float>({2})});
  EXPECT_EQ(d.size(), 2u);
  EXPECT_THAT(values<float>(d.get(1).data), ElementsAre(0, 1));
}

TEST(TensorDataset, FastPathEqualsCollation) {
  TensorDataset d(iota<float>({10, 3}), iota<int64_t>({10}));
  const std::vector<size_t> indices = {7, 7, 0, 9};
  const auto fast = d.get_stacked(indices);
  const auto slow = collate(d.get_batch(indices));
  EXPECT_EQ(values<float>(fast.data), values<float>(slow.data));
  EXPECT_EQ(values<int64_t>(fast.target), values<int64_t>(slow.target));
}

TEST(Subset, ReadsThroughItsIndices) {
  datasets::Subset subset(TensorDataset(iota<float>({10}), iota<int64_t>({10})), {9, 4, 2});
  EXPECT_EQ(subset.size(), 3u);
  EXPECT_EQ(subset.get(1).target.item<int64_t>(), 4);
  EXPECT_THAT(values<int64_t>(subset.get_stacked(std::vector<size_t>{2, 0}).target),
              ElementsAre(2, 9));
  EXPECT_THROW(subset.get(3), IndexError);
}

TEST(Collate, NumbersTextsAndStructures) {
  EXPECT_THAT(values<int64_t>(collate(std::vector<int>{3, 4})), ElementsAre(3, 4));
  EXPECT_THAT(values<bool>(collate(std::vector<bool>{true, false})), ElementsAre(true, false));
  EXPECT_THAT(values<double>(collate(std::vector<double>{.5})), ElementsAre(.5));
  EXPECT_THAT(collate(std::vector<std::string>{"a", "b"}), ElementsAre("a", "b"));

  using Row = std::tuple<Tensor, int, std::string>;
  const auto [t, n, s] =
      collate(std::vector<Row>{{iota<float>({2}), 5, "x"}, {iota<float>({2}), 6, "y"}});
  EXPECT_THAT(t.sizes().vec(), ElementsAre(2, 2));
  EXPECT_THAT(values<int64_t>(n), ElementsAre(5, 6));
  EXPECT_THAT(s, ElementsAre("x", "y"));

  const auto columns = collate(std::vector<std::vector<int>>{{1, 2, 3}, {4, 5, 6}});
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_THAT(values<int64_t>(columns[1]), ElementsAre(2, 5));

  const auto map = collate(std::vector<std::map<std::string, int>>{{{"k", 1}}, {{"k", 2}}});
  EXPECT_THAT(values<int64_t>(map.at("k")), ElementsAre(1, 2));

  const auto nested = collate(std::vector<Example<std::pair<int, int>, std::array<float, 2>>>{
      {{1, 2}, {.5f, .25f}}, {{3, 4}, {1.f, 2.f}}});
  EXPECT_THAT(values<int64_t>(nested.data.second), ElementsAre(2, 4));
  EXPECT_THAT(values<float>(nested.target[1]), ElementsAre(.25f, 2.f));
}

TEST(Collate, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(error_of([] {
              collate(std::vector<std::vector<int>>{{1, 2}, {3}});
            }),
            "each element in list of batch should be of equal size");
  EXPECT_THAT(error_of([] {
                collate(std::vector<std::map<std::string, int>>{{{"k", 1}}, {{"j", 2}}});
              }),
              HasSubstr("not every example has the key k"));
  EXPECT_THAT(error_of([] { collate(std::vector<int>{}); }), HasSubstr("at least one example"));
}

TEST(ForEachTensor, FindsTensorsInStructures) {
  std::tuple<Example<>, std::vector<Tensor>, int, std::map<int, Tensor>> batch;
  int found = 0;
  std::get<1>(batch).resize(2);
  std::get<3>(batch)[1] = Tensor();
  for_each_tensor(batch, [&](Tensor&) { ++found; });
  EXPECT_EQ(found, 5);
}

struct Squares : datasets::Dataset<Squares, int> {
  int get(size_t index) override { return static_cast<int>(index * index); }
  std::optional<size_t> size() const override { return 5; }
};

TEST(Map, FunctionsTransformsAndStack) {
  auto doubled = Squares().map([](int v) { return v * 2.5; });
  EXPECT_THAT(doubled.get_batch(std::vector<size_t>{1, 3}), ElementsAre(2.5, 22.5));
  EXPECT_EQ(doubled.get(2), 10.);
  EXPECT_EQ(doubled.size(), 5u);

  auto lambda = Squares().map(transforms::Lambda<int>([](int v) { return v + 1; }));
  EXPECT_THAT(lambda.get_batch(std::vector<size_t>{0, 2}), ElementsAre(1, 5));

  auto stacked = Squares().map(transforms::Stack<int>());
  EXPECT_THAT(values<int64_t>(stacked.get_batch(std::vector<size_t>{4, 1})), ElementsAre(16, 1));

  auto sum = Squares().map(transforms::BatchLambda<std::vector<int>, int>(
      [](std::vector<int> v) { return std::accumulate(v.begin(), v.end(), 0); }));
  EXPECT_EQ(sum.get_batch(std::vector<size_t>{1, 2, 3}), 14);

  Squares kept;
  EXPECT_THAT(kept.map([](int v) { return -v; }).get_batch(std::vector<size_t>{2}),
              ElementsAre(-4));
}

TEST(Map, StackKeepsTheFastPathOfTensors) {
  auto d = TensorDataset(iota<float>({6, 2})).map(transforms::Stack<TensorExample>());
  EXPECT_THAT(values<float>(d.get_batch(std::vector<size_t>{5, 0}).data),
              ElementsAre(10, 11, 0, 1));
}

TEST(SharedDataset, IsOneForAllCopies) {
  auto shared = datasets::make_shared_dataset<Squares>();
  auto copy = shared;
  EXPECT_EQ(&*shared, &*copy);
  EXPECT_EQ(copy.get(3), 9);
  EXPECT_THAT(copy.get_batch(std::vector<size_t>{2}), ElementsAre(4));
}

}  // namespace
}  // namespace taeda::data
