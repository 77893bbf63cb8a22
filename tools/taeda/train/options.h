// What `taeda train` can be told, and one list of it for everything that goes through all settings.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace taeda::tool {

/// A number that nobody gave: the optimizer's or the schedule's own.
constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

struct TrainOptions {
  std::string task;  ///< the name of the subcommand
  std::string model;
  std::string device = "auto";
  std::string data = {};    ///< folder or file
  std::string test = {};    ///< a second one to test on; empty: a part of the first
  std::string out = "out";  ///< where out_given is false, one of out, out-2, ...
  bool out_given = false, force = false;
  int64_t epochs = 5;
  int64_t batch_size = 100;
  double lr = 3e-3;
  std::string optimizer = "adam";
  double weight_decay = kUnset, momentum = kUnset, max_norm = kUnset;
  std::string schedule = "one-cycle";
  double warmup = kUnset;      ///< epochs
  int64_t step_size = 0;       ///< epochs; 0: a third of them
  double gamma = 0.1;          ///< of the schedules step and exponential
  int64_t early_stopping = 0;  ///< epochs without a better one; 0: never
  std::string pretrained = {};
  int64_t workers = 2;
  int64_t threads = 0;  ///< 0: as many as there are cores
  int64_t nproc = 1;    ///< processes that share each batch
  int64_t seed = 0;
  bool amp = false, data_parallel = false, tensorboard = false, json = false;
  bool find_lr = false;
  std::string resume = {};  ///< a checkpoint, "auto" or empty
  int64_t stop_after = 0;   ///< steps; 0: never

  // Of single tasks.
  std::string target = "-1";  ///< csv: name or position of the column
  std::string delimiter = ",";
  bool header = true, regression = false;
  std::string missing = "error";    ///< csv: error, drop or mean
  std::string categories = {};      ///< csv: columns of words, comma-separated
  int64_t hidden = 64;              ///< csv: width of the network
  int64_t image_size = 64;          ///< folder
  int64_t context = 64;             ///< text: length of a piece
  int64_t layers = 2, width = 128;  ///< text: size of the network

  std::vector<std::string> command_line = {};
};

/// An option that belongs to a run and not to the call that starts or continues it.
struct Setting {
  const char* name;  ///< the flag without its dashes, and the key in run.toml
  std::variant<std::string*, int64_t*, double*, bool*> value;
  /// Whether a run goes on as if nothing had happened only with the same value.
  bool lasting = true;
  const char* tasks = "";  ///< those that have it, comma-separated; empty: all

  bool is_of(const std::string& task) const;
  /// Whether there is no value: an unset number, an empty text.
  bool is_unset() const;
  /// "0.003", "on", "default" where it is unset.
  std::string text() const;
};
/// All of them, in the order in which run.toml has them.
std::vector<Setting> settings(TrainOptions& options);
/// The fewest digits that bring the number back.
std::string exact_text(double value);

}  // namespace taeda::tool
