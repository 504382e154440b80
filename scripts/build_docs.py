#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documentation: the pages by MkDocs, the API reference by Doxygen.

    build_docs.py [TARGET]      TARGET, build/docs unless named, is replaced. Needs the Debian
                                packages mkdocs, mkdocs-material, doxygen and graphviz.

The pages are the Markdown files of the repository where they lie: links are the same on the site
and in the repository. The navigation has the pages of docs/ in the order in which docs/README.md
names them, then those that it does not name: a new page needs no entry anywhere. Afterwards every
link of the built pages is checked, with its heading, and that they load nothing from elsewhere.
Each fault is a line; the status is 1 where there is one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import check_documented
import draw_diagrams

ROOT = Path(__file__).resolve().parent.parent
SITE = "docs/site"
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *(```+|~~~+)")
ITEM = re.compile(r"^([-*+]|\d+\.) ")
LISTED = re.compile(r"^([-*+]|\d+\.) |^ ")
# Folders that have no pages of the site.
NO_PAGES = {"out", "tests", "site"}
REFERENCE = "api/index.html"  # Doxygen's
BOOK = "The book"
# A section of the navigation -> what the names of its pages begin with. The first that matches has
# the page; pages of the book are in the sections of docs/README.md, where it has any.
SECTIONS = {
    "Examples": ("examples/",),
    "Applications": ("apps/",),
    "Memory of any program": ("memory-tools/",),
    "Papers": ("papers/",),
    "Measurements": ("docs/benchmarks.md", "bench/"),
    "Architecture and design": ("ARCHITECTURE.md", "docs/design/"),
    BOOK: ("docs/",),
    "The project": ("",),
}


def pages_of(root: Path) -> list[str]:
    """The Markdown files that are pages, relative to the root."""
    pages = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in NO_PAGES and not f.startswith((".", "build"))]
        below = os.path.relpath(folder, root)
        pages += [os.path.normpath(os.path.join(below, f)) for f in files if f.endswith(".md")]
    return sorted(pages)


def title_of(text: str, path: str) -> str:
    heading = re.search(r"^# +(.+)$", text, re.MULTILINE)
    return heading.group(1).replace("`", "") if heading else path


DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def drawn(found: re.Match) -> str:
    """A Mermaid diagram as it stands on the site: drawn, or its text where that is not understood
    or there is no Graphviz."""
    try:
        svg = draw_diagrams.svg(found.group(1))
    except (draw_diagrams.Unknown, FileNotFoundError):
        return found.group().replace("```mermaid", "```text", 1)
    return f'<div class="diagram">{" ".join(svg.split())}</div>'


def staged_text(text: str, link) -> str:
    """A page as Python-Markdown takes it: links changed by `link`, lists as GitHub reads them."""
    lines: list[str] = []
    fence = None
    in_list = False
    for line in DIAGRAM.sub(drawn, text).split("\n"):
        mark = FENCE.match(line)
        if mark:
            fence = mark.group(1) if fence is None else None
        elif fence is None:
            line = LINK.sub(link, line)
            if ITEM.match(line) and lines and lines[-1].strip() and not LISTED.match(lines[-1]):
                lines.append("")
            in_list = bool(ITEM.match(line)) or in_list and (not line or line.startswith(" "))
            if in_list:  # four columns nest, not two
                line = re.sub("^ +", lambda spaces: 2 * spaces.group(), line)
        lines.append(line)
    return "\n".join(lines)


def folders_linked(root: Path, texts: dict[str, str]) -> set[str]:
    """The folders without a README.md that pages link to: the repository shows a list of files."""
    folders = set()
    for page, text in texts.items():
        for path in LINK.findall(text):
            there = os.path.normpath(os.path.join(os.path.dirname(page), path.partition("#")[0]))
            if not there.startswith("..") and (root / there).is_dir():
                folders.add(there)
    return {folder for folder in folders if f"{folder}/README.md" not in texts}


def index_of(root: Path, folder: str, texts: dict[str, str]) -> str:
    """A page with the titles of the pages of a folder, or else with the names of its files."""
    pages = [page for page in sorted(texts) if os.path.dirname(page) == folder]
    if pages:
        title = "Design notes" if folder == "docs/design" else folder
        entries = [(title_of(texts[page], page), os.path.basename(page)) for page in pages]
    else:
        title = folder
        entries = [(f.name, f.name) for f in sorted((root / folder).iterdir()) if f.is_file()]
    return f"# {title}\n\n" + "".join(f"- [{name}]({path})\n" for name, path in entries)


def stage(root: Path, pages: list[str], target: Path) -> tuple[dict[str, str], list[str]]:
    """Lays the pages out below `target` as in the repository, with the files that they link to.
    Returns their titles, and faults."""
    faults = []
    texts = {page: (root / page).read_text() for page in pages}
    for folder in sorted(folders_linked(root, texts)):
        texts[f"{folder}/README.md"] = index_of(root, folder, texts)

    for page, text in texts.items():

        def link(found: re.Match, page: str = page) -> str:
            path, _, anchor = found.group(1).partition("#")
            if not path or re.match("[a-z]+:", path):
                return found.group()
            there = os.path.normpath(os.path.join(os.path.dirname(page), unquote(path)))
            if there.startswith("..") or not (root / there).exists():
                faults.append(f"{page}: {found.group(1)} leads nowhere")
            elif (root / there).is_dir():
                path = f"{path.rstrip('/')}/README.md" if path.rstrip("/") else "README.md"
            elif there not in texts:
                (target / there).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / there, target / there)
            return f"]({path}{'#' + anchor if anchor else ''})"

        (target / page).parent.mkdir(parents=True, exist_ok=True)
        (target / page).write_text(staged_text(text, link))
    return {page: title_of(text, page) for page, text in texts.items()}, faults


def order_of_book(root: Path) -> list[tuple[str, str]]:
    """The pages that docs/README.md links to, in its order, each with the heading above it."""
    section = "The book"
    order = []
    for line in (root / "docs" / "README.md").read_text().splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
        for path in LINK.findall(line):
            page = os.path.normpath(os.path.join("docs", path.partition("#")[0]))
            order.append((page if page.endswith(".md") else f"{page}/README.md", section))
    return order


def navigation(root: Path, titles: dict[str, str]) -> list:
    """The sections of the site, each with its pages: those of docs/ as its README.md has them, the
    others by folder."""
    listed = order_of_book(root)
    sections: dict[str, list[str]] = {"Overview": ["README.md", "docs/README.md", REFERENCE]}
    sections |= {section: [] for page, section in listed if folder_section(page) == BOOK}
    sections |= {section: [] for section in SECTIONS}
    titles = {**titles, "README.md": "What it is", REFERENCE: "API reference"}
    for page in ["ARCHITECTURE.md", *(page for page, _ in listed), *sorted(titles)]:
        if page in titles and not any(page in pages for pages in sections.values()):
            section = folder_section(page)
            if section == BOOK:
                section = next((s for p, s in listed if p == page), BOOK)
            sections[section].append(page)
    return [{name: [{titles[p]: p} for p in pages]} for name, pages in sections.items() if pages]


def folder_section(page: str) -> str:
    return next(name for name, begins in SECTIONS.items() if page.startswith(begins))


class Links(HTMLParser):
    """The links of a page, the files that it loads, and the targets of links in it."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name == "href" and tag == "a" and value:
                self.links.append(value)
            elif name in ("src", "href", "data", "action") and value:
                self.loaded.append(value)


def faults_of_site(site: Path) -> list[str]:
    """Links of the pages that lead nowhere, and what they would load from elsewhere. Of the
    reference, whose links Doxygen makes, only the latter."""
    faults = []
    pages = {p: Links(p.read_text(errors="replace")) for p in sorted(site.rglob("*.html"))}
    for page, found in pages.items():
        name = page.relative_to(site)
        for address in found.loaded:
            if re.match("(https?:)?//", address):
                faults.append(f"{name}: loads {address}")
        if name.parts[0] == "api" or name.name == "404.html":
            continue
        for address in found.links + found.loaded:
            path, _, anchor = address.partition("#")
            if re.match("([a-z]+:|//)", path):
                continue
            there = (page.parent / unquote(path)).resolve() if path else page
            if there.is_dir():
                there /= "index.html"
            if not there.exists():
                faults.append(f"{name}: {address} leads nowhere")
            elif anchor and there in pages and unquote(anchor) not in pages[there].anchors:
                faults.append(f"{name}: {address}: no such heading")
    for style in sorted(site.rglob("*.css")):
        if re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text(errors="replace")):
            faults.append(f"{style.relative_to(site)}: loads from elsewhere")
    return list(dict.fromkeys(faults))


def entries_of_reference(tags: Path) -> list[dict[str, str]]:
    """The public classes and functions for the search of the site, by Doxygen's list of names. The
    search finds whole words, so that each text begins with the bare name."""
    entries = []
    for compound in ElementTree.parse(tags).iter("compound"):
        if compound.get("kind") not in ("class", "struct", "concept", "namespace"):
            continue
        name = compound.findtext("name")
        if compound.get("kind") != "namespace":
            entries.append({"location": f"api/{compound.findtext('filename')}", "title": name,
                            "text": f"{name.split('::')[-1]} {compound.get('kind')}"})
        overloads: dict[str, dict[str, str]] = {}
        for member in compound.iter("member"):
            if member.get("protection") == "private" or member.get("kind") == "friend":
                continue
            own = member.findtext("name")
            title = f"{name}::{own}"
            entry = overloads.setdefault(title, {
                "location": f"api/{member.findtext('anchorfile')}#{member.findtext('anchor')}",
                "title": title, "text": f"{own} {name.split('::')[-1]}"})
            entry["text"] += f" {own}{member.findtext('arglist') or ''}"
        entries += overloads.values()
    return entries


def build(root: Path, target: Path) -> list[str]:
    """Builds the site. Returns what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        titles, faults = stage(root, pages_of(root), pages)
        (pages / "api").mkdir()
        (pages / REFERENCE).touch()  # so that MkDocs knows it
        shutil.copyfile(root / SITE / "site.css", pages / "site.css")
        settings = (root / SITE / "mkdocs.yml").read_text()
        settings += f"docs_dir: {pages}\nsite_dir: {target}\n"
        settings += "nav: " + json.dumps(navigation(root, titles)) + "\n"
        (Path(folder) / "mkdocs.yml").write_text(settings)
        done = subprocess.run(
            ["mkdocs", "build", "--strict", "-f", f"{folder}/mkdocs.yml"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            said = (done.stdout + done.stderr).splitlines()
            return faults + [line for line in said if not line.startswith("INFO")]
        reference = Path(folder) / "reference"
        reference.mkdir()
        tags = reference / "tags.xml"
        faults += check_documented.run_doxygen(root, reference, {"GENERATE_TAGFILE": str(tags)})
        shutil.rmtree(target / "api")
        shutil.copytree(reference / "html", target / "api")
        index = target / "search/search_index.json"
        found = json.loads(index.read_text())
        found["docs"] += entries_of_reference(tags)
        index.write_text(json.dumps(found))
    return faults + faults_of_site(target)


def main() -> int:
    missing = [name for name in ("mkdocs", "doxygen") if not shutil.which(name)]
    if missing:
        print(f"missing: {' '.join(missing)} (scripts/install-dependencies --docs)")
        return 1
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    faults = build(ROOT, target)
    print("\n".join(faults) if faults else f"{target / 'index.html'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
