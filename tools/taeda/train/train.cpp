// `taeda train`: options, and the checks before anything starts.
#include <filesystem>

#include "taeda/base/parallel_for.h"
#include "taeda/device/registry.h"
#include "taeda/io/atomic_file.h"
#include "taeda/log/summary_writer.h"
#include "taeda/vision/mnist.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/driver.h"
#include "tools/taeda/train/processes.h"

namespace taeda::tool {

namespace {

void check_options(const TrainOptions& o) {
  check_flag(o.epochs > 0, "--epochs", "positive", o.epochs);
  check_flag(o.batch_size > 0, "--batch-size", "positive", o.batch_size);
  check_flag(o.lr > 0 && o.lr < 1e6, "--lr", "positive", o.lr);
  check_flag(o.seed >= 0, "--seed", "0 or more", o.seed);
  check_flag(o.workers >= 0 && o.workers <= 256, "--workers", "from 0 to 256", o.workers);
  check_flag(o.threads >= 0 && o.threads <= 4096, "--threads", "from 0 to 4096", o.threads);
  check_flag(o.stop_after >= 0, "--stop-after", "0 or more", o.stop_after);
  check_flag(o.hidden > 0 && o.hidden <= 65536, "--hidden", "from 1 to 65536", o.hidden);
  check_flag(o.image_size >= 8 && o.image_size <= 1024, "--image-size", "from 8 to 1024",
             o.image_size);
  check_flag(o.context > 0 && o.context <= 65536, "--context", "from 1 to 65536", o.context);
  check_flag(o.layers > 0 && o.layers <= 256, "--layers", "from 1 to 256", o.layers);
  check_flag(o.width > 0 && o.width <= 65536, "--width", "from 1 to 65536", o.width);
  check_flag(o.nproc > 0, "--nproc", "positive", o.nproc);
  check_flag(o.nproc <= o.batch_size, "--nproc",
             taeda::detail::concat("at most --batch-size (", o.batch_size, ")").c_str(), o.nproc);
  if (o.nproc > 1 && o.data_parallel)
    throw UsageError(
        "--nproc divides batches over processes, --data-parallel over the devices of "
        "one: give one of them");
  if (o.tensorboard && !logging::has_tensorboard())
    throw UsageError("--tensorboard: this build has no Protocol Buffers");
}

/// Makes the folder, and makes sure that files can be written there, before hours of training.
void prepare_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error && !std::filesystem::is_directory(folder))
    throw UsageError(
        taeda::detail::concat("cannot make the output folder ", folder, ": ", error.message()));
  io::AtomicFile probe(folder + "/result.json");
}

using MakeTask = Task (*)(const TrainOptions&);

/// Of several ranks on a machine each has another device, as far as there are some.
Device device_of(const TrainOptions& options, const Ranks& ranks) {
  const Device first = choose_device(options.device);
  const bool numbered = options.device.find(':') != std::string::npos;
  if (ranks.size() == 1 || first.is_cpu() || numbered) return first;
  return choose_device(Device(first.type(), ranks.local_rank() % device_count(first.type())).str());
}

int train(const TrainOptions& options, MakeTask make_task, const Ranks& ranks) {
  if (options.threads > 0) set_num_threads(static_cast<int>(options.threads));
  const Device device = user_input([&] { return device_of(options, ranks); });
  if (options.data_parallel && device.is_cpu())
    throw UsageError("--data-parallel needs accelerators: give --device cuda or --device sim");
  const Task task = user_input([&] { return make_task(options); });
  const std::string checkpoint = checkpoint_of(options);
  if (ranks.leads()) user_input([&] { prepare_folder(options.out); });
  const int code = run_training(options, checkpoint, device, task, ranks);
  ranks.leave();
  return code;
}

int run_train(const TrainOptions& options, MakeTask make_task) {
  check_options(options);
  if (options.nproc == 1) return train(options, make_task, Ranks());
  if (!Ranks::told_by_environment()) return train_in_processes(options);
  return as_rank([&] { return train(options, make_task, Ranks::join(options.nproc)); });
}

CLI::App* add_task(CLI::App& train, Action& action, const TrainOptions& defaults,
                   MakeTask make_task, const std::string& description, const std::string& models,
                   const std::string& example, const std::shared_ptr<TrainOptions>& o) {
  *o = defaults;
  CLI::App& c = *add_command(
      train, o->task, description,
      {"taeda train " + o->task + example,
       "taeda train " + o->task + example + " --resume auto     # go on after Ctrl-C"});
  add_option(c, "--model", o->model, "Network: " + models);
  add_option(c, "--device", o->device,
             "cpu, cuda, cuda:N, sim, sim:N, or auto: a GPU if there is one");
  c.add_flag("--data-parallel", o->data_parallel, "Split each batch over all devices of the type");
  c.add_flag("--amp", o->amp, "Mixed precision: bfloat16 on the CPU, else float16");
  add_option(c, "--epochs", o->epochs, "Passes over the training data");
  add_option(c, "--batch-size", o->batch_size, "Examples per step");
  add_option(c, "--lr", o->lr, "Highest learning rate of the one-cycle schedule");
  add_option(c, "--workers", o->workers, "Threads that read batches ahead");
  add_option(c, "--threads", o->threads, "Threads that compute; 0: one per core");
  add_option(c, "--nproc", o->nproc,
             "Processes on this machine that share each batch (DistributedDataParallel)");
  add_option(c, "--seed", o->seed,
             "Seed of weights and order; the same seed gives the same numbers");
  add_option(c, "--out", o->out, "Folder for checkpoint, pictures and result");
  c.add_flag("--tensorboard", o->tensorboard, "Write event files to <out>/tensorboard");
  add_option(c, "--resume", o->resume,
             "Go on from a checkpoint, or auto: from the one in --out if there is one");
  add_option(c, "--stop-after", o->stop_after,
             "Stop after so many steps as Ctrl-C does, with a checkpoint; 0: never");
  c.callback(
      [&action, o, make_task] { action = [o, make_task] { return run_train(*o, make_task); }; });
  return &c;
}

}  // namespace

void add_train(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  CLI::App& train = *add_command(app, "train", "Train a model", {"taeda train fashion-mnist"});
  train.require_subcommand(1);
  const std::string pictures = "cnn, lenet, mlp, resnet18, vgg, mobilenet_v2";
  const auto add = [&](const TrainOptions& defaults, MakeTask make, const std::string& description,
                       const std::string& models, const std::string& example) {
    auto o = std::make_shared<TrainOptions>();
    TrainOptions with_line = defaults;
    with_line.command_line = command_line;
    return std::pair(add_task(train, action, with_line, make, description, models, example, o), o);
  };
  for (const auto& [name, title, folder] :
       {std::tuple("fashion-mnist", "Fashion-MNIST", vision::datasets::FashionMNIST::kDebianRoot),
        std::tuple("mnist", "MNIST", "data"), std::tuple("cifar10", "CIFAR-10", "data")}) {
    const auto [c, o] = add({.task = name, .model = "cnn", .data = folder}, make_image_task,
                            std::string("A convolutional network on ") + title, pictures,
                            " --epochs 5 --device auto");
    add_option(*c, "--data", o->data,
               o->task == "cifar10" ? "Folder of the binary version"
                                    : "Folder of the IDX files, plain or .gz");
  }
  {
    const auto [c, o] =
        add({.task = "folder", .model = "resnet18", .batch_size = 32, .lr = 1e-3}, make_folder_task,
            "Pictures in folders named after their classes", pictures, " --data photos");
    add_option(*c, "--data", o->data,
               "Folder with a folder for each class, or with train and test folders of such")
        ->required();
    add_option(*c, "--test", o->test, "Such a folder to test on; default: a tenth of the pictures");
    add_option(*c, "--image-size", o->image_size, "Side to which pictures are scaled and cut");
  }
  {
    const auto [c, o] =
        add({.task = "csv", .model = "mlp", .epochs = 20, .batch_size = 64}, make_csv_task,
            "A column of a table from the others", "mlp", " --data table.csv --target price");
    add_option(*c, "--data", o->data, "The table")->required();
    add_option(*c, "--test", o->test, "A table to test on; default: a fifth of the rows");
    add_option(*c, "--target", o->target, "Column to tell, by name or position; -1: the last");
    c->add_flag("--regression", o->regression, "Whole numbers are numbers, not classes");
    add_option(*c, "--hidden", o->hidden, "Width of the two hidden layers");
    add_option(*c, "--delimiter", o->delimiter, "Between the fields: a character, or tab");
    c->add_flag("!--no-header", o->header, "The first line holds no names");
  }
  const auto [c, o] =
      add({.task = "text", .model = "gpt", .batch_size = 32, .lr = 2e-3}, make_text_task,
          "A language model of the bytes of a file", "gpt, lstm", " --data book.txt --model lstm");
  add_option(*c, "--data", o->data, "The text")->required();
  add_option(*c, "--test", o->test, "A text to test on; default: the last tenth");
  add_option(*c, "--context", o->context, "Bytes that the network sees");
  add_option(*c, "--layers", o->layers, "Layers of the network");
  add_option(*c, "--width", o->width, "Width of the network");
}

}  // namespace taeda::tool
