// `taeda train`: options, and the checks before anything starts.
#include "taeda/base/parallel_for.h"
#include "taeda/device/registry.h"
#include "taeda/log/summary_writer.h"
#include "taeda/vision/mnist.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/config.h"
#include "tools/taeda/train/driver.h"
#include "tools/taeda/train/find_rate.h"
#include "tools/taeda/train/folders.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/train/processes.h"
#include "tools/taeda/train/recipe.h"

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
  check_recipe(o);
  if (o.find_lr && o.nproc > 1)
    throw UsageError("--find-lr tries rates in one process: leave --nproc out");
  if (o.tensorboard && !logging::has_tensorboard())
    throw UsageError("--tensorboard: this build has no Protocol Buffers");
}

/// Of several ranks on a machine each has another device, as far as there are some.
Device device_of(const TrainOptions& options, const Ranks& ranks) {
  const Device first = choose_device(options.device);
  const bool numbered = options.device.find(':') != std::string::npos;
  if (ranks.size() == 1 || first.is_cpu() || numbered) return first;
  return choose_device(Device(first.type(), ranks.local_rank() % device_count(first.type())).str());
}

int train(TrainOptions options, const Ranks& ranks) {
  if (options.threads > 0) set_num_threads(static_cast<int>(options.threads));
  const Device device = user_input([&] { return device_of(options, ranks); });
  if (options.data_parallel && device.is_cpu())
    throw UsageError("--data-parallel needs accelerators: give --device cuda or --device sim");
  const Task task = user_input([&] { return make_task(options); });
  if (options.find_lr) return find_rate(options, device, task);
  options.out = choose_folder(options, ranks);
  const int code = run_training(options, checkpoint_of(options), device, task, ranks);
  ranks.leave();
  return code;
}

int run_train(const TrainOptions& options) {
  check_options(options);
  if (options.nproc == 1) return train(options, Ranks());
  if (!Ranks::told_by_environment()) return train_in_processes(options);
  return as_rank([&] { return train(options, Ranks::join(options.nproc)); });
}

/// A number without a default of its own: what happens without it stands in the help.
void add_unset(CLI::App& c, const std::string& flag, double& value, const std::string& help) {
  c.add_option(flag, value, help)->take_last();
}
void add_switch(CLI::App& c, const std::string& flag, bool& value, const std::string& help) {
  c.add_flag(flag, value, help)->take_last();
}

/// What the weights are changed by.
void add_recipe(CLI::App& c, TrainOptions& o) {
  add_option(c, "--epochs", o.epochs, "Passes over the training data");
  add_option(c, "--batch-size", o.batch_size, "Examples per step, of all processes together");
  add_option(c, "--lr", o.lr, "Highest learning rate; see --schedule");
  add_option(c, "--optimizer", o.optimizer,
             std::string(kOptimizers) + " (momentum: sgd with --momentum 0.9)");
  add_unset(c, "--weight-decay", o.weight_decay,
            "Default: the optimizer's, 0.01 for adamw, else 0");
  add_unset(c, "--momentum", o.momentum, "Of sgd, momentum and rmsprop; default: 0, 0.9 and 0");
  add_unset(c, "--max-norm", o.max_norm,
            "Longer gradients are shortened to this 2-norm; default: none are");
  add_option(c, "--schedule", o.schedule, kSchedules);
  add_unset(c, "--warmup", o.warmup,
            "Epochs in which the rate rises to --lr; default: 0, with one-cycle 0.3 of all");
  add_option(c, "--step-size", o.step_size,
             "--schedule step: epochs between two factors --gamma; 0: a third of all");
  add_option(c, "--gamma", o.gamma,
             "Factor of --schedule step, and of exponential after every epoch");
  add_option(c, "--early-stopping", o.early_stopping,
             "End after as many epochs without a better test loss; 0: never");
  add_option(
      c, "--pretrained", o.pretrained,
      "File of weights to start from (.safetensors, .pt, .npz); what does not fit is listed");
  add_option(c, "--seed", o.seed, "Of weights, order of examples and random changes");
}

/// Where it runs, and what it leaves.
void add_place(CLI::App& c, TrainOptions& o) {
  add_option(c, "--device", o.device,
             "cpu, cuda, cuda:N, sim, sim:N, or auto: a GPU if there is one");
  add_switch(c, "--data-parallel", o.data_parallel,
             "Split each batch over all devices of the type");
  add_switch(c, "--amp", o.amp, "Mixed precision: bfloat16 on the CPU, else float16");
  add_option(c, "--workers", o.workers, "Threads that prepare batches");
  add_option(c, "--threads", o.threads, "Threads that compute; 0: as many as there are cores");
  add_option(c, "--nproc", o.nproc, "Processes on this machine; each batch is divided over them");
  c.add_option("--out", o.out,
               "Folder for checkpoint and results; default: the first of out, out-2, out-3, ... "
               "without a run")
      ->take_last();
  add_switch(c, "--force", o.force, "Write over the run in --out");
  add_switch(c, "--tensorboard", o.tensorboard, "Write event files for TensorBoard, too");
  add_switch(c, "--json", o.json, "Print a JSON object a line: start, every epoch, result");
  add_option(c, "--resume", o.resume,
             "Go on from a checkpoint or from a folder that has one; auto: from --out if it has "
             "one, else from the start");
  add_option(c, "--stop-after", o.stop_after, "Stop after as many steps, as Ctrl-C does; 0: never");
  add_switch(c, "--find-lr", o.find_lr,
             "Train nothing: try learning rates, show the losses and suggest one");
}

/// with_config() has put the file's settings in its place, unless it lacks the file.
void add_config(CLI::App& c) {
  c.add_option("--config", "A file of settings like the run.toml of a run; flags count more")
      ->type_name("FILE");
}

CLI::App* add_task(CLI::App& train, Action& action, const TrainOptions& defaults,
                   const std::string& description, const std::string& models,
                   const std::string& example, const std::shared_ptr<TrainOptions>& o) {
  *o = defaults;
  const std::string call = "taeda train " + o->task + example;
  CLI::App& c = *add_command(
      train, o->task, description,
      {call, call + " --resume auto     # go on after Ctrl-C",
       call + " --optimizer adamw --schedule cosine --warmup 1 --early-stopping 3",
       "taeda train --config out/run.toml --seed 1     # the same run but for its seed"});
  add_option(c, "--model", o->model, "Network: " + models);
  add_recipe(c, *o);
  add_place(c, *o);
  add_config(c);
  c.callback([&action, &c, o] {
    o->out_given = c.count("--out") > 0;
    action = [o] { return run_train(*o); };
  });
  return &c;
}

using AddTask = std::function<std::pair<CLI::App*, std::shared_ptr<TrainOptions>>(
    const TrainOptions& defaults, const std::string& description, const std::string& models,
    const std::string& example)>;

void add_pictures(const AddTask& add) {
  for (const auto& [name, title, folder] :
       {std::tuple("fashion-mnist", "Fashion-MNIST", vision::datasets::FashionMNIST::kDebianRoot),
        std::tuple("mnist", "MNIST", "data"), std::tuple("cifar10", "CIFAR-10", "data")}) {
    const auto [c, o] = add({.task = name, .model = "cnn", .data = folder},
                            std::string("A convolutional network on ") + title, kPictureModels, "");
    add_option(*c, "--data", o->data,
               o->task == "cifar10" ? "Folder of the binary version"
                                    : "Folder of the IDX files, plain or .gz");
  }
  const auto [c, o] =
      add({.task = "folder", .model = "resnet18", .batch_size = 32, .lr = 1e-3},
          "Pictures in folders named after their classes", kPictureModels, " --data photos");
  add_option(*c, "--data", o->data,
             "Folder with a folder for each class, or with train and test folders of such")
      ->required();
  add_option(*c, "--test", o->test, "Such a folder to test on; default: a tenth of the pictures");
  add_option(*c, "--image-size", o->image_size, "Side to which pictures are scaled and cut");
}

void add_table(const AddTask& add) {
  const auto [c, o] =
      add({.task = "csv", .model = "mlp", .epochs = 20, .batch_size = 64},
          "A column of a table from the others", "mlp", " --data table.csv --target price");
  add_option(*c, "--data", o->data, "The table")->required();
  add_option(*c, "--test", o->test, "A table to test on; default: a fifth of the rows");
  add_option(*c, "--target", o->target, "Column to tell, by name or position; -1: the last");
  add_switch(*c, "--regression", o->regression, "Whole numbers are numbers, not classes");
  add_option(*c, "--hidden", o->hidden, "Width of the two hidden layers");
  add_option(*c, "--delimiter", o->delimiter, "Between the fields: a character, or tab");
  add_switch(*c, "--header,!--no-header", o->header, "The first line holds names, or none");
}

void add_text(const AddTask& add) {
  const auto [c, o] =
      add({.task = "text", .model = "gpt", .batch_size = 32, .lr = 2e-3},
          "A language model of the bytes of a file", "gpt, lstm", " --data book.txt");
  add_option(*c, "--data", o->data, "The text")->required();
  add_option(*c, "--test", o->test, "A text to test on; default: the last tenth");
  add_option(*c, "--context", o->context, "Bytes that the network sees");
  add_option(*c, "--layers", o->layers, "Layers of the network");
  add_option(*c, "--width", o->width, "Width of the network");
}

}  // namespace

void add_train(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  CLI::App& train = *add_command(
      app, "train", "Train a model",
      {"taeda train fashion-mnist", "taeda train --config out/run.toml     # a run once more"});
  train.require_subcommand(1);
  const AddTask add = [&](const TrainOptions& defaults, const std::string& description,
                          const std::string& models, const std::string& example) {
    auto o = std::make_shared<TrainOptions>();
    TrainOptions with_line = defaults;
    with_line.command_line = command_line;
    CLI::App* c = add_task(train, action, with_line, description, models, example, o);
    return std::pair(c, o);
  };
  add_pictures(add);
  add_table(add);
  add_text(add);
  add_config(train);
}

}  // namespace taeda::tool
