"""``python -m nymlink``: the command line of the interpreter that is named, wherever its scripts are."""

from nymlink.cli import main

if __name__ == "__main__":
    main()
