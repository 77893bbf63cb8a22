#include "taeda/log/run_manager.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "taeda/io/atomic_file.h"
#include "taeda/log/json_lines.h"
#include "taeda/log/table.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"

namespace taeda::inline v0_2::logging {

namespace {

/// More pictures of a batch than this would make a file of megabytes for every run.
constexpr int64_t kMaxPictures = 256;
/// Columns of the table that grows, where the values of later epochs may be longer.
const std::vector<size_t> kLeastWidths = {3, 5, 8, 8, 8, 8};

const std::vector<std::string> kColumns = {"run",      "epoch",          "loss",
                                           "accuracy", "epoch duration", "run duration"};

/// The names of the parameters of all these epochs, each once.
std::vector<std::string> names_of(ArrayRef<EpochResult> results) {
  std::vector<std::string> out;
  for (const EpochResult& r : results)
    for (const auto& [name, value] : r.params.values())
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  return out;
}

std::vector<std::string> header_of(const std::vector<std::string>& names) {
  std::vector<std::string> out = kColumns;
  out.insert(out.end(), names.begin(), names.end());
  return out;
}

/// `number` formats loss, accuracy and times; a parameter that a run does not have is empty.
template <class F>
std::vector<std::string> cells_of(const EpochResult& r, const std::vector<std::string>& names,
                                  F&& number) {
  std::vector<std::string> out = {std::to_string(r.run),       std::to_string(r.epoch),
                                  number(r.loss, 6),           number(r.accuracy, 6),
                                  number(r.epoch_duration, 3), number(r.run_duration, 3)};
  for (const std::string& name : names) {
    const HParam* value = r.params.find(name);
    out.push_back(value ? to_string(*value) : "");
  }
  return out;
}

/// A field as RFC 4180 wants it.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string out;
  for (size_t i = 0; i < fields.size(); ++i) out += (i ? "," : "") + csv_field(fields[i]);
  return out + "\n";
}

/// With every digit.
std::string exact(double value, int) { return to_string(HParam(value)); }

JsonObject json_of(const EpochResult& r) {
  JsonObject out;
  out.set("run", r.run).set("epoch", r.epoch).set("loss", r.loss).set("accuracy", r.accuracy);
  out.set("epoch duration", r.epoch_duration).set("run duration", r.run_duration);
  for (const auto& [name, value] : r.params.values())
    std::visit([&, &key = name](const auto& v) { out.set(key, v); }, value);
  return out;
}

}  // namespace

RunManager::RunManager(RunManagerOptions options) : options_(std::move(options)) {
  if (!options_.out) options_.out = &std::cout;
}

RunManager::~RunManager() {
  if (layout_) **options_.out << layout_->bottom() << std::flush;
}

double RunManager::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void RunManager::start(const Run& run, std::shared_ptr<nn::Module> network, size_t examples) {
  TAEDA_CHECK(!network_, "begin_run: ", run_.str(), " has not ended");
  TAEDA_CHECK_VALUE(network, "begin_run expects a network");
  TAEDA_CHECK_VALUE(examples > 0, "begin_run expects a dataset with examples");
  if (options_.tensorboard) {
    SummaryWriterOptions where;
    where.comment = "-" + run.str();
    std::replace(where.comment.begin(), where.comment.end(), '/', '_');
    if (!options_.log_dir.empty()) where.log_dir = options_.log_dir + "/" + where.comment.substr(1);
    tb_.emplace(std::move(where));
  }
  network_ = std::move(network);
  run_ = run;
  examples_ = examples;
  ++run_count_;
  epoch_count_ = 0;
  run_start_ = now();
}

void RunManager::show_pictures(const Tensor& images) {
  const bool pictures = images.dim() == 4 && (images.size(1) == 1 || images.size(1) == 3) &&
                        (images.is_floating_point() || images.dtype() == kByte);
  if (!pictures || images.size(0) == 0 || !vision::has_png()) return;
  const Tensor shown = images.narrow(0, 0, std::min(images.size(0), kMaxPictures));
  tb_->add_image("images", vision::make_grid(shown));
}

void RunManager::end_run() {
  TAEDA_CHECK(network_, "end_run: no run has begun");
  network_.reset();
  in_epoch_ = false;
  if (!tb_) return;
  auto writer = std::move(*tb_);
  tb_.reset();
  writer.close();
}

void RunManager::begin_epoch() {
  TAEDA_CHECK(network_, "begin_epoch: no run has begun");
  ++epoch_count_;
  loss_sum_ = {};
  correct_sum_ = {};
  in_epoch_ = true;
  epoch_start_ = now();
}

void RunManager::add_sum(Tensor& sum, const Tensor& value) const {
  TAEDA_CHECK(in_epoch_, "RunManager: no epoch has begun");
  if (sum.defined())
    sum.add_(value);
  else
    sum = value.clone();
}

void RunManager::track_loss(const Tensor& loss, int64_t batch_size) {
  const NoGradGuard no_grad;
  add_sum(loss_sum_, loss.detach().to(kFloat).mul(static_cast<double>(batch_size)));
}

void RunManager::track_num_correct(const Tensor& preds, const Tensor& labels) {
  const NoGradGuard no_grad;
  add_sum(correct_sum_, preds.detach().argmax(1).eq(labels).sum());
}

void RunManager::end_epoch() {
  TAEDA_CHECK(in_epoch_, "end_epoch: no epoch has begun");
  in_epoch_ = false;
  // Reading the sums waits for the device: they come before the clock.
  const double loss = loss_sum_.defined() ? loss_sum_.item<double>() : 0;
  const double correct = correct_sum_.defined() ? correct_sum_.item<double>() : 0;
  const double end = now(), n = static_cast<double>(examples_);
  const EpochResult result{run_count_,         epoch_count_,     loss / n, correct / n,
                           end - epoch_start_, end - run_start_, run_};
  results_.push_back(result);
  log_epoch(result);
  print(result);
}

void RunManager::log_epoch(const EpochResult& result) {
  if (!tb_) return;
  tb_->add_scalar("Loss", result.loss, epoch_count_);
  tb_->add_scalar("Accuracy", result.accuracy, epoch_count_);
  for (const auto& [name, parameter] : network_->named_parameters()) {
    if (parameter.numel() == 0) continue;
    tb_->add_histogram(name, parameter, epoch_count_);
    if (parameter.grad().defined())
      tb_->add_histogram(name + ".grad", parameter.grad(), epoch_count_);
  }
}

void RunManager::print(const EpochResult& result) {
  if (!*options_.out) return;
  std::ostream& out = **options_.out;
  const std::vector<std::string> names = names_of(ArrayRef<EpochResult>(&result, 1));
  const std::vector<std::string> header = header_of(names);
  const std::vector<std::string> cells = cells_of(result, names, fixed);
  if (header != header_) {
    if (layout_) out << layout_->bottom();
    header_ = header;
    const std::vector<std::vector<std::string>> sample = {cells};
    layout_ = std::make_unique<TableLayout>(header, sample, TextStyle::of(stdout), kLeastWidths);
    out << layout_->top();
  }
  out << layout_->row(cells) << std::flush;
}

std::string RunManager::table() const {
  const std::vector<std::string> names = names_of(results_);
  Table out(header_of(names));
  for (const EpochResult& r : results_) out.row(cells_of(r, names, fixed));
  return out.str();
}

void RunManager::save(const std::string& name) const {
  TAEDA_CHECK_VALUE(!std::filesystem::path(name).filename().empty(),
                    "RunManager::save expects the name of a file, got '", name, "'");
  const std::vector<std::string> names = names_of(results_);
  std::string csv = csv_line(header_of(names)), json = "[";
  for (size_t i = 0; i < results_.size(); ++i) {
    csv += csv_line(cells_of(results_[i], names, exact));
    json += (i ? ",\n " : "\n ") + json_of(results_[i]).str();
  }
  io::write_file(name + ".csv", csv);
  io::write_file(name + ".json", json + "\n]\n");
}

}  // namespace taeda::inline v0_2::logging
