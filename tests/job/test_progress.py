"""Progress reports.

- the log gets plain lines: what there is to do, now and then how far and how fast, and the end
- a bar is drawn on a terminal only; never in a log
- a resumed run says where it starts, and its speed counts its own steps only
"""

import io

from onset.job import progress
from onset.job.progress import Reporter


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(terminal, every=10.0, total=4, start=0, fail=False):
    log = io.StringIO()
    reporter = Reporter("ci/toy/fit", log, terminal, every)
    try:
        with reporter.steps(total, "steps", start) as counter:
            for _ in range(start, total):
                counter.advance()
                if fail:
                    raise KeyError("x")
    except KeyError:
        pass
    return log.getvalue().splitlines()


def test_plain_lines_in_the_log():
    terminal = io.StringIO()
    lines = run(terminal)
    assert lines[0] == "ci/toy/fit: 4 steps to do"
    assert lines[-1].startswith("ci/toy/fit: 4 of 4 steps done in ")
    assert len(lines) == 2
    assert terminal.getvalue() == ""
    assert not any("\r" in line or "%|" in line for line in lines)


def test_a_bar_on_a_terminal_only():
    terminal = Terminal()
    assert run(terminal) == run(io.StringIO())
    assert "ci/toy/fit" in terminal.getvalue() and "\r" in terminal.getvalue()


def test_lines_in_between_and_the_speed_of_a_resumed_run(monkeypatch):
    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    lines = run(io.StringIO(), every=10.0, total=10, start=4)
    assert lines[0] == "ci/toy/fit: 4 of 10 steps done"
    assert lines[1] == "ci/toy/fit: 6 of 10 steps done, 0.2 steps a second, 20 s left"


def test_a_failed_run_has_no_line_of_success():
    assert run(io.StringIO(), fail=True) == ["ci/toy/fit: 4 steps to do"]


def test_without_a_log_lines_go_to_the_terminal_stream():
    terminal = io.StringIO()
    Reporter("label", None, terminal).line("text")
    assert terminal.getvalue() == "label: text\n"
