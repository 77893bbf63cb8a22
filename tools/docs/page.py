"""The frame of a page: head, search, navigation; and where pages lie in relation to each other."""

import html
import posixpath


def relative(target, page):
    """The address of `target` (from the site's root, perhaps with #id) as a page refers to it."""
    path, mark, fragment = target.partition("#")
    if path == page and mark:
        return mark + fragment
    return posixpath.relpath(path, posixpath.dirname(page) or ".") + mark + fragment


class Site:
    """Collects pages; each is written with the navigation that all share."""

    def __init__(self, out, version):
        self.out, self.version = out, version
        self.navigation = []   # (title, [(label, path)])
        self.index = []        # what search finds: (title, kind, path, text)

    def write(self, path, title, body, outline=()):
        up = lambda target: relative(target, path)
        nav = []
        for heading, links in self.navigation:
            here = any(p == path for _, p in links)
            items = "".join(f'<li><a href="{up(p)}"{" class=here" if p == path else ""}>{html.escape(label)}</a></li>'
                            for label, p in links)
            nav.append(f"<details{' open' if here or heading == 'Start' else ''}><summary>{html.escape(heading)}</summary>"
                       f"<ul>{items}</ul></details>")
        contents = "".join(f'<li class="l{level}"><a href="#{mark}">{html.escape(text)}</a></li>'
                           for level, text, mark in outline)
        aside = f'<aside><p>On this page</p><ul>{contents}</ul></aside>' if len(outline) > 1 else ""
        text = FRAME.format(title=html.escape(title), root=up("."), css=up("site.css"), index=up("index.js"),
                            search=up("search.js"), home=up("index.html"), version=html.escape(self.version),
                            nav="".join(nav), body=body, aside=aside)
        file = self.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Taeda</title>
<link rel="stylesheet" href="{css}">
</head>
<body data-root="{root}">
<a class="skip" href="#content">To the content</a>
<header>
<button id="menu" aria-label="Navigation" aria-controls="navigation" aria-expanded="false">&#9776;</button>
<a class="home" href="{home}">Taeda <small>{version}</small></a>
<div class="search"><input id="query" type="search" placeholder="Name, guide or error message  ( / )"
 aria-label="Search" autocomplete="off" spellcheck="false"><ol id="found" hidden></ol></div>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">{nav}</nav>
<main id="content">{body}</main>
{aside}
</div>
<script src="{index}"></script>
<script src="{search}"></script>
</body>
</html>
"""
