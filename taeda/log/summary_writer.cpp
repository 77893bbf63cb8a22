#include "taeda/log/summary_writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/log/embedding.h"
#include "taeda/log/event_queue.h"
#include "taeda/log/graph.h"
#include "taeda/log/summary.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"

namespace taeda::inline v0_2::logging {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kImagesPerRow = 8;

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// runs/Nov21_15-29-45_host
std::string default_folder() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%b%d_%H-%M-%S", &local);
  return (fs::path("runs") / (std::string(date.data()) + "_" + host_name())).string();
}

std::string new_file(const std::string& folder, const std::string& suffix) {
  std::error_code error;
  fs::create_directories(folder, error);
  TAEDA_CHECK(fs::is_directory(folder), "cannot make the folder ", folder, ": ", error.message());
  static std::atomic<unsigned> counter{0};
  std::array<char, 24> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%010lld",
                static_cast<long long>(std::time(nullptr)));
  return (fs::path(folder) / taeda::detail::concat("events.out.tfevents.", seconds.data(), ".",
                                                   host_name(), ".", ::getpid(), ".", counter++,
                                                   suffix))
      .string();
}

/// A picture or a batch of any order of dimensions as bytes (C, H, W) or (N, C, H, W).
Tensor to_pixels(const char* op, const Tensor& given, const std::string& dataformats,
                 const std::string& order) {
  std::string have = dataformats;
  Tensor t = given.detach();
  TAEDA_CHECK_VALUE(t.dim() == static_cast<int64_t>(have.size()), op, ": size of input tensor ",
                    t.sizes(), " and input format '", dataformats, "' are different");
  if (have.find('C') == std::string::npos) {
    have += 'C';
    t = t.unsqueeze(-1);
  }
  std::vector<int64_t> dims;
  for (char letter : order) dims.push_back(static_cast<int64_t>(have.find(letter)));
  const bool fits =
      have.size() == order.size() && std::find(dims.begin(), dims.end(), int64_t{-1}) == dims.end();
  TAEDA_CHECK_VALUE(fits, op, " expects an order of the letters ", order, ", got '", dataformats,
                    "'");
  t = t.permute(dims);
  const int64_t channels = t.size(-3);
  TAEDA_CHECK_VALUE(channels == 1 || channels == 3 || channels == 4, op,
                    " expects 1, 3 or 4 channels, got ", channels);
  TAEDA_CHECK_VALUE(t.numel() > 0, op, " expects a picture with pixels, got ", given.sizes());
  TAEDA_CHECK_TYPE(t.dtype() == kByte || t.is_floating_point(), op,
                   " expects uint8 or floating point pictures, got ", dtype_name(t.dtype()));
  return t.dtype() == kByte ? t.to(Device(kCPU), kByte, false, /*copy=*/true) : vision::to_bytes(t);
}

}  // namespace

bool has_tensorboard() {
#if defined(TAEDA_HAS_TENSORBOARD)
  return true;
#else
  return false;
#endif
}

struct SummaryWriter::Impl {
  SummaryWriterOptions options;
  std::unique_ptr<EventQueue> queue;
  /// Writers of add_scalars, by folder.
  std::map<std::string, std::unique_ptr<SummaryWriter>> curves;

  explicit Impl(SummaryWriterOptions o) : options(std::move(o)) {
    if (options.log_dir.empty()) options.log_dir = default_folder() + options.comment;
    open();
  }

  void open() {
    summary::check_available();
    queue = std::make_unique<EventQueue>(new_file(options.log_dir, options.filename_suffix),
                                         options.max_queue, options.flush_secs);
    const summary::When when{wall_time(), options.purge_step.value_or(0)};
    queue->add([when] { return summary::version_event(when); });
    if (options.purge_step) queue->add([when] { return summary::session_start_event(when); });
  }

  /// `make` gives the summary; it is called on the writing thread.
  template <class F>
  void add(const Step& step, const Time& time, F make) {
    if (!queue) open();
    const summary::When when{time.value_or(wall_time()), step.value_or(0)};
    queue->add([when, make = std::move(make)] { return summary::event(when, make()); });
  }

  void add_picture(const std::string& tag, const Tensor& pixels, const Step& step,
                   const Time& time) {
    TAEDA_CHECK_NOT_IMPLEMENTED(vision::has_png(),
                                "cannot add a picture: this build of Taeda has no libpng");
    add(step, time, [tag, pixels] {
      const Tensor png = vision::encode_png(pixels);
      return summary::image(
          tag, pixels.size(1), pixels.size(2), pixels.size(0),
          {static_cast<const char*>(png.data_ptr()), static_cast<size_t>(png.numel())});
    });
  }
};

SummaryWriter::SummaryWriter(SummaryWriterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

SummaryWriter::Impl& SummaryWriter::impl() const {
  TAEDA_CHECK_VALUE(impl_, "SummaryWriter: this one was moved from");
  return *impl_;
}
SummaryWriter::~SummaryWriter() = default;
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&&) noexcept = default;

void SummaryWriter::add_scalar(const std::string& tag, double scalar_value, Step global_step,
                               Time walltime, bool new_style, bool double_precision) {
  const auto kind = double_precision ? summary::ScalarKind::kDoubleTensor
                    : new_style      ? summary::ScalarKind::kFloatTensor
                                     : summary::ScalarKind::kSimple;
  impl().add(global_step, walltime, [=] { return summary::scalar(tag, scalar_value, kind); });
}

void SummaryWriter::add_scalars(const std::string& main_tag,
                                const std::vector<std::pair<std::string, double>>& tag_scalar_dict,
                                Step global_step, Time walltime) {
  const double now = walltime.value_or(wall_time());
  std::string prefix = main_tag;
  std::replace(prefix.begin(), prefix.end(), '/', '_');
  for (const auto& [name, value] : tag_scalar_dict) {
    const std::string folder = get_logdir() + "/" + prefix + "_" + name;
    auto& writer = impl().curves[folder];
    if (!writer) {
      SummaryWriterOptions options = impl().options;
      options.log_dir = folder;
      writer = std::make_unique<SummaryWriter>(std::move(options));
    }
    writer->add_scalar(main_tag, value, global_step, now);
  }
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, Step global_step,
                                  const HistogramBins& bins, Time walltime, int64_t max_bins) {
  TAEDA_CHECK_VALUE(values.numel() > 0, "The input has no element.");
  TAEDA_CHECK_TYPE(!values.is_complex(), "add_histogram: complex numbers have no order");
  TAEDA_CHECK_VALUE(max_bins >= 0, "add_histogram: max_bins must not be negative, got ", max_bins);
  const Tensor numbers =
      values.detach().to(Device(kCPU), kDouble, false, /*copy=*/true).contiguous();
  impl().add(global_step, walltime, [tag, numbers, bins, max_bins] {
    const ArrayRef<double> list(numbers.data_ptr<double>(), static_cast<size_t>(numbers.numel()));
    return summary::histogram(tag, make_histogram(list, bins, max_bins));
  });
}

void SummaryWriter::add_histogram_raw(const std::string& tag, const HistogramData& data,
                                      Step global_step, Time walltime) {
  TAEDA_CHECK_VALUE(data.limits.size() == data.counts.size(),
                    "len(bucket_limits) != len(bucket_counts), see the document.");
  impl().add(global_step, walltime, [=] { return summary::histogram(tag, data); });
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& img_tensor, Step global_step,
                              Time walltime, const std::string& dataformats) {
  impl().add_picture(tag, to_pixels("add_image", img_tensor, dataformats, "CHW"), global_step,
                     walltime);
}

void SummaryWriter::add_images(const std::string& tag, const Tensor& img_tensor, Step global_step,
                               Time walltime, const std::string& dataformats) {
  const Tensor pixels = to_pixels("add_images", img_tensor, dataformats, "NCHW");
  impl().add_picture(tag, vision::make_grid(pixels, {.nrow = kImagesPerRow, .padding = 0}),
                     global_step, walltime);
}

void SummaryWriter::add_figure(const std::string& tag, const std::string& png_file,
                               Step global_step, Time walltime) {
  const Tensor pixels = vision::read_png(png_file);
  impl().add(global_step, walltime,
             [tag, sizes = DimVector(pixels.sizes()), png = io::read_file(png_file)] {
               return summary::image(tag, sizes[1], sizes[2], sizes[0], png);
             });
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text_string,
                             Step global_step, Time walltime) {
  impl().add(global_step, walltime, [=] { return summary::text(tag, text_string); });
}

void SummaryWriter::add_summary(const std::string& summary, Step global_step, Time walltime) {
  impl().add(global_step, walltime, [=] { return summary; });
}

void SummaryWriter::add_graph_of(nn::Module& model, const std::vector<Tensor>& inputs,
                                 const ForwardFunction& forward) {
  if (!impl().queue) impl().open();
  const std::vector<GraphNode> nodes = trace_graph(model, inputs, forward);
  const summary::When when{wall_time(), 0};
  impl().queue->add([when, nodes] { return summary::graph_event(when, nodes); });
}

void SummaryWriter::add_hparams(
    const HParams& hparam_dict, const std::vector<std::pair<std::string, double>>& metric_dict,
    const std::vector<std::pair<std::string, std::vector<HParam>>>& hparam_domain_discrete,
    const std::string& run_name, Step global_step) {
  for (const auto& [name, value] : hparam_dict)
    TAEDA_CHECK_VALUE(!name.empty(), "add_hparams: a hyperparameter has no name");
  std::vector<std::string> metrics;
  for (const auto& [name, value] : metric_dict) {
    TAEDA_CHECK_VALUE(!name.empty(), "add_hparams: a metric has no name");
    metrics.push_back(name);
  }
  std::vector<summary::HParamDomain> domains;
  for (const auto& [name, values] : hparam_domain_discrete) domains.push_back({name, values});
  const double now = wall_time();
  SummaryWriterOptions options = impl().options;
  options.log_dir += "/" + (run_name.empty() ? std::to_string(now) : run_name);
  SummaryWriter row(std::move(options));
  row.impl().add(global_step, now,
                 [=] { return summary::hparams_experiment(hparam_dict, metrics, domains); });
  row.impl().add(global_step, now, [=] { return summary::hparams_start(hparam_dict, now); });
  row.impl().add(global_step, now, [=] { return summary::hparams_end(now); });
  for (const auto& [name, value] : metric_dict) row.add_scalar(name, value, global_step);
  row.close();
}

void SummaryWriter::add_embedding(const Tensor& mat, const std::vector<std::string>& metadata,
                                  const Tensor& label_img, Step global_step, const std::string& tag,
                                  const std::vector<std::string>& metadata_header) {
  write_embedding(get_logdir(), {mat, metadata, metadata_header, label_img}, tag,
                  global_step.value_or(0));
}

void SummaryWriter::flush() {
  if (impl().queue) impl().queue->flush();
  for (const auto& [folder, writer] : impl().curves) writer->flush();
}

void SummaryWriter::close() {
  const auto curves = std::exchange(impl().curves, {});
  if (const auto queue = std::exchange(impl().queue, nullptr)) queue->close();
  for (const auto& [folder, writer] : curves) writer->close();
}

const std::string& SummaryWriter::get_logdir() const { return impl().options.log_dir; }

}  // namespace taeda::inline v0_2::logging
