// c10::cuda: streams and guards, on simulated devices that answer to the name.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>

namespace {

// Before any device is asked for.
const bool simulated = setenv("TAEDA_SIM_AS_CUDA", "2", 1) == 0;

TEST(Cuda, GuardsMakeADeviceCurrent) {
  ASSERT_TRUE(simulated && torch::cuda::is_available());
  {
    const c10::cuda::CUDAGuard guard(1);
    EXPECT_EQ(torch::cuda::current_device(), 1);
    c10::OptionalDeviceGuard inner(torch::Device(torch::kCUDA, 0));
    EXPECT_EQ(torch::cuda::current_device(), 0);
    inner.reset_device(torch::Device(torch::kCUDA, 1));
    EXPECT_EQ(inner.current_device(), torch::Device(torch::kCUDA, 1));
    EXPECT_EQ(torch::cuda::current_device(), 1);
  }
  EXPECT_EQ(torch::cuda::current_device(), 0);
}

TEST(Cuda, StreamsAreMadeCurrent) {
  const auto before = at::cuda::getCurrentCUDAStream();
  EXPECT_TRUE(before == at::cuda::getDefaultCUDAStream());
  const auto stream = c10::cuda::getStreamFromPool(/*high_priority=*/true);
  {
    const c10::cuda::CUDAStreamGuard guard(stream);
    EXPECT_TRUE(at::cuda::getCurrentCUDAStream() == stream);
    const auto x = torch::ones({3}, torch::kCUDA);
    stream.synchronize();
    EXPECT_EQ(x.sum().item<float>(), 3);
  }
  EXPECT_TRUE(at::cuda::getCurrentCUDAStream() == before);
}

}  // namespace
