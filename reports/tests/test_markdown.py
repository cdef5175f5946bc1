# SPDX-License-Identifier: Apache-2.0
"""The Markdown summary: under the size limit, and nothing in a foreign text becomes markup."""

from __future__ import annotations

from pathlib import Path

import hostile
import sample
from cufault_reports import write_markdown
from cufault_reports.markdown import STEP_SUMMARY_BYTES, code, render_markdown
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token


def tokens(text: str) -> list[Token]:
    """All tokens, the inline ones in their place, as a CommonMark reader with tables sees them."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found.append(token)
        found += token.children or []
    return found


def kinds(text: str) -> list[str]:
    return [token.type for token in tokens(text)]


def test_the_table_has_a_row_for_each_rule_and_a_column_for_each_subject() -> None:
    found = kinds(render_markdown(sample.results()))
    assert found.count("tr_open") == 1 + len(sample.RULES)
    assert found.count("th_open") == 4
    assert found.count("td_open") == 4 * len(sample.RULES)


def test_findings_and_failures_come_with_evidence_and_command() -> None:
    violation = sample.run(2, "reference", outcome="violation", verdict=sample.verdict("violated"))
    text = render_markdown(sample.results(sample.finding(1), violation))
    assert text.index("## Failures: 1") < text.index("## Findings about observed subjects: 1")
    assert "no warning names cuStreamDestroy" in text
    assert "repeat: `cufault run" in text


def test_hostile_texts_make_no_markup() -> None:
    text = render_markdown(hostile.results())
    found = kinds(text)
    assert not {"html_inline", "html_block", "link_open", "image", "strong_open", "em_open"} & set(found)
    plain = kinds(render_markdown(hostile.results("")))
    for structure in ("td_open", "tr_open", "bullet_list_open", "heading_open", "code_inline"):
        assert found.count(structure) == plain.count(structure), structure


@given(st.text(min_size=1))
def test_a_code_span_holds_any_text(text: str) -> None:
    assert set(kinds(f"a {code(text)} b")) <= {"paragraph_open", "inline", "text", "code_inline", "paragraph_close"}


def test_a_bar_stays_in_its_table_field() -> None:
    assert kinds(f"| a | b |\n|---|---|\n| {code('x|y', in_table=True)} | z |\n").count("td_open") == 2


def test_the_summary_stays_under_the_limit_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    write_markdown(sample.results(*(sample.finding(number) for number in range(5_000))), path)
    assert STEP_SUMMARY_BYTES // 2 < path.stat().st_size < STEP_SUMMARY_BYTES
    text = path.read_text(encoding="utf-8")
    shown = text.count("* repeat: ")
    assert f"{5_000 - shown} more runs did not fit here" in text
