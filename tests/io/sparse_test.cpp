// Files and other libraries take dense tensors: what they say of sparse ones.
#include <gtest/gtest.h>

#include "taeda/io/dlpack.h"
#include "taeda/io/npy.h"
#include "taeda/io/pickle_writer.h"
#include "taeda/io/safetensors.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/sparse/sparse.h"
#include "tests/error_of.h"

namespace taeda::io {
namespace {

TEST(SparseTensors, AreNotSaved) {
  const Tensor s = eye(2).to_sparse();
  EXPECT_EQ(error_of([&] { serialize_npy(s); }),
            "a sparse tensor cannot be saved: save its indices and values");
  EXPECT_EQ(error_of([&] { pickle_save(s); }),
            "a sparse tensor cannot be saved: save its indices and values");
  EXPECT_EQ(error_of([&] { serialize_safetensors({{"edges", s}}); }),
            "the tensor 'edges' is sparse, but files hold dense tensors: save its indices and "
            "values");
  EXPECT_EQ(error_of([&] { to_dlpack(s); }),
            "Can't export tensors with layout other than strided");
}

}  // namespace
}  // namespace taeda::io
