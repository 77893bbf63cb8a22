"""Links of the site that lead nowhere."""

import html.parser
import posixpath
import re
import urllib.parse


class Marks(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.twice = set(), [], []

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.twice += [value] if value in self.ids else []
                self.ids.add(value)
            if key in ("href", "src") and value:
                self.links.append(value)


def dead_links(out):
    """What is wrong, as sentences."""
    pages = {}
    for path in out.rglob("*.html"):
        marks = Marks()
        marks.feed(path.read_text())
        pages[str(path.relative_to(out))] = marks
    wrong = []
    for name, marks in sorted(pages.items()):
        wrong += [f"{name}: two places have the id {mark}" for mark in marks.twice]
        for link in marks.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, fragment = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(path))) if path else name
            if target in pages:
                if fragment and fragment not in pages[target].ids and urllib.parse.unquote(fragment) not in pages[target].ids:
                    wrong.append(f"{name}: {target} has no #{fragment}")
            elif not (out / target).exists():
                wrong.append(f"{name}: there is no {link}")
    return wrong
