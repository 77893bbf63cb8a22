// What `taeda train` can be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taeda::tool {

struct TrainOptions {
  std::string task;  ///< the name of the subcommand
  std::string model;
  std::string device = "auto";
  std::string data = {};  ///< folder or file
  std::string test = {};  ///< a second one to test on; empty: a part of the first
  std::string out = "out";
  int64_t epochs = 5;
  int64_t batch_size = 100;
  double lr = 3e-3;
  int64_t workers = 2;
  int64_t threads = 0;  ///< 0: as many as there are cores
  int64_t nproc = 1;    ///< processes that share each batch
  int64_t seed = 0;
  bool amp = false, data_parallel = false, tensorboard = false;
  std::string resume = {};  ///< a checkpoint, "auto" or empty
  int64_t stop_after = 0;   ///< steps; 0: never

  // Of single tasks.
  std::string target = "-1";  ///< csv: name or position of the column
  std::string delimiter = ",";
  bool header = true, regression = false;
  int64_t hidden = 64;              ///< csv: width of the network
  int64_t image_size = 64;          ///< folder
  int64_t context = 64;             ///< text: length of a piece
  int64_t layers = 2, width = 128;  ///< text: size of the network

  std::vector<std::string> command_line = {};
};

}  // namespace taeda::tool
