// In the place of together.cpp and processes.cpp in a program that is built to train alone.
#include "tools/taeda/command.h"
#include "tools/taeda/train/processes.h"
#include "tools/taeda/train/together.h"

namespace taeda::tool {

namespace {

[[noreturn]] void need_others() { throw NeedsAllCommands("taeda train --nproc above 1"); }

}  // namespace

int train_in_processes(const TrainOptions&) { need_others(); }
int as_rank(const std::function<int()>& train) { return train(); }

namespace together {

Place join(int64_t) { need_others(); }
// What follows is asked of several processes only.
void leave() {}
void add_up(const Tensor&) { need_others(); }
void take_largest(const Tensor&) { need_others(); }
void gather(const Tensor&, const std::vector<Tensor>&) { need_others(); }
std::function<Tensor(const Tensor&)> share_gradients(const std::shared_ptr<nn::SequentialImpl>&) {
  need_others();
}

}  // namespace together
}  // namespace taeda::tool
