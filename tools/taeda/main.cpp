// All commands of `taeda`.
#include <cstdio>

#include "tools/taeda/command.h"
#include "tools/taeda/train/config.h"
#include "tools/taeda/train/crowd.h"

namespace {

using namespace taeda::tool;

int run(const std::vector<std::string>& given) {
  CommandLine line("taeda COMMAND --help shows a command's\noptions and examples.");
  const Command app = line.root();
  add_train(app, given);
  add_eval(app);
  add_predict(app);
  add_generate(app);
  add_runs(app);
  add_report(app);
  add_launch(app);
  add_devices(app);
  add_info(app);
  add_bench(app);
  add_plan(app);
  add_inspect(app);
  add_convert(app);
  add_export(app);
  add_plot(app);
  add_trace(app);
  add_ops(app);
  add_completion(app);
  if (given.size() == 1 || (given.size() == 2 && given[1] == "help")) {
    std::printf("%s", line.help().c_str());
    return 0;
  }
  return line.understand(with_config(app, given))();
}

}  // namespace

int main(int argc, char** argv) {
  wait_as_the_machine_allows(argv, {argv, argv + argc});
  return report_errors([&] { return run({argv, argv + argc}); });
}
