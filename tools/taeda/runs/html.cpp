#include "tools/taeda/runs/html.h"

#include <cstdint>

#include "taeda/vision/image_io.h"

namespace taeda::tool {

namespace {

/// RFC 4648.
std::string base64(const Tensor& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const Tensor contiguous = bytes.contiguous();
  const auto* data = contiguous.data_ptr<uint8_t>();
  const int64_t n = contiguous.numel();
  std::string out;
  for (int64_t i = 0; i < n; i += 3) {
    uint32_t three = 0;
    for (int64_t k = 0; k < 3; ++k) three = three << 8 | (i + k < n ? data[i + k] : uint32_t{0});
    for (int64_t k = 0; k < 4; ++k) out += i + k > n ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string element(const std::string& tag, const std::string& content) {
  return "<" + tag + ">" + content + "</" + tag.substr(0, tag.find(' ')) + ">";
}

std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string head, body;
  for (const std::string& cell : header) head += element("th scope=col", html_text(cell));
  for (const auto& row : rows) {
    std::string cells = element("th scope=row", html_text(row[0]));
    for (size_t i = 1; i < row.size(); ++i) cells += element("td", html_text(row[i]));
    body += element("tr", cells) + "\n";
  }
  return element("div class=scroll", element("table", element("thead", element("tr", head)) + "\n" +
                                                          element("tbody", body)));
}

std::string picture_address(const Tensor& picture) {
  constexpr int64_t kPhotograph = 40;  // pixels; smaller ones lose too much
  if (picture.size(-1) > kPhotograph && vision::has_jpeg())
    return "data:image/jpeg;base64," + base64(vision::encode_jpeg(picture));
  if (!vision::has_png()) return "";
  return "data:image/png;base64," + base64(vision::encode_png(picture));
}

const char* page_style() {
  return R"css(
:root{color-scheme:light dark;--ink:#1d2129;--soft:#5b6472;--line:#d9dde3;--page:#fff;
--card:#f5f6f8;
--hit:0,114,178;--miss:213,94,0;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b4578c;--c4:#b07a00;
--c5:#2f8fc4;--c6:#3c3c3c;--c7:#882255}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ec;--soft:#a3abb8;--line:#3a404a;
--page:#14171c;
--card:#1e2229;--hit:86,180,233;--miss:240,130,50;--c0:#56b4e9;--c1:#f0823c;--c2:#2fc79a;
--c3:#e29ac4;
--c4:#e6b030;--c5:#8fd0f5;--c6:#d0d0d0;--c7:#d77aa8}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:70rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1rem 0 .4rem}p{margin:.3rem 0}.soft,figcaption small,footer{
color:var(--soft)}
nav a{color:var(--c0);margin-right:1rem}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:1rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.6rem}
.cards div{background:var(--card);border-radius:.5rem;padding:.6rem .8rem;color:var(--soft);
font-size:.85rem}
.cards b{display:block;color:var(--ink);font-size:1.15rem;font-variant-numeric:tabular-nums}
figure{margin:0;min-width:0}.chart{background:var(--card);border-radius:.5rem;padding:.6rem}
.chart svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);
font:11px system-ui,sans-serif}
.axis{stroke:var(--line);stroke-width:1}.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}
.dash{stroke-dasharray:5 3}.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{
--c:var(--c3)}
.c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}.curve{stroke:var(--c)}
.dot{fill:var(--c)}
.legend{display:flex;flex-wrap:wrap;gap:.1rem .9rem;font-size:.85rem;overflow-wrap:anywhere}
.legend svg{display:inline;width:22px;height:8px;margin-right:.35rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);
vertical-align:bottom}
td{overflow-wrap:anywhere}tbody th{font-weight:400;color:var(--soft);white-space:nowrap}
.differs th,.differs td{font-weight:600;color:var(--ink)}
.confusion{font-size:.72rem}.confusion th,.confusion td{border:0;padding:.1rem;white-space:nowrap}
.confusion td{text-align:right;min-width:1.6rem;background:rgba(var(--miss),var(--p,0));
border:1px solid var(--page)}
.confusion td.hit{background:rgba(var(--hit),var(--p,0))}
.confusion thead th span{writing-mode:vertical-rl;transform:rotate(180deg)}
.confusion tbody th{text-align:right;padding-right:.4rem}
@media(prefers-color-scheme:light){.confusion td.deep{color:#fff}}
@media(prefers-color-scheme:dark){.confusion td.deep{color:#0b0d10}}
.mistakes{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.6rem,1fr));gap:.7rem}
.mistakes img{width:100%;image-rendering:pixelated;border-radius:.3rem;display:block}
.mistakes figcaption{font-size:.78rem;line-height:1.3;overflow-wrap:anywhere}.mistakes b{
color:rgb(var(--miss))}
code{font-size:.9em;overflow-wrap:anywhere}footer{margin:2.5rem 0 1rem;font-size:.85rem}
@media print{.chart,.cards div{break-inside:avoid}}
)css";
}

}  // namespace taeda::tool
