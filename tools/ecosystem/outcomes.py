"""A plug-in of pytest that notes how tests ended, so that a run goes on where one before it was broken off.

It reads and writes the file that TAEDA_OUTCOMES names, lines of a word and a test: `begun`, then how it ended.
A test that was begun in an earlier run is not begun again: what ended the process counts as its failure. The file beside it,
with `.errors` at its end, has the first line of each error, behind the test or the file that could not be collected.
"""

import os

NOTES = os.environ.get("TAEDA_OUTCOMES", "")


def read(path):
    """The last word on each test."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {test: word for word, _, test in (line.rstrip("\n").partition(" ") for line in file)}


def note(word, test):
    with open(NOTES, "a", encoding="utf-8") as file:
        file.write(f"{word} {test}\n")


def note_error(of, error):
    crash = getattr(error, "reprcrash", None)
    lines = (crash.message if crash else str(error)).strip().splitlines()
    # Of an error while a file was collected the last line says what was wrong, of others the first.
    said = next((line for line in (lines if crash else lines[::-1]) if line.strip()), "")
    with open(NOTES + ".errors", "a", encoding="utf-8") as file:
        file.write(f"{of}\t{said.removeprefix('E').strip()}\n")


def errors(path):
    """What went wrong in each test or file."""
    if not os.path.exists(path + ".errors"):
        return {}
    with open(path + ".errors", encoding="utf-8") as file:
        return {of: said for of, _, said in (line.rstrip("\n").partition("\t") for line in file)}


def pytest_collectreport(report):
    if report.failed:
        note_error(report.nodeid, report.longrepr)


def pytest_collection_modifyitems(items):
    known = read(NOTES)
    items[:] = [item for item in items if item.nodeid not in known]


def pytest_runtest_logstart(nodeid):
    note("begun", nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" or not report.passed:
        note(report.outcome if report.when == "call" or report.skipped else "failed", report.nodeid)
    if report.failed:
        note_error(report.nodeid, report.longrepr)
