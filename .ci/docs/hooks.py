"""What mkdocs needs to know of this repository: the order of the pages, and links that leave docs/."""

import os
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_config(config):
    """The navigation is the index of docs/README.md: its sections, and the groups below them."""
    nav, section, group = [{"robotmem": "README.md"}], None, None
    for line in (ROOT / "docs/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = group = []
            nav.append({line[3:]: section})
        elif section is not None and (found := re.match(r"- \[(.+?)\]\((\S+?\.md)\)", line)):
            group.append({found[1]: found[2]})
        elif section is not None and re.fullmatch(r"[A-Z][^.:]*", line):
            group = []
            section.append({line: group})
    config.nav = nav
    return config


def on_files(files, config):
    """Pictures that lie outside docs/ come along."""
    for page in list(files.documentation_pages()):
        for image, _, target in LINK.findall(pathlib.Path(page.abs_src_path).read_text(encoding="utf-8")):
            path = _outside(page.src_uri, target)
            if image and path and files.get_file_from_path("outside/" + path) is None:
                files.append(File.generated(config, "outside/" + path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to other files of the repository lead to where it is published."""

    def change(found):
        image, text, target = found.groups()
        path = _outside(page.file.src_uri, target)
        if path is None:
            return found[0]
        if image:
            return "![%s](%s)" % (text, posixpath.relpath("outside/" + path, posixpath.dirname(page.file.src_uri) or "."))
        kind = "tree" if os.path.isdir(ROOT / path) else "blob"
        anchor = "#" + target.partition("#")[2] if "#" in target else ""
        return "[%s](%s/%s/main/%s%s)" % (text, config.repo_url, kind, path, anchor)

    return LINK.sub(change, markdown)


def _outside(page, target):
    """The path in the repository of a link that leaves docs/ or names a folder; None for others."""
    path = target.partition("#")[0]
    if not path or ":" in path:
        return None
    whole = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    if whole.startswith("docs/") and not os.path.isdir(ROOT / whole):
        return None
    return whole
