// The iterator's checks of what kernels will read and write.
#include "taeda/tensor/iter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using testing::HasSubstr;

const char* const kShared =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location";

/// Memory that is said to be on a device that no kernel is asked for.
Tensor said_to_be_on(Device device, const Tensor& t, Layout layout) {
  Storage storage = Storage::from_user(t.data_ptr(), static_cast<size_t>(t.nbytes()), device, {});
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), std::move(layout), t.dtype()));
}

TEST(Iter, TensorsReachNoFurtherThanTheirStorage) {
  const Tensor x = ones({6});
  const auto laid = [&](Layout l) {
    return Tensor(make_intrusive<TensorImpl>(x.storage(), std::move(l), kFloat));
  };
  EXPECT_THAT(error_of([&] {
                laid({{2, 3}, {3, 1}, 1}).add(1);
              }),
              HasSubstr("add: a tensor of sizes [2, 3], strides [3, 1] and offset 1 reaches beyond "
                        "its storage of 24 bytes"));
  EXPECT_THAT(error_of([&] { laid({{2, 3}, {1, 2}, 1}).add(1); }), HasSubstr("reaches beyond"));
  EXPECT_THAT(error_of([&] { laid({{7}, {1}, 0}).fill_(1); }), HasSubstr("reaches beyond"));
  EXPECT_EQ(laid({{2, 2}, {3, 2}, 0}).add(1).sum().item<float>(), 8);
  EXPECT_EQ(laid({{0, 3}, {3, 1}, 8}).add(1).numel(), 0) << "nothing is nowhere";
}

TEST(Iter, OverlapsArePyTorchs) {
  const Tensor x = arange(6).to(kFloat);
  const auto add = [](const Tensor& to, const Tensor& t) { return error_of([&] { to.add_(t); }); };
  EXPECT_THAT(add(x.slice(0, 1), x.slice(0, 0, 5)), HasSubstr(kShared));
  EXPECT_THAT(add(x.view({2, 3}), x.view({3, 2}).t()), HasSubstr(kShared));
  EXPECT_THAT(add(x.select(0, 0), x), HasSubstr(kShared));
  EXPECT_THAT(add(x.slice(0, 1), x.select(0, 1)), HasSubstr(kShared));
  EXPECT_THAT(error_of([&] { x.slice(0, 1).copy_(x.slice(0, 0, 5)); }), HasSubstr(kShared));
  EXPECT_EQ(add(x.slice(0, 1), x.select(0, 0)), "no error");
  EXPECT_EQ(add(x.slice(0, 0, 6, 2), x.slice(0, 1, 6, 2)), "no error");
  EXPECT_EQ(add(x, x), "no error");
  EXPECT_THAT(add(x.expand({2, 6}), ones({6})),
              HasSubstr("more than one element of the written-to tensor refers to a single memory "
                        "location"));
}

TEST(Iter, IndexedWritesDoNotReadWhatTheyWrite) {
  const Tensor x = arange(6).to(kFloat), i = tensor({int64_t{0}, int64_t{1}}), n = arange(6);
  const Tensor part = x.slice(0, 0, 2), indices = n.slice(0, 0, 2);
  for (const std::string& error : {
           error_of([&] { x.scatter_(0, i, part); }),
           error_of([&] { x.scatter_add_(0, i, part); }),
           error_of([&] { x.index_add_(0, i, part); }),
           error_of([&] { x.index_copy_(0, i, part); }),
           error_of([&] { x.index_put_({i}, part); }),
           error_of([&] { n.scatter_(0, indices, 1); }),
           error_of([&] { n.index_fill_(0, indices, 1); }),
           error_of([&] { n.index_put_({indices}, full({}, int64_t{3})); }),
       })
    EXPECT_THAT(error, HasSubstr(kShared));
  EXPECT_EQ(x.sum().item<float>(), 15);
  EXPECT_EQ(error_of([&] { x.index_copy_(0, i, part.clone()); }), "no error");
  const Tensor twice = x.expand({2, 6}), rows = ones({2, 6});
  for (const std::string& error : {error_of([&] { twice.index_add_(0, i, rows); }),
                                   error_of([&] { twice.index_copy_(0, i, rows); }), error_of([&] {
                                     twice.scatter_(0, zeros({1, 6}, kLong), rows);
                                   })})
    EXPECT_THAT(error, HasSubstr("more than one element of the written-to tensor"));
}

TEST(Iter, AddressesOfDifferentDevicesDoNotOverlap) {
  const Tensor x = ones({6});
  const Tensor number = x.slice(0, 0, 1).reshape({}),
               there = said_to_be_on(Device("sim:0"), x, Layout::contiguous({6}));
  Tensor out = there;
  Tensor* outputs[] = {&out};
  const Iter it("add", outputs, kFloat, {Operand(there), Operand(number)}, kFloat);
  EXPECT_EQ(it.device(), Device("sim:0"));
  EXPECT_TRUE(it.is_scalar(2));
}

}  // namespace
}  // namespace taeda
