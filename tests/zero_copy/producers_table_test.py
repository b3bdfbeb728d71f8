#!/usr/bin/env python3
"""The table's check finds a page that tells something else than what was measured, and merging cures it."""
import unittest

import producers_table

PAGE = """# Producers

| producer | where | 1.22 | 1.26 |
|---|---|---|---|
| `camera` | guest | imported | not measured |
| `decoder` | host | offered | offered |

The end.
"""


def row(producer, way, copied=0, counted=0):
    return {"producer": producer, "way": way, "frames": 20, "offered": 20, "imported": 0, "copied": copied,
            "copied_bytes": copied * 100, "counted_bytes": counted}


def result(version, *rows):
    return {"gstreamer": version, "rows": list(rows)}


class Table(unittest.TestCase):
    def test_takes_what_was_measured(self):
        self.assertEqual(producers_table.faults_of(PAGE, result("1.22", row("camera", "imported"), row("decoder", "offered"))), [])

    def test_finds_another_way(self):
        faults = producers_table.faults_of(PAGE, result("1.22", row("decoder", "copied")))
        self.assertEqual(len(faults), 1)
        self.assertIn("decoder on GStreamer 1.22: measured \"copied\"", faults[0])

    def test_takes_a_cell_that_nobody_has_measured(self):
        self.assertEqual(producers_table.faults_of(PAGE, result("1.26", row("camera", "imported"))), [])

    def test_finds_a_producer_that_the_page_lacks(self):
        self.assertEqual(len(producers_table.faults_of(PAGE, result("1.22", row("screen", "copied")))), 1)

    def test_says_nothing_where_nothing_was_measured(self):
        self.assertEqual(producers_table.faults_of(PAGE, result("1.22", row("camera", ""))), [])
        self.assertEqual(producers_table.faults_of(PAGE, result("1.30", row("camera", "copied"))), [])

    def test_finds_copies_that_only_one_count_saw(self):
        self.assertEqual(len(producers_table.contradictions_of(result("1.22", row("camera", "imported", 0, 5000)))), 1)
        self.assertEqual(len(producers_table.contradictions_of(result("1.22", row("camera", "copied", 3, 0)))), 1)
        self.assertEqual(producers_table.contradictions_of(result("1.22", row("camera", "copied", 3, 300))), [])

    def test_merges(self):
        measured = result("1.26", row("camera", "imported"), row("decoder", "copied"))
        merged = producers_table.merge(PAGE, measured)
        self.assertEqual(producers_table.faults_of(merged, measured), [])
        self.assertTrue(merged.endswith("The end.\n"))


if __name__ == "__main__":
    unittest.main()
