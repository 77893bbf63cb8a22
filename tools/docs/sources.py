"""Files of the repository as pages, with a mark for each line."""

import html

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound


class Sources:
    def __init__(self, site, root):
        self.site, self.root, self.wanted = site, root, {}

    def link(self, file):
        """The page of a file or folder, which is made when all links are known."""
        self.wanted.setdefault(file, self.root / file)
        return f"source/{file}.html"

    def add(self, name, path):
        self.wanted[name] = path

    def write(self):
        for name, path in sorted(self.wanted.items()):
            self.page(name, path)

    def page(self, name, path):
        if path.is_dir():
            files = sorted(p.name + ("/" if p.is_dir() else "") for p in path.iterdir())
            body = "<ul>" + "".join(f"<li><code>{html.escape(f)}</code></li>" for f in files) + "</ul>"
        elif path.exists():
            try:
                lexer = get_lexer_for_filename(name if not name.endswith(".inc") else "x.cpp")
            except ClassNotFound:
                lexer = get_lexer_for_filename("x.txt")
            marked = HtmlFormatter(linespans="L", cssclass="code")
            body = highlight(path.read_text(errors="replace"), lexer, marked).replace('id="L-', 'id="L')
        else:
            return   # the check of links says so
        self.site.write(f"source/{name}.html", name, f"<h1>{html.escape(name)}</h1>{body}")
