"""Runs a hidden check inside the sandbox and signs what it counted.

What is judged is imported here, so it could print a test run's words and leave with status 0. The mark is read before
anything of it runs, from a pipe that is then empty, and only the line that bears it counts. Started as
`python -c SOURCE FOLDER`, so it imports nothing of labkit.
"""

import os
import sys
import unittest


def main() -> None:
    mark = sys.stdin.readline().strip()
    write, folder = os.write, sys.argv[1]
    runner = unittest.TextTestRunner(stream=sys.stderr, resultclass=unittest.TextTestResult)
    result = runner.run(unittest.TestLoader().discover(folder, top_level_dir="."))
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped) + len(result.expectedFailures)
    write(1, f"\n{mark} {result.testsRun} {bad} {skipped}\n".encode())


main()
