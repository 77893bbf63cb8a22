// Tables: a column is told from the others, as a class or as a number.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "taeda/data/csv.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/loss.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/shape.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/classification.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

namespace {

using Rows = data::datasets::TensorDataset<2>;
using data::datasets::CSVDataset;

constexpr int64_t kMostClasses = 1000;

CSVDataset open_table(const std::string& path, const TrainOptions& options) {
  data::datasets::CsvOptions csv;
  csv.header = options.header;
  if (options.delimiter.size() != 1 && options.delimiter != "tab")
    throw UsageError("--delimiter must be one character or \"tab\", got " + options.delimiter);
  csv.delimiter = options.delimiter == "tab" ? '\t' : options.delimiter[0];
  int64_t position = 0;
  const std::string& t = options.target;
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), position);
  if (error == std::errc() && end == t.data() + t.size())
    csv.target = position;
  else
    csv.target = t;
  return CSVDataset(path, csv);
}

/// Features and targets of the rows to train on and to test with.
struct Tables {
  Tensor train_x, train_y, test_x, test_y;
  std::vector<std::string> classes;
};

Tables open_tables(const TrainOptions& options) {
  const CSVDataset all = open_table(options.data, options);
  Tables t{all.features(), all.targets(), {}, {}, all.classes()};
  if (options.test.empty()) {
    const Split parts = split(*all.size(), 5, options.seed);
    t.test_x = data::gather_rows(all.features(), parts.test);
    t.test_y = data::gather_rows(all.targets(), parts.test);
    t.train_x = data::gather_rows(all.features(), parts.train);
    t.train_y = data::gather_rows(all.targets(), parts.train);
    return t;
  }
  const CSVDataset test = open_table(options.test, options);
  if (test.feature_names() != all.feature_names() || test.classes() != all.classes())
    throw UsageError(options.test + " has other columns or classes than " + options.data);
  t.test_x = test.features();
  t.test_y = test.targets();
  return t;
}

/// Columns that do not vary stay as they are.
Tensor spread(const Tensor& train) {
  const Tensor stddev = train.std(0, /*unbiased=*/false);
  return stddev + stddev.eq(0).to(stddev.dtype());
}

int64_t class_count(Tables& t, const std::string& path) {
  if (!t.classes.empty()) return static_cast<int64_t>(t.classes.size());
  const auto bounds = [&](const Tensor& y) {
    return std::pair(y.min().item<int64_t>(), y.max().item<int64_t>());
  };
  const auto [low, high] = bounds(t.train_y);
  const auto [test_low, test_high] = bounds(t.test_y);
  const int64_t n = std::max(high, test_high) + 1;
  if (std::min(low, test_low) < 0 || n > kMostClasses)
    throw UsageError(taeda::detail::concat(path, ": the targets are whole numbers from ",
                                           std::min(low, test_low), " to ", n - 1,
                                           ", which are no classes; give --regression"));
  for (int64_t c = 0; c < n; ++c) t.classes.push_back(std::to_string(c));
  return n;
}

Task regression_task(const TrainOptions& options, Tables& t) {
  if (!t.classes.empty())
    throw UsageError("--regression: the targets of " + options.data + " are words");
  const Tensor y = t.train_y.to(kFloat), test_y = t.test_y.to(kFloat);
  const double mean = y.mean().item<double>(), scale = spread(y).item<double>();
  t.train_y = (y - mean) / scale;
  t.test_y = (test_y - mean) / scale;
  Task task;
  task.counts_hits = false;
  task.make_network = [in = t.train_x.size(1), hidden = options.hidden] {
    return make_mlp(in, hidden, 1);
  };
  task.loss = [](const Tensor& out, const Tensor& target) {
    return mse_loss(out.squeeze(1), target);
  };
  task.finish = [scale](const Finished& f, logging::JsonObject& result) {
    const double rmse = std::sqrt(f.test.loss) * scale;
    std::printf("\nroot mean square error %.4g, of a standard deviation of %.4g\n", rmse, scale);
    result.set("test_rmse", rmse).set("target_stddev", scale);
  };
  return task;
}

}  // namespace

Task make_csv_task(const TrainOptions& options) {
  if (options.model != "mlp") throw UsageError("--model must be mlp, got " + options.model);
  Tables t = user_input([&] { return open_tables(options); });
  const Tensor mean = t.train_x.mean(0), stddev = spread(t.train_x);
  t.train_x = (t.train_x - mean) / stddev;
  t.test_x = (t.test_x - mean) / stddev;
  Task task;
  if (options.regression || !(t.train_y.dtype() == kLong && t.test_y.dtype() == kLong)) {
    task = regression_task(options, t);
  } else {
    const int64_t classes = class_count(t, options.data);
    task.make_network = [in = t.train_x.size(1), hidden = options.hidden, classes] {
      return make_mlp(in, hidden, classes);
    };
    task.loss = [](const Tensor& out, const Tensor& target) { return cross_entropy(out, target); };
    task.finish = report_classes(t.classes, to_vector(t.test_y));
  }
  task.unit = "rows";
  task.train_size = t.train_x.size(0);
  task.title = options.data + ": " + logging::with_commas(t.train_x.size(0)) + " training and " +
               logging::with_commas(t.test_x.size(0)) + " test rows of " +
               std::to_string(t.train_x.size(1)) + " columns, " +
               (task.counts_hits ? std::to_string(t.classes.size()) + " classes" : "regression");
  task.train_loader = [rows = Rows(t.train_x, t.train_y)](data::LoaderConfig config) {
    return Loader(rows, config);
  };
  task.test_loader = [rows = Rows(t.test_x, t.test_y)](data::LoaderConfig config) {
    return Loader(rows, config);
  };
  return task;
}

}  // namespace taeda::tool
