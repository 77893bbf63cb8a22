#include "taeda/data/worker.h"

namespace taeda::inline v0_2::data {

namespace {

thread_local detail::BatchGenerator* current = nullptr;

/// One step of SplitMix64 (Steele, Lea, Flood 2014): neighbours get unrelated seeds.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

}  // namespace

Generator& worker_generator() { return current ? current->get() : default_generator(kCPU); }

namespace detail {

BatchGenerator::BatchGenerator(uint64_t epoch_seed, int64_t batch)
    : seed_(mix(epoch_seed + mix(static_cast<uint64_t>(batch)))), outer_(current) {
  current = this;
}

BatchGenerator::~BatchGenerator() { current = outer_; }

Generator& BatchGenerator::get() {
  if (!generator_) generator_ = Generator(kCPU, seed_);
  return *generator_;
}

}  // namespace detail
}  // namespace taeda::data
