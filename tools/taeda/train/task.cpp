#include "tools/taeda/train/task.h"

#include <algorithm>

#include "taeda/device/generator.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

Task make_task(const TrainOptions& options) {
  if (options.task == "folder") return make_folder_task(options);
  if (options.task == "csv") return make_csv_task(options);
  if (options.task == "text") return make_text_task(options);
  return make_image_task(options);
}

Task make_test(const About& about, const std::string& data) {
  if (about.task == "folder") return make_folder_test(about, data);
  if (about.task == "csv") return make_csv_test(about, data);
  if (about.task == "text") return make_text_test(about, data);
  return make_image_test(about, data);
}

Split split(size_t n, size_t parts, int64_t seed) {
  if (n < 2) throw UsageError(taeda::detail::concat("there must be 2 examples or more, found ", n));
  std::vector<int64_t> order(n);
  Generator(kCPU, static_cast<uint64_t>(seed))
      .fill_permutation(order.data(), static_cast<int64_t>(n));
  const size_t test = std::max<size_t>(1, n / parts);
  const auto middle = order.end() - static_cast<std::ptrdiff_t>(test);
  return {{order.begin(), middle}, {middle, order.end()}};
}

}  // namespace taeda::tool
