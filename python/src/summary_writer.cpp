// TensorBoard's event files, and the graph of a module written in Python.
#include "taeda/log/summary_writer.h"

#include "bindings.h"
#include "logs.h"
#include "taeda/nn/module.h"

namespace taeda::python {

namespace {

using logging::HParam;
using logging::SummaryWriter;
using Step = SummaryWriter::Step;
using Time = SummaryWriter::Time;

/// Tensors in a value and, one level deep, in a list, tuple or dict of them.
std::vector<Tensor> tensors_in(py::handle value) {
  std::vector<Tensor> out;
  const auto add = [&](py::handle item) {
    if (is_tensor(item.ptr())) out.push_back(tensor_of(item.ptr()));
  };
  add(value);
  if (py::isinstance<py::dict>(value))
    for (const auto& item : py::cast<py::dict>(value)) add(item.second);
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value))
    for (const py::handle item : value) add(item);
  return out;
}

/// Stands for a module written in Python where its graph is drawn: has its name, parameters and
/// children, and runs its forward.
class Stand : public nn::Module {
 public:
  explicit Stand(const std::string& name) : Module(name) {}

  void add_parameter(const std::string& name, const Tensor& parameter) {
    register_parameter(name, parameter, parameter.requires_grad());
  }
  void add_child(const std::string& name, const std::shared_ptr<Stand>& child) {
    register_module(name, child);
  }

  /// Within hooks: the tensor that the Python forward returned first.
  Tensor forward(const Tensor&) {
    result_ = run_();
    const std::vector<Tensor> found = tensors_in(result_);
    return found.empty() ? Tensor() : found[0];
  }
  /// Runs `forward` as a call of this module.
  py::object call(py::function forward) {
    std::function<py::object()> before = std::exchange(run_, [&] { return forward(); });
    nn::call(*this, Tensor());
    run_ = std::move(before);
    return std::move(result_);
  }

 private:
  std::function<py::object()> run_;
  py::object result_;
};

/// The root, called on the inputs: the graph is followed from the first tensor that it returns.
class Root : public Stand {
 public:
  using Stand::Stand;
  template <class... T>
  Tensor forward(const Tensor& first, const T&... rest) {
    py::list inputs;
    const auto add = [&](const Tensor& t) {
      inputs.append(py::reinterpret_steal<py::object>(wrap(t)));
    };
    add(first);
    (add(rest), ...);
    const std::vector<Tensor> found = tensors_in(model(inputs));
    if (found.empty()) raise(PyExc_TypeError, "add_graph expects a module that returns a tensor");
    return found[0];
  }
  py::function model;
};

void add_graph(SummaryWriter& writer, const std::shared_ptr<Root>& root, py::function model,
               const std::vector<Tensor>& in) {
  root->model = model;
  switch (in.size()) {
    case 1: return writer.add_graph(*root, in[0]);
    case 2: return writer.add_graph(*root, in[0], in[1]);
    case 3: return writer.add_graph(*root, in[0], in[1], in[2]);
    case 4: return writer.add_graph(*root, in[0], in[1], in[2], in[3]);
    default:
      raise(PyExc_ValueError,
            "add_graph takes 1 to 4 input tensors, got " + std::to_string(in.size()));
  }
}

void add_graph_bindings(py::module_& m) {
  py::class_<Stand, std::shared_ptr<Stand>>(m, "_Stand")
      .def(py::init<const std::string&>())
      .def("add_parameter", &Stand::add_parameter)
      .def("add_child", &Stand::add_child)
      .def("call", &Stand::call);
  py::class_<Root, Stand, std::shared_ptr<Root>>(m, "_Root").def(py::init<const std::string&>());
}

}  // namespace

void add_summary_writer(PyObject* module) {
  py::module_ m = as_module(module);
  add_graph_bindings(m);
  m.def("_has_tensorboard", &logging::has_tensorboard);
  py::class_<SummaryWriter>(m, "_SummaryWriter")
      .def(py::init([](const std::string& log_dir, std::optional<int64_t> purge_step,
                       int64_t max_queue, double flush_secs, const std::string& suffix) {
        return SummaryWriter({.log_dir = log_dir,
                              .purge_step = purge_step,
                              .max_queue = max_queue,
                              .flush_secs = flush_secs,
                              .filename_suffix = suffix});
      }))
      .def("add_scalar",
           [](SummaryWriter& w, const std::string& tag, double value, Step step, Time time,
              bool new_style, bool double_precision) {
             w.add_scalar(tag, value, step, time, new_style, double_precision);
           })
      .def("add_scalars", &SummaryWriter::add_scalars)
      .def("add_histogram",
           [](SummaryWriter& w, const std::string& tag, const Tensor& values, Step step,
              std::optional<std::vector<double>> limits, Time time, int64_t max_bins) {
             w.add_histogram(
                 tag, values, step,
                 limits ? logging::HistogramBins(std::move(*limits)) : logging::HistogramBins(),
                 time, max_bins);
           })
      .def("add_histogram_raw",
           [](SummaryWriter& w, const std::string& tag, double min, double max, double num,
              double sum, double sum_squares, std::vector<double> limits,
              std::vector<double> counts, Step step, Time time) {
             logging::HistogramData data{
                 min, max, num, sum, sum_squares, std::move(limits), std::move(counts)};
             w.add_histogram_raw(tag, data, step, time);
           })
      .def("add_image", &SummaryWriter::add_image)
      .def("add_images", &SummaryWriter::add_images)
      .def("add_figure", &SummaryWriter::add_figure)
      .def("add_text", &SummaryWriter::add_text)
      .def("add_summary", [](SummaryWriter& writer, const py::bytes& summary, Step step,
                             Time time) { writer.add_summary(summary, step, time); })
      .def("add_hparams", &SummaryWriter::add_hparams)
      .def("add_embedding", &SummaryWriter::add_embedding)
      .def("add_graph", &add_graph)
      .def("flush", &SummaryWriter::flush, py::call_guard<ReleaseGil>())
      .def("close", &SummaryWriter::close, py::call_guard<ReleaseGil>())
      .def("get_logdir", &SummaryWriter::get_logdir);
}

}  // namespace taeda::python
