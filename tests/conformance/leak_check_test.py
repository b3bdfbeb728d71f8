#!/usr/bin/env python3
"""What leak_check.py makes of a program's output, also where the loader has no leak checker."""

import unittest

from leak_check import verdict

BALANCED = """\
[  PASSED  ] 206 tests.
Check balance of create/destroy calls
----------------------------------------------------------
               zeContextCreate = 9     \\--->              zeContextDestroy = 9
              zeMemAllocDevice = 7     |
                zeMemAllocHost = 191   |
              zeMemAllocShared = 6     \\--->                     zeMemFree = 204
                                       \\--->                  zeMemFreeExt = 0
"""


class Verdict(unittest.TestCase):
    def test_a_balanced_table_is_well(self):
        self.assertIsNone(verdict(BALANCED))

    def test_a_leak_of_none_is_well(self):
        self.assertIsNone(verdict(BALANCED.replace("zeContextDestroy = 9", "zeContextDestroy = 9 ---> LEAK = 0")))

    def test_a_leak_is_named(self):
        output = BALANCED.replace("zeContextDestroy = 9", "zeContextDestroy = 8     ---> LEAK = 1")
        self.assertIn("LEAK = 1", verdict(output))
        self.assertIn("zeContextDestroy = 8", verdict(output))

    def test_more_destroyed_than_created_is_wrong_too(self):
        self.assertIsNotNone(verdict(BALANCED.replace("zeContextDestroy = 9", "zeContextDestroy = 10 ---> LEAK = -1")))

    def test_no_table_proves_nothing(self):
        self.assertIn("no table", verdict("[  PASSED  ] 206 tests.\n"))

    def test_a_table_without_objects_proves_nothing(self):
        empty = "Check balance of create/destroy calls\n   zeContextCreate = 0     \\--->   zeContextDestroy = 0\n"
        self.assertIn("no object", verdict(empty))


if __name__ == "__main__":
    unittest.main()
