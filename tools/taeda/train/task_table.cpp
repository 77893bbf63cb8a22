// Tables: a column is told from the others, as a class or as a number.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "taeda/data/csv.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/classification.h"
#include "tools/taeda/train/inputs.h"
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
  std::vector<std::string> classes, features;
};

Tables open_tables(const TrainOptions& options) {
  const CSVDataset all = open_table(options.data, options);
  Tables t{all.features(), all.targets(), {}, {}, all.classes(), all.feature_names()};
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

/// Whole numbers that are classes get their digits for names.
void name_classes(Tables& t, const std::string& path) {
  if (!t.classes.empty()) return;
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
}

/// The part that is for the test, of inputs and targets as the network takes them.
Task table_test(const About& about, const Tensor& x, const Tensor& y) {
  Task task;
  task.about = about;
  task.unit = "rows";
  task.test_loader = [rows = Rows(x, y)](data::LoaderConfig config) {
    return Loader(rows, config);
  };
  if (!about.classes.empty()) {
    task.loss = [](const Tensor& out, const Tensor& target) { return cross_entropy(out, target); };
    task.finish = report_classes(about.classes, to_vector(y));
    return task;
  }
  task.counts_hits = false;
  task.loss = [](const Tensor& out, const Tensor& target) {
    return mse_loss(out.squeeze(1), target);
  };
  task.finish = [scale = about.target_stddev](const Finished& f, logging::JsonObject& result) {
    const double rmse = std::sqrt(f.test.loss) * scale;
    if (!f.quiet)
      std::printf("\nroot mean square error %.4g, of a standard deviation of %.4g\n", rmse, scale);
    result.set("test_rmse", rmse).set("target_stddev", scale);
  };
  return task;
}

std::vector<double> doubles(const Tensor& t) {
  const Tensor d = t.to(kDouble).contiguous();
  return {d.data_ptr<double>(), d.data_ptr<double>() + d.numel()};
}

/// Standardises the numbers that are to be told, and says how.
void standardise_targets(const TrainOptions& options, Tables& t, About& about) {
  if (!t.classes.empty())
    throw UsageError("--regression: the targets of " + options.data + " are words");
  const Tensor y = t.train_y.to(kFloat), test_y = t.test_y.to(kFloat);
  const double mean = y.mean().item<double>(), scale = spread(y).item<double>();
  t.train_y = (y - mean) / scale;
  t.test_y = (test_y - mean) / scale;
  about.target_mean = mean;
  about.target_stddev = scale;
}

std::string kinds(const About& about) {
  return " rows of " + std::to_string(about.features.size()) + " columns, " +
         (about.classes.empty() ? "regression" : std::to_string(about.classes.size()) + " classes");
}

}  // namespace

Task make_csv_task(const TrainOptions& options) {
  if (options.model != "mlp") throw UsageError("--model must be mlp, got " + options.model);
  Tables t = user_input([&] { return open_tables(options); });
  const Tensor mean = t.train_x.mean(0), stddev = spread(t.train_x);
  t.train_x = (t.train_x - mean) / stddev;
  t.test_x = (t.test_x - mean) / stddev;
  About about{.task = "csv", .model = options.model};
  about.mean = doubles(mean);
  about.stddev = doubles(stddev);
  about.features = t.features;
  about.delimiter = options.delimiter;
  about.header = options.header;
  about.target = target_name(options.data, options.target, about);
  about.hidden = options.hidden;
  if (options.regression || !(t.train_y.dtype() == kLong && t.test_y.dtype() == kLong)) {
    standardise_targets(options, t, about);
  } else {
    name_classes(t, options.data);
    about.classes = t.classes;
  }
  Task task = table_test(about, t.test_x, t.test_y);
  task.train_size = t.train_x.size(0);
  task.title = options.data + ": " + logging::with_commas(t.train_x.size(0)) + " training and " +
               logging::with_commas(t.test_x.size(0)) + " test" + kinds(about);
  task.train_loader = [rows = Rows(t.train_x, t.train_y)](data::LoaderConfig config) {
    return Loader(rows, config);
  };
  return task;
}

Task make_csv_test(const About& about, const std::string& data) {
  const data::CsvTable table = read_table(data, about);
  Task task =
      table_test(about, table_inputs(table, about, data), table_targets(table, about, data));
  task.title = data + ": " + logging::with_commas(static_cast<long long>(table.rows.size())) +
               " test" + kinds(about);
  return task;
}

}  // namespace taeda::tool
