#include "taeda/data/loader.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::data::detail {

std::shared_ptr<samplers::Sampler> choose_sampler(const LoaderConfig& config,
                                                  std::optional<size_t> size,
                                                  const std::optional<Generator>& generator) {
  if (config.sampler) return config.sampler;
  TAEDA_CHECK(size.has_value(),
              "Expected the dataset to be sized in order to construct the Sampler");
  if (config.shuffle.value_or(false))
    return std::make_shared<samplers::RandomSampler>(*size, false, std::nullopt, generator);
  return std::make_shared<samplers::SequentialSampler>(*size);
}

size_t count_batches(const samplers::Sampler& sampler, const LoaderConfig& config) {
  if (const auto* batches = dynamic_cast<const samplers::BatchSampler*>(&sampler))
    return batches->batches();
  const size_t n = sampler.size(), b = config.batch_size;
  return config.drop_last ? n / b : (n + b - 1) / b;
}

}  // namespace taeda::data::detail
