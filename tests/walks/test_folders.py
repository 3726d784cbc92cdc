"""A folder of files is served, read by everybody, attacked, and edited while clients listen, over both transports.

Nothing depends on when something happens: each walk waits for messages, and a mark that comes last shows that nothing
else came before it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests import wire
from tests.walks.conftest import Start

pytestmark = pytest.mark.timeout(180)
LISTED = "notifications/resources/list_changed"
UPDATED = "notifications/resources/updated"
IDS = count(100)

MANIFEST = """\
    resources:
      docs:
        title: Pages
        uriTemplate: "docs://{+path}"
        folder: docs
        include: ["**/*.md"]
        exclude: [drafts]
        annotations: {audience: [user]}
      data: {uriTemplate: "data://{name}", folder: data}
      guides:
        uriTemplate: "guides://{+name}.md"
        mimeType: text/x-guide
        folder: docs/guides
        arguments: {name: {complete: {text: "one\\ntwo"}}}
      index: {uri: "docs://index.md", name: front, text: The index.}
    prompts:
      page: {arguments: {path: {}}, messages: [user: {resource: "docs://{{ path }}"}]}
    """
PROJECT = {
    "manifests/m.yaml": MANIFEST,
    "docs/index.md": "hidden behind the fixed URI",
    "docs/a.md": "# A",
    "docs/guides/b c.md": "# B",
    "docs/guides/deep/é.md": "# E",
    "docs/notes.txt": "not included",
    "docs/drafts/d.md": "left out",
    "docs/.hidden.md": "hidden",
    "data/a.md": "another A",
    "data/values.json": "[1]",
    "data/below/x.md": "too deep",
    "secret.md": "secret",
    ".env": "TOKEN=secret",
}
ONE = {"manifests/m.yaml": "resources:\n  docs: {uriTemplate: 'docs://{+path}', folder: docs, include: ['**/*.md']}\n"}


def ask(server: Any, method: str, params: dict[str, Any] | None = None) -> Any:
    """Ask beside open listens: what belongs to them stays theirs."""
    with server.begin(method, params, id=next(IDS)) as sent:
        return sent.message()


def read(server: Any, uri: str) -> Any:
    return ask(server, "resources/read", {"uri": uri})


def text(server: Any, uri: str) -> str | None:
    """The text of a resource, None where there is no such resource."""
    answer = read(server, uri)
    if "error" in answer:
        assert answer["error"]["code"] == -32602, answer
        return None
    (content,) = answer["result"]["contents"]
    assert content["uri"] == uri
    return str(content["text"])


def listed(server: Any) -> list[dict[str, Any]]:
    """All pages of ``resources/list``."""
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    while True:
        result = ask(server, "resources/list", params)["result"]
        found += result["resources"]
        if "nextCursor" not in result:
            return found
        params = {"cursor": result["nextCursor"]}


def uris(server: Any) -> list[str]:
    return [entry["uri"] for entry in listed(server)]


def completed(server: Any, template: str, name: str, typed: str) -> list[str]:
    params = {"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": name, "value": typed}}
    found: list[str] = ask(server, "completion/complete", params)["result"]["completion"]["values"]
    return found


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def rename_over(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.new")
    write(beside, text)
    beside.replace(path)


def watched(start: Start, files: dict[str, str], **more: Any) -> Any:
    """A server that has begun to watch."""
    server = start(files, **more)
    server.says("watching by")
    return server


def hears(listener: Any, *methods: str) -> list[dict[str, Any]]:
    """The next messages of a listener, which are these."""
    found = [listener.message() for _ in methods]
    assert [message["method"] for message in found] == list(methods)
    return [message["params"] for message in found]


# --- listed, read, completed -------------------------------------------------------------------------------------


def test_each_file_is_listed_with_all_others_by_name(served: Any) -> None:
    # spec: server/resources#listing-resources
    audience = {"annotations": {"audience": ["user"]}}
    markdown = {"mimeType": "text/markdown"}
    assert listed(served) == [
        {"name": "a.md", "uri": "data://a.md", **markdown},
        {"name": "a.md", "uri": "docs://a.md", **markdown, **audience},
        {"name": "b c.md", "uri": "guides://b%20c.md.md", "mimeType": "text/x-guide"},
        {"name": "deep/é.md", "uri": "guides://deep/%C3%A9.md.md", "mimeType": "text/x-guide"},
        {"name": "front", "uri": "docs://index.md", **markdown},
        {"name": "guides/b c.md", "uri": "docs://guides/b%20c.md", **markdown, **audience},
        {"name": "guides/deep/é.md", "uri": "docs://guides/deep/%C3%A9.md", **markdown, **audience},
        {"name": "values.json", "uri": "data://values.json", "mimeType": "application/json"},
    ]


def test_the_template_is_listed(served: Any) -> None:
    templates = ask(served, "resources/templates/list")["result"]["resourceTemplates"]
    assert {t["name"]: t["uriTemplate"] for t in templates} == {
        "docs": "docs://{+path}",
        "data": "data://{name}",
        "guides": "guides://{+name}.md",
    }


def test_what_is_listed_can_be_read(served: Any) -> None:
    for entry in listed(served):
        (content,) = read(served, entry["uri"])["result"]["contents"]
        assert (content["uri"], content["mimeType"]) == (entry["uri"], entry["mimeType"])
    assert text(served, "docs://guides/b%20c.md") == "# B"
    assert text(served, "docs://index.md") == "The index."
    assert text(served, "data://a.md") == "another A"


def test_paths_are_completed_unless_the_author_says_how(served: Any) -> None:
    # spec: server/utilities/completion#data-types
    assert completed(served, "docs://{+path}", "path", "") == ["a.md", "guides/b c.md", "guides/deep/é.md", "index.md"]
    assert completed(served, "docs://{+path}", "path", "guides/d") == ["guides/deep/é.md"]
    assert completed(served, "data://{name}", "name", "v") == ["values.json"]
    assert completed(served, "guides://{+name}.md", "name", "") == ["one", "two"]


def test_a_prompt_embeds_a_file_of_a_folder(served: Any) -> None:
    # spec: server/prompts#embedded-resources
    def got(path: str) -> Any:
        return ask(served, "prompts/get", {"name": "page", "arguments": {"path": path}})

    assert got("guides/b c.md")["result"]["messages"][0]["content"]["resource"]["text"] == "# B"
    assert "error" in got("../secret.md") and "error" in got("notes.txt")


@pytest.mark.parametrize(
    "uri",
    [
        "docs://none.md",
        "docs://notes.txt",
        "docs://drafts/d.md",
        "docs://DRAFTS/d.md",
        "docs://.hidden.md",
        "docs://guides",
        "docs://guides/",
        "docs://guides/b%20c.md/",
        "data://below%2Fx.md",
        "data://below/x.md",
        "data://below",
    ],
)
def test_what_is_not_included_does_not_exist(served: Any, uri: str) -> None:
    # spec: server/resources#error-handling
    error = read(served, uri)["error"]
    assert (error["code"], error["message"], error["data"]) == (-32602, f"Unknown resource: {uri}", {"uri": uri})


R01 = [
    "../secret.md", "..%2Fsecret.md", "%2e%2e/secret.md", "%2E%2E%2Fsecret.md", "guides/../../secret.md",
    "guides/..%2F..%2Fsecret.md", "..%5Csecret.md", "..\\secret.md", "%252e%252e%252fsecret.md", "%252e%252e/secret.md",
    "a.md%00", "a.md%00.md", "./a.md", "%2e/a.md", "guides//b%20c.md", "/a.md", "%2Fetc%2Fpasswd", "/etc/passwd",
    "/etc/passwd%00.md", "..%c0%af..%c0%afsecret.md", "%2e%2e%ef%bc%8fsecret.md", "..;/secret.md", "%",
    "a.md?x", "a.md#x", "~/secret.md", "guides/b%20c.md%0A", "${TOKEN}.md", "{{ env.TOKEN }}.md", "a" * 5000 + ".md",
    "a/" * 2000 + "b.md", "*.md", "**", "[a].md", "a.m?", ".env", "%2eenv", "../.env",
]  # fmt: skip


@pytest.mark.parametrize("path", R01)
@pytest.mark.parametrize("scheme", ["docs", "data", "guides"])
def test_R01_nothing_outside_is_read(served: Any, scheme: str, path: str) -> None:
    answer = read(served, f"{scheme}://{path}")
    assert answer["error"]["code"] == -32602
    assert "TOKEN=" not in str(answer) and "# A" not in str(answer)


def test_R01_two_dots_inside_a_name_are_a_name(start: Start) -> None:
    server = start({**ONE, "docs/v1..v2.md": "changes", "docs/..x": "hidden"})
    assert text(server, "docs://v1..v2.md") == "changes"
    assert text(server, "docs://v1%2E%2Ev2.md") == "changes"
    assert uris(server) == ["docs://v1..v2.md"]


def test_R04_links_that_lead_out_do_not_exist_and_those_inside_do(start: Start, tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(outside / "x.md", "secret")
    write(root / "docs-secret" / "x.md", "secret")
    write(root / "docs" / "deep" / "in.md", "inside")
    os.mkfifo(root / "docs" / "pipe.md")
    for name, target in {
        "leak.md": outside / "x.md",
        "out": outside,
        "near": Path("../docs-secret"),
        "self.md": Path("self.md"),
        "again.md": Path("deep/in.md"),
        "round": Path(),
    }.items():
        (root / "docs" / name).symlink_to(target)
    server = start(ONE, root=root)
    assert uris(server) == ["docs://again.md", "docs://deep/in.md"]
    for path in ("leak.md", "out/x.md", "near/x.md", "self.md", "pipe.md"):
        assert text(server, f"docs://{path}") is None, path
    assert text(server, "docs://again.md") == "inside"


def test_R04_a_root_and_a_folder_behind_links_work(start: Start, tmp_path: Path) -> None:
    write(tmp_path / "real" / "pages" / "a.md", "here")
    (tmp_path / "real" / "docs").symlink_to("pages")
    (tmp_path / "root").symlink_to("real")
    server = watched(start, ONE, root=tmp_path / "root")
    assert text(server, "docs://a.md") == "here"
    with server.listen(id=1, resourceSubscriptions=["docs://a.md"]) as listener:
        rename_over(tmp_path / "real" / "pages" / "a.md", "there")
        hears(listener, UPDATED)
        assert text(server, "docs://a.md") == "there"


def test_every_page_of_a_long_list_is_told_once(start: Start) -> None:
    pages = {f"docs/{n:04}.md": "x" for n in range(700)} | {f"more/{n:04}.md": "x" for n in range(700)}
    more = "  more: {uriTemplate: 'more://{path}', folder: more}\n"
    found = uris(start({"manifests/m.yaml": ONE["manifests/m.yaml"] + more, **pages}))
    assert len(found) == 1400 == len(set(found))
    assert found[:3] == ["docs://0000.md", "more://0000.md", "docs://0001.md"]


# --- edited ------------------------------------------------------------------------------------------------------


def in_place(path: Path, text: str) -> None:
    with path.open("r+", encoding="utf-8") as file:
        file.write(text)
        file.truncate()


@pytest.mark.parametrize("save", [rename_over, in_place])
def test_N10_an_edit_is_told_to_who_listens_for_it_and_its_content_is_there(
    start: Start, tmp_path: Path, save: Callable[[Path, str], None]
) -> None:
    # spec: server/resources#subscriptions
    server = watched(start, {**ONE, "docs/a b.md": "zero", "docs/other.md": "zero", "docs/mark.md": "zero"})
    docs = tmp_path / "docs"
    with (
        server.listen(
            id=1, resourceSubscriptions=["docs://a%20b.md", "docs://mark.md"], resourcesListChanged=True
        ) as one,
        server.listen(id=2, resourceSubscriptions=["docs://other.md", "docs://mark.md"]) as other,
    ):
        for content in ("first", "second", "third"):
            save(docs / "a b.md", content)
            (told,) = hears(one, UPDATED)
            assert told["uri"] == "docs://a%20b.md"
            assert text(server, "docs://a%20b.md") == content
        (docs / ".a b.md.swp").write_text("an editor's")
        (docs / "a b.md~").write_text("an editor's")
        (docs / "a b.md").touch()
        save(docs / "mark.md", "last")
        assert hears(one, UPDATED)[0]["uri"] == "docs://mark.md"
        assert hears(other, UPDATED)[0]["uri"] == "docs://mark.md"
    assert "reloaded" not in server.stderr


def test_a_file_that_comes_is_listed_and_readable_when_it_is_told(start: Start, tmp_path: Path) -> None:
    # spec: server/resources#list-changed-notification
    server = watched(start, {**ONE, "docs/a.md": "a"})
    with server.listen(id=1, resourcesListChanged=True) as listener:
        for turn, save in enumerate((write, rename_over)):
            path = tmp_path / "docs" / "new" / str(turn) / "b.md"
            path.parent.mkdir(parents=True)
            save(path, "b")
            hears(listener, LISTED)
            assert f"docs://new/{turn}/b.md" in uris(server)
            assert text(server, f"docs://new/{turn}/b.md") == "b"
            assert f"new/{turn}/b.md" in completed(server, "docs://{+path}", "path", "new")
    assert server.stderr.count("+new/") == 2


def test_a_file_that_is_not_there_yet_is_told_when_it_comes_goes_and_comes_again(start: Start, tmp_path: Path) -> None:
    server = watched(start, {**ONE, "docs/a.md": "a"})
    path = tmp_path / "docs" / "sub" / "later.md"
    with server.listen(id=1, resourceSubscriptions=["docs://sub/later.md"]) as listener:
        for content in ("one", "two"):
            path.parent.mkdir(exist_ok=True)
            rename_over(path, content)
            hears(listener, UPDATED)
            assert text(server, "docs://sub/later.md") == content
            path.unlink()
            hears(listener, UPDATED)
            assert text(server, "docs://sub/later.md") is None


def test_a_file_that_goes_is_told_and_listed_no_more(start: Start, tmp_path: Path) -> None:
    server = watched(start, {**ONE, "docs/a.md": "a", "docs/b.md": "b"})
    with (
        server.listen(id=1, resourcesListChanged=True) as lists,
        server.listen(id=2, resourceSubscriptions=["docs://b.md"]) as updates,
        server.listen(id=3, resourceSubscriptions=["docs://a.md"]) as other,
    ):
        (tmp_path / "docs" / "b.md").unlink()
        assert hears(updates, UPDATED)[0]["uri"] == "docs://b.md"
        assert text(server, "docs://b.md") is None
        hears(lists, LISTED)
        assert uris(server) == ["docs://a.md"]
        rename_over(tmp_path / "docs" / "a.md", "mark")
        assert hears(other, UPDATED)[0]["uri"] == "docs://a.md"


def test_W11_a_folder_moved_in_full_and_out_again(start: Start, tmp_path: Path) -> None:
    server = watched(start, {**ONE, "docs/a.md": "a", "elsewhere/deep/b.md": "b", "elsewhere/c.md": "c"})
    with server.listen(id=1, resourcesListChanged=True, resourceSubscriptions=["docs://in/deep/b.md"]) as listener:
        (tmp_path / "elsewhere").rename(tmp_path / "docs" / "in")
        hears(listener, UPDATED, LISTED)
        assert uris(server) == ["docs://a.md", "docs://in/c.md", "docs://in/deep/b.md"]
        rename_over(tmp_path / "docs" / "in" / "deep" / "b.md", "edited")
        hears(listener, UPDATED)
        assert text(server, "docs://in/deep/b.md") == "edited"
        (tmp_path / "docs" / "in").rename(tmp_path / "elsewhere")
        hears(listener, UPDATED, LISTED)
        assert uris(server) == ["docs://a.md"]


def test_an_empty_folder_is_filled_and_a_missing_one_is_awaited(start: Start, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    server = watched(start, ONE)
    assert uris(server) == []
    with server.listen(id=1, resourcesListChanged=True) as listener:
        write(tmp_path / "docs" / "sub" / "a.md", "a")
        hears(listener, LISTED)
        assert uris(server) == ["docs://sub/a.md"]
        shutil.rmtree(tmp_path / "docs")
        server.says("folder-not-found")
        assert text(server, "docs://sub/a.md") is None
        write(tmp_path / "docs" / "b.md", "b")
        server.says("recovered")
        hears(listener, LISTED)
        assert uris(server) == ["docs://b.md"]


def test_files_are_told_and_read_while_the_manifests_are_broken(start: Start, tmp_path: Path) -> None:
    server = watched(start, {**ONE, "docs/a.md": "a"})
    write(tmp_path / "manifests" / "m.yaml", "resources: [broken\n")
    server.says("reload failed")
    with server.listen(id=1, resourceSubscriptions=["docs://a.md", "docs://b.md"]) as listener:
        for name in ("a", "b"):
            rename_over(tmp_path / "docs" / f"{name}.md", "while broken")
            assert hears(listener, UPDATED)[0]["uri"] == f"docs://{name}.md"
            assert text(server, f"docs://{name}.md") == "while broken"


def test_another_folder_or_other_patterns_are_other_content(start: Start, tmp_path: Path) -> None:
    server = watched(start, {**ONE, "docs/a.md": "a", "docs/b.txt": "b", "new/a.md": "new a"})
    manifest = tmp_path / "manifests" / "m.yaml"
    with server.listen(id=1, resourcesListChanged=True, resourceSubscriptions=["docs://a.md"]) as listener:
        rename_over(manifest, ONE["manifests/m.yaml"].replace("*.md", "*.*"))
        hears(listener, LISTED, UPDATED)
        assert uris(server) == ["docs://a.md", "docs://b.txt"]
        rename_over(manifest, ONE["manifests/m.yaml"].replace("folder: docs", "folder: new"))
        hears(listener, LISTED, UPDATED)
        assert uris(server) == ["docs://a.md"] and text(server, "docs://a.md") == "new a"


def test_a_checkout_of_a_whole_tree(start: Start, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        known = ("-c", "user.name=Ada", "-c", "user.email=ada@example.test", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *known, *words], cwd=tmp_path, check=True, capture_output=True)

    write(tmp_path / "docs" / "stays.md", "main")
    write(tmp_path / "docs" / "old" / "a.md", "main")
    write(tmp_path / "manifests" / "m.yaml", ONE["manifests/m.yaml"])
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    shutil.rmtree(tmp_path / "docs" / "old")
    write(tmp_path / "docs" / "stays.md", "other")
    for number in range(50):
        write(tmp_path / "docs" / f"new{number % 5}" / f"{number}.md", "other")
    git("add", "-A")
    git("commit", "-qm", "two")
    server = watched(start, {})
    other = sorted(f"docs://new{number % 5}/{number}.md" for number in range(50))
    with server.listen(id=1, resourceSubscriptions=["docs://stays.md"]) as listener:
        for branch, found in (("main", ["docs://old/a.md"]), ("other", other), ("main", ["docs://old/a.md"])):
            git("checkout", "-q", branch)
            wire.eventually(lambda found=found: sorted(uris(server)) == sorted([*found, "docs://stays.md"]))  # type: ignore[misc]
            assert hears(listener, UPDATED)[0]["uri"] == "docs://stays.md"
            assert text(server, "docs://stays.md") == branch
            assert {text(server, uri) for uri in found} == {branch}


def test_W02_a_mounted_folder_that_is_swapped(start: Start, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs / "..r0" / "a.md", "r0")
    (docs / "..data").symlink_to("..r0")
    (docs / "a.md").symlink_to("..data/a.md")
    server = watched(start, ONE)
    with server.listen(id=1, resourcesListChanged=True, resourceSubscriptions=["docs://a.md"]) as listener:
        for number in (1, 2):
            write(docs / f"..r{number}" / "a.md", f"r{number}")
            (docs / "..tmp").symlink_to(f"..r{number}")
            (docs / "..tmp").replace(docs / "..data")
            shutil.rmtree(docs / f"..r{number - 1}")
            hears(listener, UPDATED)
            assert text(server, "docs://a.md") == f"r{number}"


def test_W04_without_any_event_an_edit_is_found(start: Start, tmp_path: Path) -> None:
    server = start({**ONE, "docs/a.md": "aaa"}, env={"WATCHFILES_FORCE_POLLING": "1"})
    server.says("polling alone")
    path = tmp_path / "docs" / "a.md"
    with server.listen(id=1, resourcesListChanged=True, resourceSubscriptions=["docs://a.md"]) as listener:
        before = path.stat()
        write(tmp_path / "other", "bbb")
        os.utime(tmp_path / "other", ns=(before.st_atime_ns, before.st_mtime_ns))
        subprocess.run(["cp", "-p", tmp_path / "other", path], check=True)
        hears(listener, UPDATED)
        assert text(server, "docs://a.md") == "bbb"
        rename_over(tmp_path / "docs" / "b.md", "b")
        hears(listener, LISTED)
        assert "docs://b.md" in uris(server)


@pytest.mark.parametrize(
    ("folder", "code"), [("none", "folder-not-found"), ("..", "folder-outside"), ("out", "folder-outside")]
)
def test_a_folder_that_cannot_be_served_is_told_at_the_start(tmp_path: Path, folder: str, code: str) -> None:
    root = tmp_path / "root"
    write(root / "manifests" / "m.yaml", f"resources:\n  d: {{uriTemplate: 'd://{{+p}}', folder: {folder}}}\n")
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to("../outside")
    done = subprocess.run(
        [*wire.command(root / "manifests"), "--stdio"], input=b"", capture_output=True, check=False, timeout=60
    )
    assert done.returncode != 0 and f"error[{code}]" in done.stderr.decode() and "m.yaml:2:" in done.stderr.decode()
