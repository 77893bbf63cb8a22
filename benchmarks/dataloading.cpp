// An epoch over 60,000 images of 28x28 floats in memory, shuffled, 1000 to a batch: example by
// example, and with a data set that gathers a batch at once.
#include "harness.h"

namespace data = torch::data;
using torch::Tensor;

namespace {

constexpr int64_t kImages = 60000;
constexpr int64_t kBatch = 1000;

/// Answers index by index; the loader stacks what it gets.
class Single : public data::datasets::Dataset<Single> {
 public:
  Single(Tensor images, Tensor labels) : images_(std::move(images)), labels_(std::move(labels)) {}
  data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {images_[i], labels_[i]};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }

 private:
  Tensor images_, labels_;
};

/// Answers a whole batch with one index_select for each tensor.
class Gathered : public data::datasets::BatchDataset<Gathered, data::Example<>> {
 public:
  Gathered(Tensor images, Tensor labels) : images_(std::move(images)), labels_(std::move(labels)) {}
  data::Example<> get_batch(c10::ArrayRef<size_t> indices) override {
    Tensor rows = torch::empty({static_cast<int64_t>(indices.size())}, torch::kLong);
    std::copy(indices.begin(), indices.end(), rows.data_ptr<int64_t>());
    return {images_.index_select(0, rows), labels_.index_select(0, rows)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }

 private:
  Tensor images_, labels_;
};

template <class Dataset>
void epochs(bench::Runner& r, const std::string& name, const Dataset& dataset) {
  for (size_t workers : {0, 1, 2}) {
    const std::string full = name + "_w" + std::to_string(workers);
    if (!r.wants(full)) continue;
    auto loader = data::make_data_loader<data::samplers::RandomSampler>(
        dataset, data::DataLoaderOptions().batch_size(kBatch).workers(workers));
    r.run(full, [&] {
      for (auto& batch : *loader) bench::keep(batch.data);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner runner(bench::parse(argc, argv));
  torch::manual_seed(0);
  const Tensor images = torch::rand({kImages, 1, 28, 28});
  const Tensor labels = torch::randint(0, 10, {kImages}, torch::kLong);
  epochs(runner, "dataloading/epoch_60k_single",
         Single(images, labels).map(data::transforms::Stack<>()));
  epochs(runner, "dataloading/epoch_60k_gathered", Gathered(images, labels));
  // The copy alone, in order: what an epoch cannot be faster than.
  runner.run("dataloading/copy_60k", [&] {
    for (int64_t i = 0; i < kImages; i += kBatch) bench::keep(images.narrow(0, i, kBatch).clone());
  });
}
