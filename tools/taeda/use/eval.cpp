// `taeda eval`: how good a trained network is, on the data of its run or on others.
#include <cstdio>

#include "taeda/base/parallel_for.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/train/meter.h"
#include "tools/taeda/use/trained.h"

namespace taeda::tool {

namespace {

struct EvalOptions {
  UseOptions use;
  std::string data;
  int64_t batch_size = 0, workers = 2, threads = 0;
};

Task task_of(const EvalOptions& o, const Trained& t, int64_t* batch_size) {
  // Weights that left their run do not say which data it had.
  const bool needs_run = o.data.empty() || !t.config.empty();
  const TrainOptions run = needs_run ? options_of_run(t) : TrainOptions();
  *batch_size = o.batch_size > 0 ? o.batch_size : run.batch_size;
  return o.data.empty() ? make_task(run) : make_test(t.about, o.data);
}

int run_eval(const EvalOptions& o) {
  check_flag(o.batch_size >= 0, "--batch-size", "0 or more", o.batch_size);
  check_flag(o.workers >= 0 && o.workers <= 256, "--workers", "from 0 to 256", o.workers);
  check_flag(o.threads >= 0 && o.threads <= 4096, "--threads", "from 0 to 4096", o.threads);
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  const Device device = user_input([&] { return choose_device(o.use.device); });
  Trained t = open_trained(o.use, device);
  int64_t batch_size = 0;
  const Task task = user_input([&] { return task_of(o, t, &batch_size); });
  Loader loader = task.test_loader({.batch_size = task.test_batch > 0 && o.batch_size == 0
                                                      ? task.test_batch
                                                      : static_cast<size_t>(batch_size),
                                    .num_workers = static_cast<int>(o.workers)});
  Predictions predictions;
  const Score score =
      evaluate({.task = task,
                .device = device,
                .forward = [&](const Tensor& inputs) { return t.network.forward(inputs); }},
               loader, Ranks(), &predictions);
  logging::JsonObject result;
  result.set("checkpoint", t.path)
      .set("epoch", t.epoch)
      .set("data", task.title)
      .set(task.unit, score.count)
      .set("test_loss", score.loss);
  if (task.counts_hits) result.set("test_accuracy", score.accuracy);
  result.set("seconds", score.seconds);
  if (!o.use.json)
    std::printf("%s%s", paragraph(title_of(t)).c_str(), paragraph(task.title).c_str());
  task.finish({t.network, device, score, std::move(predictions), "", o.use.json}, result);
  if (o.use.json) {
    std::printf("%s\n", result.pretty().c_str());
    return 0;
  }
  std::printf("\ntest loss %s", logging::fixed(score.loss, 4).c_str());
  if (task.counts_hits) std::printf(", test accuracy %s", logging::percent(score.accuracy).c_str());
  std::printf(", %s %s\n", logging::with_commas(score.count).c_str(), task.unit.c_str());
  return 0;
}

}  // namespace

void add_eval(const Command& app) {
  const Command c = app.add_command("eval", "Test a trained model on its data or on others",
                                    {"taeda eval out", "taeda eval out --data new_photos --json",
                                     "taeda eval out/checkpoint.safetensors --device cpu"});
  auto o = std::make_shared<EvalOptions>();
  add_use(c, o->use);
  c.add_option(
      "--data", o->data,
      "All of a folder, table or text like that of the training; default: the test part of "
      "the run's own data");
  c.add_option("--batch-size", o->batch_size, "Examples at a time; 0: as the run's test");
  c.add_option("--workers", o->workers, "Threads that prepare batches");
  c.add_option("--threads", o->threads, "Threads that compute; 0: as many as there are cores");
  c.on_call([o] { return run_eval(*o); });
}

}  // namespace taeda::tool
