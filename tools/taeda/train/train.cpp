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
  if (ranks.leads() && !task.hint.empty())
    std::fputs(paragraph("taeda: " + task.hint, stderr).c_str(), stderr);
  if (options.find_lr) return find_rate(options, device, task);
  const RunFolder folder = claim_folder(options, ranks);
  options.out = folder.path;
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
void add_unset(const Command& c, const std::string& flag, double& value, const std::string& help) {
  c.add_plain(flag, value, help).take_last();
}
void add_switch(const Command& c, const std::string& flag, bool& value, const std::string& help) {
  c.add_flag(flag, value, help).take_last();
}

/// What the weights are changed by.
void add_recipe(const Command& c, TrainOptions& o) {
  c.add_option("--epochs", o.epochs, "Passes over the training data");
  c.add_option("--batch-size", o.batch_size, "Examples per step, of all processes together");
  c.add_option("--lr", o.lr, "Highest learning rate; see --schedule");
  c.add_option("--optimizer", o.optimizer,
               std::string(kOptimizers) + " (momentum: sgd with --momentum 0.9)");
  add_unset(c, "--weight-decay", o.weight_decay,
            "Default: the optimizer's, 0.01 for adamw, else 0");
  add_unset(c, "--momentum", o.momentum, "Of sgd, momentum and rmsprop; default: 0, 0.9 and 0");
  add_unset(c, "--max-norm", o.max_norm,
            "Longer gradients are shortened to this 2-norm; default: none are");
  c.add_option("--schedule", o.schedule, kSchedules);
  add_unset(c, "--warmup", o.warmup,
            "Epochs in which the rate rises to --lr; default: 0, with one-cycle 0.3 of all");
  c.add_option("--step-size", o.step_size,
               "--schedule step: epochs between two factors --gamma; 0: a third of all");
  c.add_option("--gamma", o.gamma,
               "Factor of --schedule step, and of exponential after every epoch");
  c.add_option("--early-stopping", o.early_stopping,
               "End after as many epochs without a better test loss; 0: never");
  c.add_option(
      "--pretrained", o.pretrained,
      "File of weights to start from (.safetensors, .pt, .npz); what does not fit is listed");
  c.add_option("--seed", o.seed, "Of weights, order of examples and random changes");
}

/// Where it runs, and what it leaves.
void add_place(const Command& c, TrainOptions& o) {
  c.add_option("--device", o.device,
               "cpu, cuda, cuda:N, sim, sim:N, or auto: a GPU if there is one");
  add_switch(c, "--data-parallel", o.data_parallel,
             "Split each batch over all devices of the type");
  add_switch(c, "--amp", o.amp, "Mixed precision: bfloat16 on the CPU, else float16");
  c.add_option("--workers", o.workers, "Threads that prepare batches");
  c.add_option("--threads", o.threads, "Threads that compute; 0: as many as there are cores");
  c.add_option("--nproc", o.nproc, "Processes on this machine; each batch is divided over them");
  c.add_plain("--out", o.out,
              "Folder for checkpoint and results; default: the first of out, out-2, out-3, ... "
              "without a run")
      .take_last();
  add_switch(c, "--force", o.force, "Write over the run in --out");
  add_switch(c, "--tensorboard", o.tensorboard, "Write event files for TensorBoard, too");
  add_switch(c, "--json", o.json, "Print a JSON object a line: start, every epoch, result");
  c.add_option("--resume", o.resume,
               "Go on from a checkpoint or from a folder that has one; auto: from --out if it has "
               "one, else from the start");
  c.add_option("--stop-after", o.stop_after, "Stop after as many steps, as Ctrl-C does; 0: never");
  add_switch(c, "--find-lr", o.find_lr,
             "Train nothing: try learning rates, show the losses and suggest one");
}

/// with_config() has put the file's settings in its place, unless it lacks the file.
void add_config(const Command& c) {
  c.add_ignored("--config", "FILE",
                "A file of settings like the run.toml of a run; flags count more");
}

Command add_task(const Command& train, const TrainOptions& defaults, const std::string& description,
                 const std::string& models, const std::string& example,
                 const std::shared_ptr<TrainOptions>& o) {
  *o = defaults;
  const std::string call = "taeda train " + o->task + example;
  const Command c = train.add_command(
      o->task, description,
      {call, call + " --resume auto     # go on after Ctrl-C",
       call + " --optimizer adamw --schedule cosine --warmup 1 --early-stopping 3",
       "taeda train --config out/run.toml --seed 1     # the same run but for its seed"});
  c.add_option("--model", o->model, "Network: " + models);
  add_recipe(c, *o);
  add_place(c, *o);
  add_config(c);
  c.on_call([c, o] {
    o->out_given = c.was_given("--out");
    return run_train(*o);
  });
  return c;
}

using AddTask = std::function<std::pair<Command, std::shared_ptr<TrainOptions>>(
    const TrainOptions& defaults, const std::string& description, const std::string& models,
    const std::string& example)>;

void add_pictures(const AddTask& add) {
  for (const auto& [name, title, folder] :
       {std::tuple("fashion-mnist", "Fashion-MNIST", vision::datasets::FashionMNIST::kDebianRoot),
        std::tuple("mnist", "MNIST", "data"), std::tuple("cifar10", "CIFAR-10", "data")}) {
    const auto [c, o] = add({.task = name, .model = "cnn", .data = folder},
                            std::string("A convolutional network on ") + title, kPictureModels, "");
    c.add_option("--data", o->data,
                 o->task == "cifar10" ? "Folder of the binary version"
                                      : "Folder of the IDX files, plain or .gz");
  }
  const auto [c, o] =
      add({.task = "folder", .model = "resnet18", .batch_size = 32, .lr = 1e-3},
          "Pictures in folders named after their classes", kPictureModels, " --data photos");
  c.add_option("--data", o->data,
               "Folder with a folder for each class, or with train and test folders of such")
      .required();
  c.add_option("--test", o->test, "Such a folder to test on; default: a tenth of the pictures");
  c.add_option("--image-size", o->image_size, "Side to which pictures are scaled and cut");
}

void add_table(const AddTask& add) {
  const auto [c, o] =
      add({.task = "csv", .model = "mlp", .epochs = 20, .batch_size = 64},
          "A column of a table from the others", "mlp", " --data table.csv --target price");
  c.add_option("--data", o->data, "The table").required();
  c.add_option("--test", o->test, "A table to test on; default: a fifth of the rows");
  c.add_option("--target", o->target, "Column to tell, by name or position; -1: the last");
  c.add_option("--missing", o->missing,
               "Cells without a value: error, drop (their rows are left out) or mean (of the "
               "column)");
  c.add_option("--categories", o->categories, "Columns whose cells are words: city,street");
  add_switch(c, "--regression", o->regression, "Whole numbers are numbers, not classes");
  c.add_option("--hidden", o->hidden, "Width of the two hidden layers");
  c.add_option("--delimiter", o->delimiter, "Between the fields: a character, or tab");
  add_switch(c, "--header,!--no-header", o->header, "The first line holds names, or none");
}

void add_text(const AddTask& add) {
  const auto [c, o] =
      add({.task = "text", .model = "gpt", .batch_size = 32, .lr = 2e-3},
          "A language model of the bytes of a file", "gpt, lstm", " --data book.txt");
  c.add_option("--data", o->data, "The text").required();
  c.add_option("--test", o->test, "A text to test on; default: the last tenth");
  c.add_option("--context", o->context, "Bytes that the network sees");
  c.add_option("--layers", o->layers, "Layers of the network");
  c.add_option("--width", o->width, "Width of the network");
}

}  // namespace

void add_train(const Command& app, const std::vector<std::string>& command_line) {
  const Command train = app.add_command(
      "train", "Train a model",
      {"taeda train fashion-mnist", "taeda train --config out/run.toml     # a run once more"});
  train.require_command();
  const AddTask add = [&](const TrainOptions& defaults, const std::string& description,
                          const std::string& models, const std::string& example) {
    auto o = std::make_shared<TrainOptions>();
    TrainOptions with_line = defaults;
    with_line.command_line = command_line;
    const Command c = add_task(train, with_line, description, models, example, o);
    return std::pair(c, o);
  };
  add_pictures(add);
  add_table(add);
  add_text(add);
  add_config(train);
}

}  // namespace taeda::tool
