#include "taeda/data/background_task.h"

#include <future>
#include <utility>

namespace taeda::inline v0_2::data::detail {

struct BackgroundTask::State {
  std::future<void> result;
};

BackgroundTask::BackgroundTask(std::function<void()> work)
    : state_(new State{std::async(std::launch::async, std::move(work))}) {}
BackgroundTask::BackgroundTask(BackgroundTask&&) noexcept = default;
BackgroundTask& BackgroundTask::operator=(BackgroundTask&&) noexcept = default;
BackgroundTask::~BackgroundTask() = default;

void BackgroundTask::get() { state_->result.get(); }

}  // namespace taeda::inline v0_2::data::detail
