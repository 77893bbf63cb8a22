#!/usr/bin/env python3
"""Reads a page of `taeda report` and says what is wrong with it.

With --seen it looks at pictures that a Chromium makes of the page; without one that ends with SKIPPED.
"""

import argparse
import html.parser
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

SKIPPED = 77
VOID = {"meta", "br", "img", "link", "hr", "input"}


class Page(html.parser.HTMLParser):
    """Elements in the order of the page, each with its attributes, texts and what it lies in."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.problems = [], [], []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"<{self.open[-1]['tag']}> is not closed")

    def handle_starttag(self, tag, attributes, closed=False):
        element = {"tag": tag, "text": "", "in": [e["tag"] for e in self.open], **dict(attributes)}
        element["ids"] = [e["id"] for e in self.open if "id" in e]
        self.elements.append(element)
        if tag not in VOID and not closed:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes, closed=True)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1]["tag"] != tag:
            self.problems.append(f"</{tag}> closes nothing at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, inside=None):
        return [e for e in self.elements if e["tag"] == tag and (inside is None or inside in e["ids"])]


def check_alone(page, text):
    """Nothing is fetched, and nothing runs."""
    for element in page.elements:
        for name in ("src", "href", "xlink:href"):
            if name in element and not element[name].startswith(("data:image/", "#")):
                yield f"<{element['tag']} {name}={element[name][:60]!r}> leads out of the page"
        if element["tag"] in ("script", "link", "iframe", "object"):
            yield f"the page has a <{element['tag']}>"
    for found in re.findall(r"@import|url\(|https?:", text):
        yield f"the page has {found!r}"
    for link in page.all("a"):
        if not any(e.get("id") == link["href"][1:] for e in page.elements):
            yield f"{link['href']} is nowhere"


def check_charts(page, wanted):
    """Each has a title, two axes with names, ticks, and curves of numbers."""
    charts = [e for e in page.all("figure") if e.get("class") == "chart"]
    titles = [chart["text"].strip().split("\n")[0] for chart in charts]
    for title in wanted:
        if title not in titles:
            yield f"there is no chart {title!r}, only {titles}"
    pictures = [e for e in page.all("svg") if e.get("role") == "img"]
    if len(pictures) != len(charts):
        yield "a chart has no picture"
    for picture, title in zip(pictures, titles):
        if len(picture["text"].split()) < 6:
            yield f"{title!r} has neither ticks nor names of axes"
    for path in page.all("path"):
        if "nan" in path["d"] or "inf" in path["d"]:
            yield "a curve has a point that is no number"


def check_confusion(page, classes):
    tables = [e for e in page.all("table") if e.get("class") == "confusion"]
    if not tables:
        yield "there is no confusion matrix"
    rows = [e for e in page.all("th", "confusion") if e.get("scope") == "row"]
    if len(rows) != classes * len(tables):
        yield f"{len(rows)} rows of {len(tables)} matrices, not {classes} of each"
    cells = [e for e in page.all("td", "confusion") if e["text"]]
    if sum(int(e["text"]) for e in cells) == 0:
        yield "nothing was counted"
    for cell in cells:
        if not 0 < float(cell["style"].removeprefix("--p:")) <= 1:
            yield f"a cell has the colour {cell['style']}"


def check_mistakes(page):
    pictures = page.all("img", "mistakes")
    if not pictures:
        yield "there are no pictures of mistakes"
    for picture in pictures:
        said = picture.get("alt", "").split(" taken for ")
        if len(said) != 2 or said[0] == said[1]:
            yield f"a mistake is described as {picture.get('alt')!r}"


def check_runs(page, runs, legends, differs):
    text = " ".join(e["text"] for e in page.all("div") if e.get("class") == "legend")
    for legend in legends:
        if legend not in text:
            yield f"no legend says {legend!r}: {text!r}"
    columns = [e for e in page.all("th", "settings") if e.get("scope") == "col"]
    if len(columns) != runs + 1:
        yield f"the settings have {len(columns)} columns for {runs} runs"
    marked = [e["text"] for e in page.all("tr", "settings") if e.get("class") == "differs"]
    if len(marked) != len(differs) or not all(any(m.startswith(d) for m in marked) for d in differs):
        yield f"marked as different are {marked}, not {differs}"


def pixels(path):
    """A PNG of 8 bits, RGB or RGBA: its width and its rows as bytes."""
    data = path.read_bytes()
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    channels = {2: 3, 6: 4}[kind]
    at, packed = 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += size + 12
    raw, stride, rows = zlib.decompress(packed), width * channels, []
    before = bytes(stride)
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if method else 0):
            a, b, c = (line[i - channels] if i >= channels else 0), before[i], (before[i - channels] if i >= channels else 0)
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = line[i] + (0, a, b, (a + b) // 2, paeth)[method] & 255
        rows.append(bytes(line))
        before = bytes(line)
    return width, channels, rows


def check_seen(path):
    """Light and dark differ, and at a phone's width nothing is cut off on the right."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("there is no Chromium")
        sys.exit(SKIPPED)
    backgrounds = []
    for flags in ([], ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]):
        with tempfile.TemporaryDirectory() as folder:
            shot = pathlib.Path(folder) / "shot.png"
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            f"--user-data-dir={folder}/profile", *flags, "--window-size=380,900",
                            f"--screenshot={shot}", path.resolve().as_uri()], capture_output=True, timeout=90)
            if not shot.exists():
                print(f"{browser} makes no picture here")
                sys.exit(SKIPPED)
            width, channels, rows = pixels(shot)
            corner = rows[0][:3]
            backgrounds.append(sum(corner))
            edge = [row[(width - 3) * channels:(width - 3) * channels + 3] for row in rows]
            if any(pixel != corner for pixel in edge):
                yield f"something reaches the right edge of {width} pixels"
            inked = sum(len(set(row)) > channels for row in rows)
            if inked < len(rows) / 2:
                yield f"only {inked} of {len(rows)} rows of pixels show something"
    if not backgrounds[0] > 600 > 200 > backgrounds[1]:
        yield f"backgrounds are {backgrounds}: neither light and dark"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--classes", type=int, default=0)
    parser.add_argument("--charts", default="")
    parser.add_argument("--legend", action="append", default=[])
    parser.add_argument("--differs", action="append", default=[])
    parser.add_argument("--mistakes", action="store_true")
    parser.add_argument("--seen", action="store_true")
    options = parser.parse_args()
    text = options.page.read_text(encoding="utf-8")
    page = Page(text)
    problems = page.problems + list(check_alone(page, text))
    problems += check_charts(page, [c for c in options.charts.split("|") if c])
    if options.seen:
        problems += check_seen(options.page)
    else:
        problems += check_runs(page, options.runs, options.legend, options.differs)
    if options.classes:
        problems += check_confusion(page, options.classes)
    if options.mistakes:
        problems += check_mistakes(page)
    print("\n".join(map(str, problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
