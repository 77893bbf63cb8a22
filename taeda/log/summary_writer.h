// Event files for TensorBoard (torch.utils.tensorboard.SummaryWriter).
//
//     SummaryWriter writer("runs/first");
//     writer.add_scalar("Loss/train", loss.item<double>(), epoch);
//     writer.add_graph(network, images);
//
// Calls come back at once: a thread encodes and writes. When that fails (a full disk, say),
// training goes on, files stay readable, and the next flush() or close() throws Error with the
// reason.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "taeda/log/histogram.h"
#include "taeda/log/hparams.h"
#include "taeda/nn/hooks.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::logging {

/// Whether this build can write event files; making a SummaryWriter without it is an Error.
bool has_tensorboard();

struct SummaryWriterOptions {
  /// Where the files go; by default runs/<date>_<host><comment>.
  std::string log_dir = {};
  /// Appended to the default folder; without meaning if `log_dir` is given.
  std::string comment = {};
  /// The step from which on an earlier run's events, which crashed, are hidden; none by default.
  std::optional<int64_t> purge_step = {};
  /// The most events that wait; when they are more, they are written. 10 by default.
  int64_t max_queue = 10;
  /// Seconds after which events are written, however few they are.
  double flush_secs = 120;
  std::string filename_suffix = {};
};

namespace detail {
inline void collect(std::vector<Tensor>& out, const Tensor& t) { out.push_back(t); }
template <class... T>
void collect(std::vector<Tensor>& out, const std::tuple<T...>& values) {
  std::apply([&](const auto&... value) { (collect(out, value), ...); }, values);
}
template <class A, class B>
void collect(std::vector<Tensor>& out, const std::pair<A, B>& values) {
  collect(out, values.first);
  collect(out, values.second);
}
}  // namespace detail

/// Arguments are in PyTorch's order. Steps default to 0, times to now (seconds since 1970). A
/// writer belongs to one thread at a time.
class SummaryWriter {
 public:
  using Step = std::optional<int64_t>;
  using Time = std::optional<double>;
  using ForwardFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  /// Throws Error when the folder or a file in it cannot be made, NotImplementedError without
  /// Protocol Buffers.
  explicit SummaryWriter(SummaryWriterOptions options = {});
  template <class S>
  requires(std::is_convertible_v<const S&, std::string>) explicit SummaryWriter(const S& log_dir)
      : SummaryWriter(SummaryWriterOptions{.log_dir = log_dir}) {}
  /// Closes the files; an error is written to stderr.
  ~SummaryWriter();
  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;

  /// Adds a number; `new_style` and `double_precision`, false by default, store a 0-dim tensor
  /// instead of a float.
  void add_scalar(const std::string& tag, double scalar_value, Step global_step = {},
                  Time walltime = {}, bool new_style = false, bool double_precision = false);
  /// Throws Error unless the tensor has one element.
  void add_scalar(const std::string& tag, const Tensor& scalar_value, Step global_step = {},
                  Time walltime = {}, bool new_style = false, bool double_precision = false) {
    add_scalar(tag, scalar_value.item<double>(), global_step, walltime, new_style,
               double_precision);
  }
  /// Adds numbers as several curves in one plot, at least one; each gets a folder <main_tag>_<name>
  /// of its own.
  void add_scalars(const std::string& main_tag,
                   const std::vector<std::pair<std::string, double>>& tag_scalar_dict,
                   Step global_step = {}, Time walltime = {});

  /// Counts the values between limits (log/histogram.h). Throws ValueError for an empty tensor.
  void add_histogram(const std::string& tag, const Tensor& values, Step global_step = {},
                     const HistogramBins& bins = {}, Time walltime = {}, int64_t max_bins = 0);
  /// A histogram that was counted elsewhere. Throws ValueError unless there is a count per limit.
  void add_histogram_raw(const std::string& tag, const HistogramData& data, Step global_step = {},
                         Time walltime = {});

  /// A picture of 1, 3 or 4 channels: uint8, or floating point from 0 to 1. `dataformats` names
  /// the dimensions: "CHW", "HWC", "HW" or another order. Throws ValueError or TypeError for other
  /// tensors, NotImplementedError without libpng.
  void add_image(const std::string& tag, const Tensor& img_tensor, Step global_step = {},
                 Time walltime = {}, const std::string& dataformats = "CHW");
  /// Adds a batch of images, shown as a grid of 8 columns; `dataformats` names its dimensions,
  /// "NCHW" by default.
  void add_images(const std::string& tag, const Tensor& img_tensor, Step global_step = {},
                  Time walltime = {}, const std::string& dataformats = "NCHW");

  /// A figure that a plotting program drew: a PNG file, taken over as it is. Throws Error, naming
  /// the file, when it is none.
  void add_figure(const std::string& tag, const std::string& png_file, Step global_step = {},
                  Time walltime = {});

  /// A text in Markdown; an empty one is shown as such.
  void add_text(const std::string& tag, const std::string& text_string, Step global_step = {},
                Time walltime = {});

  /// Adds the bytes of a `tensorboard.Summary` that was serialised elsewhere, for plug-ins that
  /// have no method here.
  void add_summary(const std::string& summary, Step global_step = {}, Time walltime = {});

  /// Adds the graph of a module, seen by running it on these tensors, whose shapes must fit, once,
  /// in evaluation mode.
  template <class M, class... T>
  void add_graph(const M& model, const T&... input_to_model);

  /// A row in the table of hyperparameters, in a folder of its own below this one: `run_name`, or
  /// the time. Throws ValueError when a metric or hyperparameter has no name.
  void add_hparams(
      const HParams& hparam_dict, const std::vector<std::pair<std::string, double>>& metric_dict,
      const std::vector<std::pair<std::string, std::vector<HParam>>>& hparam_domain_discrete = {},
      const std::string& run_name = "", Step global_step = {});

  /// Points (N, D) for the projector, with a line of text for each and small square pictures
  /// (N, C, H, W). With a header, each line has a column for each of its names, divided by tabs.
  /// Throws ValueError when numbers do not fit. Written at once, not by the thread.
  void add_embedding(const Tensor& mat, const std::vector<std::string>& metadata = {},
                     const Tensor& label_img = {}, Step global_step = {},
                     const std::string& tag = "default",
                     const std::vector<std::string>& metadata_header = {});

  /// Returns when everything is in the files. Throws Error for what could not be written.
  void flush();
  /// Writes all and closes the files; what is added later goes to new ones. Throws Error where
  /// writing fails.
  void close();
  const std::string& get_logdir() const;
  const std::string& log_dir() const { return get_logdir(); }

 private:
  struct Impl;
  void add_graph_of(nn::Module& model, const std::vector<Tensor>& inputs,
                    const ForwardFunction& forward);
  /// Throws ValueError if this writer was moved from.
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

template <class M, class... T>
void SummaryWriter::add_graph(const M& model, const T&... input_to_model) {
  const auto run = [&](auto& module) {
    add_graph_of(module, {input_to_model...}, [&](const std::vector<Tensor>& inputs) {
      std::vector<Tensor> out;
      [&]<size_t... I>(std::index_sequence<I...>) {
        detail::collect(out, nn::call(module, inputs[I]...));
      }
      (std::index_sequence_for<T...>());
      return out;
    });
  };
  if constexpr (requires { model.ptr(); })
    run(*model.ptr());
  else
    run(const_cast<M&>(model));
}

}  // namespace taeda::inline v0_2::logging
