"""The Markdown of the repository as pages."""

import html
import posixpath
import re

import markdown

from page import relative

PAGES = ("README.md", "CHANGELOG.md", "docs/*.md", "taeda/**/README.md", "examples/**/README.md", "examples/*.md",
         "tools/**/README.md", "tests/README.md", "benchmarks/README.md")
# The order in which the guides are offered; what is missing here comes last, by its title.
ORDER = ("tutorial", "from_pytorch", "data", "training", "frontend", "libtorch", "files", "onnx", "devices", "threads", "environment", "platforms",
         "installing", "tool", "planning", "performance", "numerics", "distributions", "sparse", "extending")
PARTS = {"Start": ("README.md", "docs/tutorial.md", "docs/from_pytorch.md", "docs/errors.md", "docs/performance.md",
                   "CHANGELOG.md"),
         "Several devices": ("docs/parallel_training.md", "docs/distributed.md", "docs/launching.md", "docs/rpc.md",
                             "docs/nccl.md", "docs/planning.md"),
         "Inside": ("docs/architecture.md", "docs/contributing.md", "docs/security.md")}


def slug(text):
    """A heading's id, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def address(file):
    """The page of a Markdown file."""
    return "index.html" if file == "README.md" else re.sub(r"\.md$", ".html", file.replace("README.md", "index.md"))


def title_of(text, file):
    found = re.search(r"^# +(.+)$", text, re.M)
    return found[1].replace("`", "") if found else file


class Guides:
    """The Markdown files. `link_source` is asked for the page of another file, `link_name` for that of a name in code."""

    def __init__(self, site, root, link_source, link_name):
        self.site, self.root, self.link_source, self.link_name = site, root, link_source, link_name
        names = {str(p.relative_to(root)) for pattern in PAGES for p in root.glob(pattern)}
        self.texts = {name: (root / name).read_text() for name in sorted(names)}
        self.titles = {name: title_of(text, name) for name, text in self.texts.items()}

    def navigation(self):
        """Parts of the guides, each as (heading, [(label, path)])."""
        used = {name for names in PARTS.values() for name in names}
        rank = {f"docs/{name}.md": i for i, name in enumerate(ORDER)}
        rest = sorted((n for n in self.texts if n.startswith("docs/") and n not in used),
                      key=lambda n: (rank.get(n, len(rank)), self.titles[n]))
        rooms = [n for n in self.texts if re.match(r"taeda/|tools/|tests/|benchmarks/", n)]
        examples = [n for n in self.texts if n.startswith("examples/")]
        parts = dict(PARTS)
        ordered = [("Start", parts["Start"]), ("Guides", rest), ("Several devices", parts["Several devices"]),
                   ("Examples", examples), ("Inside", parts["Inside"] + tuple(rooms))]
        return [(heading, [(self.titles[n], address(n)) for n in names if n in self.texts])
                for heading, names in ordered if names]

    def write(self):
        for name, text in self.texts.items():
            self.page(name, text)

    def page(self, name, text):
        maker = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", "toc", "codehilite", "md_in_html"],
                                  extension_configs={"toc": {"slugify": lambda value, _: slug(html.unescape(value))},
                                                     "codehilite": {"guess_lang": False, "css_class": "code"}})
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
        body = maker.convert(loose_lists(text))
        body = re.sub(r'(href|src)="([^"]+)"', lambda m: f'{m[1]}="{self.target(m[2], name)}"', body)
        body = re.sub(r"(?<!<pre>)(?<!\">)<code>([A-Za-z_][\w:]+)(\(\))?</code>", lambda m: self.code(m, address(name)), body)
        body = re.sub(r"(<table>.*?</table>)", r'<div class="wide">\1</div>', body, flags=re.S)
        outline = list(flat(maker.toc_tokens))
        path = address(name)
        self.site.write(path, self.titles[name], f"<article>{body}</article>", [o for o in outline if 1 < o[0] < 4])
        self.site.index.append((self.titles[name], "guide", path, ""))
        sections = re.split(r"^#{2,3} +", text, flags=re.M)[1:]
        kind = "error" if name == "docs/errors.md" else "guide"
        for (_, label, mark), section in zip([o for o in outline if 1 < o[0] < 4], sections):
            words = " ".join(re.sub(r"[`*|#>\[\]]", " ", section.partition("\n")[2]).split())
            where = "" if kind == "error" else self.titles[name] + ": "
            self.site.index.append((where + label, kind, f"{path}#{mark}", words[:1500 if kind == "error" else 200]))

    def code(self, found, page):
        """Code in a sentence; a name that is told from a word by its form leads to the reference."""
        tells = re.search(r"::|_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]", found[1])
        target = self.link_name(found[1]) if tells else None
        return f'<a href="{relative(target, page)}">{found[0]}</a>' if target else found[0]

    def target(self, link, name):
        """A link of a Markdown file, as the page of this file has it."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, mark, fragment = link.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if (self.root / file).is_dir():
            file = f"{file}/README.md"
        found = address(file) if file in self.texts else self.link_source(file)
        return relative(found, address(name)) + mark + fragment


def loose_lists(text):
    """Python's Markdown wants an empty line before a list, GitHub's does not."""
    out, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        item = re.match(r"([-*]|\d+\.) ", line)
        if item and not fenced and out and out[-1].strip() and not re.match(r"\s|([-*]|\d+\.) ", out[-1]):
            out.append("")
        out.append(line)
    return "\n".join(out)


def flat(tokens):
    for token in tokens:
        yield token["level"], html.unescape(token["name"]), token["id"]
        yield from flat(token["children"])
