// What libtorch's programs find under at and c10 beside operations: the context, threads, shapes,
// indexing by functions, types, events, warnings.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorIndexing.h>
#include <ATen/WrapDimUtils.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <future>

#include "tests/error_of.h"

namespace {

using taeda::error_of;

TEST(Context, SwitchesAreTheLibrarys) {
  at::Context& context = at::globalContext();
  EXPECT_EQ(context.hasCUDA(), torch::cuda::is_available());
  EXPECT_EQ(at::hasCUDA(), torch::cuda::is_available());
  EXPECT_EQ(at::getNumGPUs(), static_cast<size_t>(torch::cuda::device_count()));
  context.setFloat32MatmulPrecision("high");
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGH);
  EXPECT_TRUE(context.allowTF32CuBLAS());
  context.setFloat32MatmulPrecision(at::Float32MatmulPrecision::HIGHEST);
  EXPECT_EQ(taeda::get_float32_matmul_precision(), "highest");
  context.setBenchmarkCuDNN(true);
  EXPECT_TRUE(taeda::backends::cudnn::benchmark);
  context.setBenchmarkCuDNN(false);
  context.setDeterministicAlgorithms(true, false);
  EXPECT_TRUE(context.deterministicAlgorithms());
  context.setDeterministicAlgorithms(false, false);
  EXPECT_EQ(error_of([&] { context.setSDPUseMath(false); }),
            "setSDPUseMath(false): there is no other way to compute it");
  at::Generator generator = context.defaultGenerator(at::kCPU);
  generator.set_current_seed(3);
  EXPECT_EQ(at::globalContext().defaultGenerator(at::kCPU).current_seed(), 3u);
}

TEST(Parallel, ReductionsAndTasks) {
  const int64_t sum = at::parallel_reduce(
      0, 1000, 7, int64_t{0},
      [](int64_t begin, int64_t end, int64_t identity) {
        for (int64_t i = begin; i < end; ++i) identity += i;
        return identity;
      },
      std::plus<int64_t>());
  EXPECT_EQ(sum, 999 * 1000 / 2);
  EXPECT_EQ(at::parallel_reduce(
                3, 3, 1, 5.0, [](int64_t, int64_t, double) { return 1.0; }, std::plus<double>()),
            5.0);
  std::promise<bool> grad;
  {
    const torch::NoGradGuard guard;
    at::launch([&grad] { grad.set_value(torch::GradMode::is_enabled()); });
  }
  EXPECT_FALSE(grad.get_future().get()) << "a task runs in the state of who launched it";
  EXPECT_EQ(at::divup(7, 2), 4);
  EXPECT_EQ(at::get_thread_num(), 0);
  EXPECT_GE(at::get_num_interop_threads(), 1);
  at::set_num_interop_threads(3);
  EXPECT_EQ(at::get_num_interop_threads(), 3);
  EXPECT_NE(at::get_parallel_info().find("OpenMP"), std::string::npos);
  EXPECT_EQ(error_of([] { at::set_num_interop_threads(0); }),
            "Expected positive number of threads");
}

TEST(Shapes, BroadcastByFunctions) {
  const torch::Tensor column = torch::arange(2).reshape({2, 1}), row = torch::arange(3);
  const auto [a, b] = at::expand_outplace(column, row);
  EXPECT_TRUE(a->equal(column.expand({2, 3})));
  EXPECT_TRUE((*b).equal(row.expand({2, 3})));
  EXPECT_TRUE(at::expand_inplace(torch::zeros({2, 3}), row)->equal(row.expand({2, 3})));
  EXPECT_TRUE(at::is_expandable_to({1, 3}, {4, 2, 3}));
  EXPECT_FALSE(at::is_expandable_to({2, 3}, {3}));
  EXPECT_TRUE(at::are_expandable({2, 1}, {3}));
  EXPECT_FALSE(at::are_expandable({2}, {3}));
  const std::vector<int64_t> high{2, 1}, wide{3};
  EXPECT_EQ(at::infer_size(high, wide), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(at::infer_size({2, -1}, 6), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(at::infer_dense_strides({2, 3}, {1, 7}), (std::vector<int64_t>{1, 2}));
  const auto [sizes, strides] = at::inferExpandGeometry({3}, {1}, {2, 3});
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(strides, (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(at::sum_to(torch::ones({2, 3}), {3}).equal(torch::full({3}, 2.0)));
  const torch::Tensor x = torch::ones({3});
  EXPECT_TRUE(at::sum_to(x, {3}).is_alias_of(x));
  EXPECT_FALSE(at::sum_to(x, {3}, true).is_alias_of(x));
  EXPECT_EQ(error_of([] { at::expand_size(torch::Tensor(), {2}, "mine"); }),
            "mine(...) called with an undefined Tensor");
}

TEST(Shapes, DimensionsFromTheEnd) {
  EXPECT_EQ(at::maybe_wrap_dim(-1, 3), 2);
  std::vector<int64_t> dims{-1, 0};
  at::maybe_wrap_dims(dims, 2);
  EXPECT_EQ(dims, (std::vector<int64_t>{1, 0}));
  EXPECT_THROW(at::maybe_wrap_dim(2, 2), c10::IndexError);
  EXPECT_EQ(error_of([] { at::maybe_wrap_dim(0, 0, false); }),
            "dimension specified as 0 but tensor has no dimensions");
}

TEST(Indexing, ByFunctions) {
  using namespace at::indexing;
  torch::Tensor x = torch::arange(6).reshape({2, 3});
  EXPECT_TRUE(get_item(x, {TensorIndex(1), TensorIndex(Slice(1))}).equal(torch::tensor({4, 5})));
  set_item(x, {TensorIndex(0)}, torch::tensor({{7, 8, 9}}));
  EXPECT_TRUE(x[0].equal(torch::tensor({7, 8, 9})));
  EXPECT_TRUE(
      dispatch_index(x, {torch::Tensor(), torch::tensor({2})}).equal(torch::tensor({{9}, {5}})));
  dispatch_index_put_(x, {torch::tensor({1})}, torch::tensor(0));
  EXPECT_TRUE(x[1].equal(torch::zeros({3}, torch::kLong)));
  copy_to(x[0], torch::ones({1, 1, 3}, torch::kLong));
  EXPECT_EQ(x.sum().item<int64_t>(), 3);
}

TEST(Types, StandForOptionsAndDtype) {
  const torch::Tensor x = torch::ones({2}, torch::kDouble);
  EXPECT_FALSE(x.type().is_cuda());
  EXPECT_EQ(x.type().toString(), "CPUDoubleType");
  EXPECT_EQ(torch::zeros({2}, x.type()).dtype(), torch::kDouble);
  EXPECT_EQ(x.type(), at::CPU(at::kDouble));
  EXPECT_NE(x.type(), at::CUDA(at::kDouble));
  const int bytes =
      AT_DISPATCH_FLOATING_TYPES(x.type(), "bytes", [] { return int{sizeof(scalar_t)}; });
  EXPECT_EQ(bytes, 8);
  const c10::Layout layout = x.layout();
  EXPECT_EQ(layout, at::kStrided);
  EXPECT_EQ(c10::str(x.layout(), " ", torch::eye(2).to_sparse().layout()), "Strided Sparse");
  EXPECT_EQ(torch::TensorOptions(c10::kStrided).layout(), c10::kStrided);
  EXPECT_EQ(c10::toString(torch::dtype(torch::kLong)).substr(0, 26), "TensorOptions(dtype=Long, ");
  EXPECT_TRUE(torch::equal_if_defined(torch::Tensor(), torch::Tensor()));
  EXPECT_FALSE(torch::equal_if_defined(x, torch::Tensor()));
  const auto takes_base = [](const at::TensorBase& t) { return t.numel(); };
  EXPECT_EQ(takes_base(x), 2);
}

TEST(Generators, TakeTheirStateFromTensors) {
  at::Generator generator(at::kCPU, 7);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  const auto state = generator.get_state();
  const double first = generator.uniform();
  generator.set_state(
      torch::tensor(std::vector<int64_t>(state.begin(), state.end())).to(torch::kByte));
  EXPECT_EQ(generator.uniform(), first);
  EXPECT_TRUE(generator.defined());
}

TEST(Events, AreOfOneTypeOfDevice) {
  c10::Event event(at::kCPU);
  EXPECT_FALSE(event.was_marked_for_recording());
  const c10::Stream stream(c10::Stream::DEFAULT, at::Device(at::kCPU));
  event.recordOnce(stream);
  event.recordOnce(stream);
  EXPECT_TRUE(event.was_marked_for_recording());
  EXPECT_TRUE(event.query());
  EXPECT_EQ(error_of([] {
              c10::Event other(at::kCUDA);
              other.record(c10::Stream(c10::Stream::UNSAFE, at::Device(at::kCPU), 0));
            }).substr(0, 17),
            "Event device type");
}

TEST(Warnings, GoToTheHandler) {
  struct Keep : c10::WarningHandler {
    std::vector<std::string> seen;
    void process(const c10::Warning& warning) override { seen.push_back(warning.msg()); }
  } keep;
  {
    const c10::WarningHandlerGuard guard(&keep);
    TORCH_WARN("number ", 1);
    for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("once");
    c10::Warning::set_warnAlways(true);
    for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("always");
    c10::Warning::set_warnAlways(false);
  }
  EXPECT_EQ(keep.seen, (std::vector<std::string>{"number 1", "once", "always", "always"}));
}

TEST(Warnings, HaveKindsAndScopesByLibtorchsNames) {
  struct Keep : torch::WarningHandler {
    std::vector<std::string> seen;
    void process(const c10::Warning& warning) override {
      seen.push_back(std::string(warning.category()) + ": " + warning.msg());
    }
  } keep;
  const c10::WarningUtils::WarningHandlerGuard guard(&keep);
  TORCH_WARN_DEPRECATION("number ", 1);
  TORCH_WARN_WITH(c10::UserWarning, "number ", 2);
  torch::stft(torch::ones({16}), 8, {}, {}, {}, true, "reflect", false, {}, true);
  {
    const c10::WarningUtils::WarnAlways always;
    torch::stft(torch::ones({16}), 8, {}, {}, {}, true, "reflect", false, {}, true);
  }
  EXPECT_FALSE(c10::WarningUtils::get_warnAlways());
  ASSERT_EQ(keep.seen.size(), 4u);
  EXPECT_EQ(keep.seen[0], "DeprecationWarning: number 1");
  EXPECT_EQ(keep.seen[1], "UserWarning: number 2");
  EXPECT_EQ(keep.seen[2], keep.seen[3]) << "the library's own: a window was not provided";
}

TEST(TempFiles, GoWithTheirObjects) {
  std::string file, folder;
  {
    const c10::TempFile made = c10::make_tempfile("taeda-names-");
    const c10::TempDir around = c10::make_tempdir();
    file = made.name, folder = around.name;
    EXPECT_GE(made.fd, 0);
    EXPECT_NE(file.find("taeda-names-"), std::string::npos);
    torch::save(torch::ones({2}), file);
    torch::save(torch::ones({2}), folder + "/x.pt");
    EXPECT_TRUE(std::ifstream(file).good());
  }
  EXPECT_FALSE(std::ifstream(file).good());
  EXPECT_FALSE(std::ifstream(folder + "/x.pt").good());
}

TEST(Errors, KeepTheirContext) {
  c10::Error error("bad");
  error.add_context("while loading");
  EXPECT_EQ(error.context(), std::vector<std::string>{"while loading"});
  EXPECT_STREQ(error.what(), "bad\nwhile loading");
}

}  // namespace
