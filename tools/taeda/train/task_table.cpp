// Tables: a column is told from the others, as a class or as a number.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "taeda/base/nearest.h"
#include "taeda/data/csv.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/shape.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/classification.h"
#include "tools/taeda/train/inputs.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

namespace {

using Rows = data::datasets::TensorDataset<2>;
using data::CsvTable;

constexpr size_t kMostClasses = 1000;

/// Features and targets of the rows to train on and to test with.
struct Tables {
  Tensor train_x, train_y, test_x, test_y;
};

/// A table whose rows are those to work with, and its target.
struct Source {
  CsvTable table;
  size_t target = 0;
};

/// The columns that --categories names.
std::vector<bool> categories_of(const Source& s, const std::string& names) {
  std::vector<bool> out(s.table.names.size());
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const auto found = std::find(s.table.names.begin(), s.table.names.end(), name);
    const std::string nearest = nearest_name(name, s.table.names);
    if (found == s.table.names.end())
      throw UsageError("--categories: " + s.table.path + " has no column '" + name + "'" +
                       (nearest.empty() ? "" : "; it has '" + nearest + "'"));
    const auto c = static_cast<size_t>(found - s.table.names.begin());
    if (c == s.target)
      throw UsageError("--categories: '" + name +
                       "' is the column to tell, whose words are "
                       "classes in any case");
    out[c] = true;
    begin = end + 1;
  }
  return out;
}

/// Names the columns, and opens the table that is trained on without the rows that are left out.
Source open_training(const TrainOptions& options, About& about) {
  Source s;
  s.table = read_table(options.data, about);
  s.target = target_column(s.table, options.target);
  about.target = about.header ? s.table.names[s.target] : options.target;
  const std::vector<bool> is_word = categories_of(s, options.categories);
  for (size_t c = 0; c < is_word.size(); ++c) {
    if (c == s.target) continue;
    data::CsvColumn& column = about.columns.emplace_back();
    column.name = s.table.names[c];
    if (!is_word[c]) continue;
    column.words = data::words_of(s.table, c);
    if (column.words.empty())
      throw UsageError("--categories: column '" + column.name + "' of " + options.data +
                       " holds no words");
  }
  if (about.columns.empty())
    throw UsageError(options.data + " has no column besides the one to tell");
  places_of(s.table, about);  // each is found again by its name
  drop_missing_rows(s.table, about, s.target);
  return s;
}

/// Whether the column to tell holds numbers. Throws UsageError for one that is missing or infinite.
bool tells_numbers(const Source& s) {
  if (!data::holds_numbers(s.table, s.target)) return false;
  for (size_t r = 0; r < s.table.rows.size(); ++r) {
    const std::string& cell = s.table.rows[r][s.target];
    const std::optional<double> value = data::number_in(cell);
    if (!value)
      throw UsageError(s.table.place(r, s.target) + " holds no value: '" + cell +
                       "', and it is the column to tell; --missing drop leaves such rows out");
    if (!std::isfinite(*value))
      throw UsageError(s.table.place(r, s.target) + " is no finite number: '" + cell + "'");
  }
  return true;
}

/// The first cell of the column to tell that is no number: "t.csv:3: row 2, column 'y' is no
/// number: 'x2'"; empty where more than half are none.
std::string odd_word(const Source& s) {
  std::string out;
  size_t words = 0;
  for (size_t r = 0; r < s.table.rows.size(); ++r) {
    const std::string& cell = s.table.rows[r][s.target];
    if (data::number_in(cell)) continue;
    if (words++ == 0) out = s.table.place(r, s.target) + " is no number: '" + cell + "'";
  }
  return 2 * words > s.table.rows.size() ? "" : out;
}

/// Where nearly every row is a class of its own, it was most likely not meant so.
std::string hint_of_classes(const Source& s, const About& about, bool numbers) {
  constexpr size_t kFew = 20;
  const size_t n = about.classes.size(), rows = s.table.rows.size();
  if (n <= kFew || 2 * n <= rows) return "";
  const std::string odd = odd_word(s);
  return taeda::detail::concat("column '", s.table.names[s.target], "' makes ", n, " classes of ",
                               rows, " rows; ",
                               numbers        ? "if it is a number to tell, give --regression"
                               : !odd.empty() ? "they are words because " + odd
                                              : "if another column is to be told, give --target");
}

/// The classes are the distinct values of the target: words in alphabetical order, or whole numbers
/// in theirs. There are none where numbers are told. Returns a hint.
std::string choose_classes(const TrainOptions& options, const Source& s, About& about) {
  const bool numbers = tells_numbers(s);
  if (!numbers) {
    about.classes = data::words_of(s.table, s.target);
    if (options.regression)
      throw UsageError("--regression: the targets of " + options.data + " are words, " +
                       about.classes.front() + " for one" +
                       (odd_word(s).empty() ? "" : ": " + odd_word(s)));
    return hint_of_classes(s, about, numbers);
  }
  std::set<int64_t> found;
  for (const auto& row : s.table.rows) {
    const std::optional<int64_t> value = whole_number(row[s.target]);
    if (options.regression || !value) return "";
    found.insert(*value);
  }
  if (found.size() > kMostClasses)
    throw UsageError(taeda::detail::concat(options.data, ": '", s.table.names[s.target], "' is ",
                                           found.size(), " different whole numbers, from ",
                                           *found.begin(), " to ", *found.rbegin(),
                                           ", too many for classes; give --regression"));
  for (const int64_t value : found) about.classes.push_back(std::to_string(value));
  return hint_of_classes(s, about, numbers);
}

/// Columns that do not vary stay as they are.
Tensor spread(const Tensor& train) {
  const Tensor stddev = train.std(0, /*unbiased=*/false);
  return stddev + stddev.eq(0).to(stddev.dtype());
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

/// How each column lies, by the rows to train on; words are as they are.
void measure_columns(const Tensor& rows, const std::string& path, About& about) {
  Tensor known = rows;
  const Tensor gaps = isnan(rows);
  if (gaps.any().item<bool>()) known = where(gaps, nanmean(rows, {0}), rows);
  about.mean = doubles(known.mean(0));
  about.stddev = doubles(spread(known));
  for (size_t i = 0; i < about.columns.size(); ++i) {
    if (!about.columns[i].words.empty()) {
      about.mean[i] = 0;
      about.stddev[i] = 1;
    } else if (std::isnan(about.mean[i])) {
      throw UsageError(path + ": column '" + about.columns[i].name +
                       "' holds no value in the rows to train on");
    }
  }
}

/// The rows as the network takes them. The first part of a table that has no other is trained on.
Tables open_tables(const TrainOptions& options, About& about, std::string& hint) {
  Source all = open_training(options, about);
  hint = choose_classes(options, all, about);
  const data::CsvAdvice advice = {
      "; --missing drop leaves such rows out, --missing mean takes the column's mean",
      "; --categories takes the names of columns that hold words"};
  Tables t{
      table_rows(all.table, about, advice), table_targets(all.table, all.target, about), {}, {}};
  if (options.test.empty()) {
    const Split parts = split(all.table.rows.size(), 5, options.seed);
    t.test_x = data::gather_rows(t.train_x, parts.test);
    t.test_y = data::gather_rows(t.train_y, parts.test);
    t.train_x = data::gather_rows(t.train_x, parts.train);
    t.train_y = data::gather_rows(t.train_y, parts.train);
  } else {
    CsvTable test = read_table(options.test, about);
    const size_t target = target_column(test, about.target);
    drop_missing_rows(test, about, target);
    t.test_x = table_rows(test, about, advice);
    t.test_y = table_targets(test, target, about);
  }
  measure_columns(t.train_x, options.data, about);
  t.train_x = network_input(t.train_x, about);
  t.test_x = network_input(t.test_x, about);
  if (!about.classes.empty()) return t;
  about.target_mean = t.train_y.mean().item<double>();
  about.target_stddev = spread(t.train_y).item<double>();
  t.train_y = (t.train_y - about.target_mean) / about.target_stddev;
  t.test_y = (t.test_y - about.target_mean) / about.target_stddev;
  return t;
}

std::string kinds(const About& about) {
  return " rows of " + std::to_string(about.columns.size()) + " columns, " +
         (about.classes.empty() ? "regression" : std::to_string(about.classes.size()) + " classes");
}

}  // namespace

Task make_csv_task(const TrainOptions& options) {
  if (options.model != "mlp") throw UsageError("--model must be mlp, got " + options.model);
  About about{.task = "csv", .model = options.model};
  about.delimiter = options.delimiter;
  about.header = options.header;
  about.missing = options.missing;
  about.hidden = options.hidden;
  std::string hint;
  const Tables t = user_input([&] { return open_tables(options, about, hint); });
  Task task = table_test(about, t.test_x, t.test_y);
  task.hint = hint;
  task.train_size = t.train_x.size(0);
  task.title = options.data + ": " + logging::with_commas(t.train_x.size(0)) + " training and " +
               logging::with_commas(t.test_x.size(0)) + " test" + kinds(about);
  task.train_loader = [rows = Rows(t.train_x, t.train_y)](data::LoaderConfig config) {
    return Loader(rows, config);
  };
  return task;
}

Task make_csv_test(const About& about, const std::string& data) {
  CsvTable table = read_table(data, about);
  const size_t target = target_column(table, about.target);
  drop_missing_rows(table, about, target);
  Task task = table_test(about, network_input(table_rows(table, about), about),
                         table_targets(table, target, about));
  task.title = data + ": " + logging::with_commas(static_cast<long long>(table.rows.size())) +
               " test" + kinds(about);
  return task;
}

}  // namespace taeda::tool
