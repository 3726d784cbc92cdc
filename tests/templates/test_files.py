"""The templates folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpdecl.templates import RenderFault, TemplateFault, Templates


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.j2", "cannot be read"),
        ("../out.j2", "not below"),
        ("latin.j2", "not UTF-8 (byte 1)"),
        ("sub", "cannot be read"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, told: str) -> None:
    folder = tmp_path / "templates"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "out.j2").write_text("secret", "utf-8")
    (folder / "latin.j2").write_bytes(b"a\xe9")
    with pytest.raises(TemplateFault) as fault:
        Templates(folder).file(name)
    assert told in fault.value.message
    with pytest.raises(TemplateFault):
        Templates(folder).template(f"x\n{{% include '{name}' %}}")


def test_without_a_folder_there_are_no_files() -> None:
    with pytest.raises(TemplateFault) as fault:
        Templates(None).file("a.j2")
    assert "no templates folder" in fault.value.message


def test_a_fault_in_an_included_file_is_found_when_loading(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_text("{% include 'b.j2' %}", "utf-8")
    (tmp_path / "b.j2").write_text("{{ a b }}", "utf-8")
    with pytest.raises(TemplateFault):
        Templates(tmp_path).file("a.j2")


def test_what_may_be_missing(tmp_path: Path) -> None:
    templates = Templates(tmp_path)
    (tmp_path / "a.j2").write_text("[{% include 'b.j2' ignore missing %}]", "utf-8")
    assert templates.file("a.j2").text({}) == "[]"
    assert templates.files_of("a.j2") == {tmp_path / "a.j2", tmp_path / "b.j2"}


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_text("{{ n }}{% include 'a.j2' %}", "utf-8")
    template = Templates(tmp_path).file("a.j2")
    assert template.reads == {("n",)}
    with pytest.raises(RenderFault):
        template.text({"n": 1})


def test_text_of_included_files_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "big.j2").write_text("x" * 500_000, "utf-8")
    source = "{% set a %}{% for i in range(100000) %}{% include 'big.j2' %}{% endfor %}{% endset %}"
    with pytest.raises(RenderFault):
        Templates(tmp_path).template(source).text({})


def test_a_long_file_is_fine(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_text("line\r\n" * 10_000 + "{{ n }}\n", "utf-8", newline="")
    assert Templates(tmp_path).file("a.j2").text({"n": 1}).endswith("line\n1\n")
