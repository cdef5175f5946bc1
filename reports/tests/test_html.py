# SPDX-License-Identifier: Apache-2.0
"""The HTML page: complete, self-contained, and deaf to what foreign texts ask of a browser."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import hostile
import pytest
import sample
from cufault_reports.html import TIMELINE_LIMIT, render_html, timeline, write_html
from cufault_reports.results import TimelineEntry
from hypothesis import given, settings
from hypothesis import strategies as st


class Page(HTMLParser):
    """What a browser would find: elements with attributes, scripts, text."""

    VOID = ("meta", "input", "br", "img", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        else:
            self.text += data

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.elements if name in attributes]


def test_every_field_leads_to_an_element_that_exists() -> None:
    page = Page(render_html(sample.results()))
    targets = {link[1:] for link in page.attributes("href")}
    assert len(targets) > 8
    assert targets <= set(page.attributes("id"))
    assert page.open == []


def test_a_finding_shows_its_fault_its_texts_and_the_command_that_repeats_it() -> None:
    text = render_html(sample.results())
    assert re.search(r'class="kind-call marked".*?injected by f1.*?<span class="mark">injected</span>', text)
    assert "no warning names cuStreamDestroy" in text
    assert "cufault run scenarios/stream/drop.scenario.yaml --subject cuda.core" in text
    assert "CUDA_ERROR_INVALID_CONTEXT</b> (observed), matched 1, fired 1" in text


def test_nothing_is_loaded_from_anywhere() -> None:
    text = render_html(sample.results())
    page = Page(text)
    assert page.attributes("src") == []
    assert not {"link", "iframe", "object", "embed", "form", "base"} & {tag for tag, _ in page.elements}
    assert all(link.startswith("#") for link in page.attributes("href"))
    assert "url(" not in text
    assert "@import" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_hostile_texts_stay_texts() -> None:
    text = render_html(hostile.results())
    page = Page(text)
    clean = Page(render_html(hostile.results("")))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in clean.elements]
    assert page.scripts == clean.scripts
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "<img src=x onerror=alert(2)>" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202e]", text)
    text.encode("utf-8")


def test_the_page_allows_only_its_own_script_and_style() -> None:
    text = render_html(hostile.results())
    policy = next(content for content in Page(text).attributes("content") if "default-src 'none'" in content)
    for tag in ("script", "style"):
        inside = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert inside is not None
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_two_renderings_are_the_same() -> None:
    assert render_html(sample.results()) == render_html(sample.results())


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60))
def test_any_text_leaves_the_structure_alone(text: str) -> None:
    structure = [tag for tag, _ in Page(render_html(hostile.results(text))).elements]
    assert structure == [tag for tag, _ in Page(render_html(hostile.results(""))).elements]


def entries(number: int, marked: set[int]) -> list[TimelineEntry]:
    return [
        {"time_ns": at * 1000, "text": f"call {at}", "kind": "call", "mark": "injected" if at in marked else None}
        for at in range(number)
    ]


def test_a_long_timeline_keeps_its_faults_and_counts_what_it_leaves_out() -> None:
    lines = timeline(entries(10_000, {5_000}))
    assert [line.text for line in lines if line.mark] == ["call 5000"]
    assert "call 4995" in {line.text for line in lines}
    assert len([line for line in lines if not line.gap]) + sum(line.gap for line in lines) == 10_000


def test_a_timeline_full_of_faults_is_bounded() -> None:
    lines = timeline(entries(5_000, set(range(5_000))))
    assert len(lines) <= TIMELINE_LIMIT + 1
    assert len([line for line in lines if not line.gap]) + sum(line.gap for line in lines) == 5_000


def test_megabytes_of_text_do_not_make_megabytes_of_page(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(hostile.results("x" * 5_000_000), path)
    assert path.stat().st_size < 1_000_000
    assert "more characters" in path.read_text(encoding="utf-8")


def test_a_run_without_a_verdict_says_why() -> None:
    runs = [sample.run(1, "reference", outcome="harness_error", verdict=None, reason="the child vanished")]
    assert "the child vanished" in render_html(sample.results(*runs))


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_html(sample.results(), tmp_path / "missing" / "report.html")
