"""The reference: a page for each header, with what its declarations say."""

import html
import re
import urllib.parse

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

from comments import shapes_of
from page import relative
from relations import Relations, each

LEXER, INLINE = CppLexer(), HtmlFormatter(nowrap=True)
MADE = {"operations.inc": "Methods of Tensor made from operations", "names.h": "Second names of operations",
        "out.h": "Operations that write into given tensors", "out_forms.h": "More operations that write into given tensors"}
FACTS = {"in-place": "in place", "out": "with <code>out</code>", "view": "a view", "method": "a method"}
THROWS = re.compile(
    r"(?:(?<=[.;:!?)\"]\s)|^)((?:All |Both )?[Tt]hrows? .+?(?:(?<=[.!?])|(?<=[.!?][\"')])))(?=\s+[A-Z`(]|\Z)", re.S)


def cpp(text):
    return highlight(text, LEXER, INLINE).rstrip("\n")


def mark_of(symbol):
    """The id of a symbol on its header's page; overloads share it."""
    return urllib.parse.quote(re.sub(r"^taeda::", "", symbol.path).replace("::", ".").replace(" ", ""), safe=".~")


def page_of(file):
    return "api/" + re.sub(r"\.(h|inc)$", ".html", file.removeprefix("taeda/"))


def source_of(file):
    return f"source/{file}.html"


class Reference:
    def __init__(self, site, headers):
        self.site, self.headers = site, headers
        self.relations = Relations(headers)
        self.parameters = set()   # words of the declarations that are being described
        self.homes, paths, self.names = {}, {}, {}
        for header in headers:
            for symbol, outer in each([header]):
                self.homes[id(symbol)] = page_of(header.file)
                if symbol.kind != "constructor":
                    self.names.setdefault(re.sub(r"^taeda::", "", symbol.path), symbol)
                    paths.setdefault(symbol.name, {}).setdefault(symbol.path, (symbol, outer))
        for name, found in paths.items():
            free = [symbol for symbol, outer in found.values() if outer is None]
            if free or len(found) == 1:   # a member's name alone says which one only if there is no other
                self.names.setdefault(name, free[0] if free else next(iter(found.values()))[0])

    def find(self, name):
        """The address of a name as programs write it, or None."""
        symbol = self.names.get(re.sub(r"^taeda::", "", name))
        return self.address(symbol) if symbol else None

    def address(self, symbol):
        return f"{self.homes[id(symbol)]}#{mark_of(symbol)}"

    # Text.

    def prose(self, text, page):
        """A comment as HTML: paragraphs, lists, code, and links to what it names."""
        out = []
        for part in re.split(r"\n\s*\n", text.strip()):
            lines = part.split("\n")
            if any(re.match(r"\s{2,}\S", line) for line in lines[1:]) and not re.search(r"^[-*] ", part, re.M):
                out.append(self.displayed(lines, page))
            elif re.search(r"^[-*] ", part, re.M):
                items = re.split(r"^[-*] ", part, flags=re.M)
                head = self.line(items[0], page)
                out.append((f"<p>{head}</p>" if head else "") +
                           "<ul>" + "".join(f"<li>{self.line(i, page)}</li>" for i in items[1:]) + "</ul>")
            else:
                out.append(f"<p>{self.line(part, page)}</p>")
        return "".join(out)

    def displayed(self, lines, page):
        """Lines with an indent stay lines: formulas and code."""
        out, prose, shown = [], [], []
        for line in lines + [""]:
            if re.match(r"\s{2,}\S", line):
                shown.append(line)
                continue
            if shown:
                out += [f"<p>{self.line(' '.join(prose), page)}</p>" if prose else "",
                        f"<pre>{html.escape(chr(10).join(shown))}</pre>"]
                prose, shown = [], []
            if line:
                prose.append(line)
        return "".join(out) + (f"<p>{self.line(' '.join(prose), page)}</p>" if prose else "")

    def line(self, text, page):
        def code(m):
            name = re.sub(r"\(.*\)$", "", m[1])
            symbol = self.names.get(name) if name not in self.parameters else None
            shown = f"<code>{html.escape(m[1])}</code>"
            return f'<a href="{relative(self.address(symbol), page)}">{shown}</a>' if symbol else shown
        parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
        return "".join(re.sub(r"`([^`]+)`", code, p) if p.startswith("`") else html.escape(p, quote=False) for p in parts)

    def errors(self, text):
        """A comment without and with what it says about errors."""
        found = [" ".join(e.split()) for e in THROWS.findall(text)]
        return THROWS.sub("", text).strip(), [e[0].upper() + e[1:] for e in found]

    def documentation(self, symbol, page):
        """(HTML of the text, errors, tags)."""
        if symbol.comment:
            text, errors = self.errors(symbol.comment.text)
            return self.prose(text, page), errors, symbol.comment.tags
        source = self.relations.of(symbol)
        if source is None:
            return "", [], {}
        if not hasattr(source, "kind"):
            return "", [], {}   # the header's own text, which stands above
        while not source.comment and self.relations.of(source) and hasattr(self.relations.of(source), "kind"):
            source = self.relations.of(source)
        label = re.sub(r"^taeda::", "", source.path)
        link = f'<a href="{relative(self.address(source), page)}"><code>{html.escape(label)}</code></a>'
        if source in self.owners(symbol):
            return "", [], {}   # it stands above
        text, errors = self.errors(source.comment.text)
        return f"<p>Belongs to {link}:</p>" + self.prose(text, page), errors, {}

    def owners(self, symbol):
        out, outer = [], self.relations.outer[id(symbol)]
        while outer is not None:
            out.append(outer)
            outer = self.relations.outer[id(outer)]
        return out

    # Blocks.

    def groups(self, symbols):
        """Symbols that share one comment, in the order of the header."""
        out = []
        for symbol in symbols:
            last = out[-1] if out else None
            if last and not symbol.members and not last[0].members and self.belongs(symbol, last):
                last.append(symbol)
            else:
                out.append([symbol])
        return out

    def belongs(self, symbol, group):
        """Whether a symbol needs no block of its own after a group."""
        if symbol.comment:
            return symbol.shared and symbol.comment.text == group[0].comment.text and symbol.file == group[0].file
        is_member = self.relations.outer[id(symbol)] is not None
        return symbol.name == group[-1].name or (is_member and symbol.kind != "class" and not group[0].comment)

    def block(self, group, page):
        """Declarations with what is said of them, their errors and facts, and their members."""
        first = group[0]
        marks = list(dict.fromkeys(mark_of(s) for s in group))
        shown = list(dict.fromkeys(dedent(s.declaration) for s in group))
        self.parameters = set(re.findall(r"(?<=[ &*])\w+(?= ?[,)=])", " ".join(shown)))
        text, errors, tags = self.documentation(first, page)
        anchors = "".join(f'<a id="{m}"></a>' for m in marks if self.claim(page, m))
        source = f'{source_of(first.file)}#L{first.line}'
        facts = [f"<dt>Errors</dt><dd>{'<br>'.join(self.line(e, page) for e in errors)}</dd>"] if errors else []
        facts += self.facts(first, tags)
        text += f"<p>{html.escape(shapes)}</p>" if (shapes := shapes_of(tags)) else ""
        self.parameters = set()
        body = (f'<section class="symbol {first.kind}">{anchors}<a class="source" href="{relative(source, page)}">source</a>'
                f'<pre class="code">{cpp(chr(10).join(d + ("" if first.kind == "macro" else ";") for d in shown))}</pre>'
                + (f'<div class="said">{text}' + (f'<dl>{"".join(facts)}</dl>' if facts else "") + "</div>"
                   if text or facts else ""))
        if first.kind == "enum":
            body += self.enumerators(first, page)
        elif first.members:
            body += '<div class="members">' + "".join(self.block(g, page)
                                                     for g in self.groups(first.members)) + "</div>"
        return body + "</section>"

    def enumerators(self, symbol, page):
        """What is said of single enumerators; all of them stand in the declaration."""
        rows = []
        for member in symbol.members:
            mark = f' id="{mark_of(member)}"' if self.claim(page, mark_of(member)) else ""
            said = self.line(member.comment.text, page) if member.comment.text not in ("", symbol.comment.text) else ""
            rows.append(f"<dt{mark}>{f'<code>{member.name}</code>' if said else ''}</dt><dd>{said}</dd>")
        return f'<div class="said"><dl>{"".join(rows)}</dl></div>' if rows else ""

    def facts(self, symbol, tags):
        forms = [FACTS[key] for key in ("method", "in-place", "out", "view") if key in tags]
        out = [f"<dt>Also</dt><dd>{', '.join(forms)}</dd>"] if forms and symbol.kind == "function" else []
        for key, label in (("dtypes", "Dtypes"), ("returns", "Results"), ("also", "Other names"), ("autocast", "Autocast")):
            if tags.get(key):
                out.append(f"<dt>{label}</dt><dd>{html.escape(', '.join(tags[key].split()))}</dd>")
        return out

    def claim(self, page, mark):
        """Whether this is the first use of an id on a page."""
        used = self.used.setdefault(page, set())
        return mark not in used and not used.add(mark)

    # Pages.

    def navigation(self):
        rooms = sorted({h.room for h in self.headers})
        return [("Reference", [("All names", "api/index.html")] + [(r or "taeda.h", f"api/room-{r}.html") for r in rooms])]

    def write(self):
        self.used = {}
        for header in self.headers:
            self.page(header)
        for room in sorted({h.room for h in self.headers}):
            self.room(room)
        self.all_names()

    def page(self, header):
        page = page_of(header.file)
        include = f'<pre class="code">{cpp(f"#include <{header.file}>")}</pre>' if header.file.endswith(".h") else ""
        title = MADE.get(header.file.split("/")[-1], header.file) if "generated" in header.file else header.file
        body = [f"<h1>{html.escape(title)}</h1>", include, self.prose(header.comment.text, page)]
        outline = []
        spaces = list(dict.fromkeys(s.scope for s in header.symbols))
        for space in spaces:
            if space:
                mark = "namespace-" + space.replace("::", ".")
                body.append(f'<h2 id="{mark}">{"namespace " if space else ""}{space}</h2>')
                outline.append((2, space, mark))
            for group in self.groups([s for s in header.symbols if s.scope == space]):
                body.append(self.block(group, page))
                outline += [(3, name, mark_of(group[0])) for name in dict.fromkeys(s.name for s in group[:1])]
        self.site.write(page, title, "".join(body), list(dict.fromkeys(outline)))
        for symbol, _ in each([header]):
            if symbol.kind != "constructor":
                text = (symbol.comment.text or "").split("\n")[0].replace("`", "")
                entry = (re.sub(r"^taeda::", "", symbol.path), symbol.kind, self.address(symbol), text[:120])
                if not self.site.index or self.site.index[-1][2] != entry[2]:
                    self.site.index.append(entry)

    def room(self, room):
        page = f"api/room-{room}.html"
        body = [f"<h1>Reference of <code>{room or 'taeda'}</code></h1>"]
        for header in (h for h in self.headers if h.room == room):
            first = re.split(r"(?<=[.:])\s", header.comment.text.replace("\n", " "))[0]
            names = []
            for symbol in header.symbols:
                if symbol.name not in [n for n, _ in names]:
                    names.append((symbol.name, self.address(symbol)))
            links = ", ".join(f'<a href="{relative(a, page)}"><code>{html.escape(n)}</code></a>' for n, a in names[:400])
            body.append(f'<h2><a href="{relative(page_of(header.file), page)}">{header.file.removeprefix("taeda/")}</a></h2>'
                        f"<p>{self.line(first, page)}</p><p class='names'>{links}</p>")
        self.site.write(page, f"Reference of {room}", "".join(body))

    def all_names(self):
        page = "api/index.html"
        rows = {}
        for symbol, outer in each(self.headers):
            if outer is None and not re.search(r"_outf?$", symbol.name):
                rows.setdefault((symbol.name.lower(), symbol.name, re.sub(r"^taeda:?:?", "", symbol.scope)), symbol)
        letters, body = {}, ["<h1>All names</h1><p>Functions, classes, types, constants and macros, in alphabetical "
                             "order; members are on their class's page, and search finds them.</p>"]
        for key in sorted(rows):
            letters.setdefault(key[0][0].upper() if key[0][0].isalpha() else "#", []).append(key)
        body.append("<p class='letters'>" + " ".join(f'<a href="#letter-{ord(k)}">{k}</a>' for k in letters) + "</p>")
        for letter, keys in letters.items():
            links = "".join(f'<li><a href="{relative(self.address(rows[k]), page)}"><code>{html.escape(k[1])}</code></a> '
                            f"<small>{html.escape(k[2])}</small></li>" for k in keys)
            body.append(f'<h2 id="letter-{ord(letter)}">{letter}</h2><ul class="names">{links}</ul>')
        self.site.write(page, "All names", "".join(body))


def dedent(text):
    """A declaration whose further lines keep their indent relative to the first."""
    lines = text.split("\n")
    rest = [len(l) - len(l.lstrip()) for l in lines[1:] if l.strip()]
    cut = min(rest, default=0)
    return "\n".join([lines[0]] + ["    " + l[cut:] for l in lines[1:]])
