"""``python -m certree`` is the command line."""

from certree.cli import main

main()
