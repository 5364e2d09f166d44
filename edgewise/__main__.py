"""``python -m edgewise`` is the command line."""

from edgewise.command import main

if __name__ == "__main__":
    main()
