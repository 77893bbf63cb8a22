#include "tools/taeda/train/options.h"

#include <charconv>
#include <cmath>

namespace taeda::tool {

bool Setting::is_of(const std::string& task) const {
  const std::string list = "," + std::string(tasks) + ",";
  return *tasks == '\0' || list.find("," + task + ",") != std::string::npos;
}

bool Setting::is_unset() const {
  if (const auto* number = std::get_if<double*>(&value)) return std::isnan(**number);
  const auto* text = std::get_if<std::string*>(&value);
  return text && (*text)->empty();
}

std::string Setting::text() const {
  if (is_unset()) return std::holds_alternative<double*>(value) ? "default" : "";
  struct {
    std::string operator()(const std::string* v) const { return *v; }
    std::string operator()(const int64_t* v) const { return std::to_string(*v); }
    std::string operator()(const double* v) const { return exact_text(*v); }
    std::string operator()(const bool* v) const { return *v ? "on" : "off"; }
  } const write;
  return std::visit(write, value);
}

std::vector<Setting> settings(TrainOptions& o) {
  return {{"model", &o.model},
          {"data", &o.data, false},
          {"test", &o.test, false, "folder,csv,text"},
          {"epochs", &o.epochs},
          {"batch-size", &o.batch_size},
          {"lr", &o.lr},
          {"optimizer", &o.optimizer},
          {"weight-decay", &o.weight_decay},
          {"momentum", &o.momentum},
          {"max-norm", &o.max_norm},
          {"schedule", &o.schedule},
          {"warmup", &o.warmup},
          {"step-size", &o.step_size},
          {"gamma", &o.gamma},
          {"early-stopping", &o.early_stopping},
          {"pretrained", &o.pretrained, false},
          {"seed", &o.seed},
          {"amp", &o.amp},
          {"data-parallel", &o.data_parallel},
          {"nproc", &o.nproc},
          {"device", &o.device, false},
          {"workers", &o.workers, false},
          {"threads", &o.threads, false},
          {"tensorboard", &o.tensorboard, false},
          {"target", &o.target, true, "csv"},
          {"regression", &o.regression, true, "csv"},
          {"missing", &o.missing, true, "csv"},
          {"categories", &o.categories, true, "csv"},
          {"hidden", &o.hidden, true, "csv"},
          {"delimiter", &o.delimiter, false, "csv"},
          {"header", &o.header, false, "csv"},
          {"image-size", &o.image_size, true, "folder"},
          {"context", &o.context, true, "text"},
          {"layers", &o.layers, true, "text"},
          {"width", &o.width, true, "text"}};
}

std::string exact_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace taeda::tool
