"""``python -m nymlink``: the command line, where the interpreter is chosen and no path is searched."""

from nymlink.cli import main

main()
