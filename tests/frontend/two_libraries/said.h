// What each of two libraries in one program says of its own model, schedule and loader.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "taeda/taeda.h"

struct Said {
  std::string name, text, text_of_clone;
  std::vector<double> rates;                 ///< of eight steps of StepLR(optimizer, 3, 0.5) from 1
  std::vector<std::vector<int64_t>> orders;  ///< of two epochs over 0, ..., 7 after seed 7
  double after_clone = 0;  ///< the next random number behind a clone of Linear(2, 3), seed 7
  std::string error;       ///< of a dataset that throws "badness" at example 1
  std::string shared;      ///< what the function below prints when this library calls it
};

/// Compiled into both libraries; the program keeps one of the two.
inline std::string text_of_taedas_layer() {
  std::ostringstream out;
  out << taeda::nn::Sequential(taeda::nn::Linear(2, 3));
  return out.str();
}

template <class Module>
std::string text_of(const Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

template <class Optimizer, class Schedule>
std::vector<double> rates_of(Optimizer& optimizer, Schedule& schedule) {
  std::vector<double> rates;
  for (int i = 0; i < 8; ++i) {
    rates.push_back(optimizer.param_groups()[0].options().get_lr());
    schedule.step();
  }
  return rates;
}

Said written_for_taeda();
Said written_for_libtorch();
