// Trains the network on Fashion-MNIST for every combination of learning rate, batch size, number of
// workers and device, and shows what each run measures as a table, in files and in TensorBoard.
//
//     seeds_004_training [--device cpu] [--batch_size 1000] [--num_workers 0] [--lr 0.01]
//                        [--epochs 1] [--images 60000] [--data FOLDER] [--save results]
//
// Without --device both the GPU, if there is one, and the CPU are in the grid.
#include <numeric>
#include <sstream>

#include "network.h"

namespace seeds {

using logging::HParam;
using logging::Run;

/// The values of the option, divided by commas, or those of the tutorial.
std::vector<HParam> values(const std::string& given, std::vector<HParam> otherwise) {
  if (given.empty()) return otherwise;
  std::vector<HParam> out;
  std::istringstream parts(given);
  for (std::string part; std::getline(parts, part, ',');)
    if (std::holds_alternative<std::string>(otherwise[0]))
      out.emplace_back(part);
    else if (std::holds_alternative<double>(otherwise[0]))
      out.emplace_back(std::stod(part));
    else
      out.emplace_back(int64_t{std::stoll(part)});
  return out;
}

/// The whole training set, or its beginning.
auto training_set(const Arguments& arguments) {
  using vision::datasets::FashionMNIST;
  const FashionMNIST all(arguments["data"], /*train=*/true);
  const size_t size = *all.size();
  const size_t count = arguments["images"].empty() ? size : arguments.number("images");
  std::vector<size_t> first(std::min(count, size));
  std::iota(first.begin(), first.end(), size_t{0});
  return data::datasets::Subset(all, first);
}

template <class Dataset>
void train(logging::RunManager& manager, const Run& run, const Dataset& train_set, int epochs) {
  const Device device(run.get<std::string>("device"));
  Network network;
  network->to(device);
  data::DataLoader loader(train_set, {.batch_size = run.get<size_t>("batch_size"),
                                      .num_workers = run.get<int>("num_workers")});
  optim::Adam optimizer(network->parameters(), optim::AdamOptions(run.get<double>("lr")));

  manager.begin_run(run, network, loader);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    manager.begin_epoch();
    for (auto& batch : loader) {
      const Tensor images = batch.data.to(device), labels = batch.target.to(device);
      const Tensor preds = network(images);
      const Tensor loss = cross_entropy(preds, labels);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      manager.track_loss(loss, batch);
      manager.track_num_correct(preds, labels);
    }
    manager.end_epoch();
  }
  manager.end_run();
}

void grid(const Arguments& arguments) {
  std::vector<HParam> devices = {"cpu"};
  if (cuda::is_available()) devices.insert(devices.begin(), "cuda");
  const auto runs = logging::RunBuilder::get_runs({
      {"lr", values(arguments["lr"], {.01})},
      {"batch_size", values(arguments["batch_size"], {1000, 10000, 20000})},
      {"num_workers", values(arguments["num_workers"], {0, 1})},
      {"device", values(arguments["device"], devices)},
  });
  const auto train_set = training_set(arguments);
  logging::RunManager manager({.log_dir = arguments["log_dir"]});
  const auto epochs = static_cast<int>(arguments.number("epochs"));
  for (const Run& run : runs) train(manager, run, train_set, epochs);
  manager.save(arguments["save"]);
}

}  // namespace seeds

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    grid(Arguments(argc, argv,
                   {{"data", vision::datasets::FashionMNIST::kDebianRoot},
                    {"images", ""},
                    {"lr", ""},
                    {"batch_size", ""},
                    {"num_workers", ""},
                    {"device", ""},
                    {"epochs", "1"},
                    {"log_dir", ""},
                    {"save", "results"}}));
  });
}
