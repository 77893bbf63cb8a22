// Trains a small convolutional network on Fashion-MNIST: `taeda train fashion-mnist`.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "taeda/base/device.h"
#include "taeda/vision/mnist.h"

namespace taeda::tool {

struct TrainOptions {
  std::string device = "auto";
  std::string data = vision::datasets::FashionMNIST::kDebianRoot;
  std::string out = "out";
  int64_t epochs = 5;
  int64_t batch_size = 100;
  double lr = 3e-3;
  int64_t workers = 2;
  int64_t threads = 0;  ///< 0: as many as there are cores
  int64_t seed = 0;
};

/// Loss and accuracy over some images, and the time that took.
struct Score {
  double loss = 0;
  double accuracy = 0;  ///< fraction
  double seconds = 0;
  int64_t images = 0;
};

struct EpochRecord {
  int64_t epoch = 0;
  Score train, test;
};

/// Set by Ctrl-C. Training stops at the next batch; the checkpoint of the last whole epoch stays.
extern volatile std::sig_atomic_t interrupted;
struct Interrupted {};

/// Trains, reports on the way, and leaves checkpoint, picture and result in `options.out`. Throws
/// Interrupted after Ctrl-C.
void train_fashion_mnist(const TrainOptions& options, Device device,
                         const vision::datasets::FashionMNIST& train_set,
                         const vision::datasets::FashionMNIST& test_set);

}  // namespace taeda::tool
