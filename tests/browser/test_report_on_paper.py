"""report.html as it is printed: a report has no script, so what is folded on the screen must open by style alone."""

from __future__ import annotations

from support.synthetic_runs import competition

from reports.html import write_report

SHOWN = "() => [...document.querySelectorAll('details:not([open]) > :not(summary)')].map(e => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0)"  # noqa: E501


def test_folds_are_closed_on_the_screen_and_open_on_paper(page, tmp_path):
    made = competition(tmp_path / "logs", 12, run="one")
    made.finish()
    report = tmp_path / "report.html"
    write_report(tmp_path / "logs" / "one", report)
    page.set_content(report.read_text(encoding="utf-8"))
    folds = page.evaluate(SHOWN)
    assert len(folds) > 3 and not any(folds)
    page.emulate_media(media="print")
    page.wait_for_function(f"() => ({SHOWN})().every(Boolean)")
    whole = len(page.pdf())
    page.emulate_media(media="screen")
    page.add_style_tag(content="@media print { details::details-content { display: none !important } }")
    assert whole > 1.1 * len(page.pdf()), "the folds' text is in the document"


def test_a_program_is_in_colours(page, tmp_path):
    made = competition(tmp_path / "logs", 4, run="one")
    made.finish()
    report = tmp_path / "report.html"
    write_report(tmp_path / "logs" / "one", report)
    page.set_content(report.read_text(encoding="utf-8"))
    box = page.locator("pre.code").first
    plain = box.locator("code").evaluate("e => getComputedStyle(e).color")
    colours = set(box.locator("span").evaluate_all("all => all.map(e => getComputedStyle(e).color)"))
    assert colours - {plain}
