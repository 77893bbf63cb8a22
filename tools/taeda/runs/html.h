// Pieces of a page that stands alone: nothing in it is fetched.
#pragma once

#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::tool {

/// Text as it may stand between tags and in attributes.
std::string html_text(const std::string& text);

/// <tag>content</tag>; the tag may have attributes, the content is HTML.
std::string element(const std::string& tag, const std::string& content);

/// A table with a header; texts become HTML here. The first cell of a row names it.
std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows);

/// A uint8 picture (C, H, W) as an address that holds it: a PNG, or a JPEG where that is smaller by
/// much. Empty where this build writes neither.
std::string picture_address(const Tensor& picture);

/// One line in a chart of the page.
struct PageCurve {
  std::string name;
  std::vector<double> x = {}, y = {};
  size_t color = 0;     ///< a run's number
  bool dashed = false;  ///< of training, beside one of a test
};

struct PageChart {
  std::string title, x_label, y_label;
  std::vector<PageCurve> curves = {};
  bool may_be_log = false;  ///< where values of several magnitudes are there, their logarithms
  bool bytes = false;       ///< values are numbers of bytes; of many points the largest are shown
  std::string note = {};    ///< below the legend
};

/// The chart as a figure with a legend; empty where no curve has a point. Colours are the page's,
/// for light and for dark.
std::string chart_html(const PageChart& chart);

/// The page's style.
const char* page_style();

}  // namespace taeda::tool
