"""Lets `python -m robotrules` be the command `robotrules`. It knows nothing else."""

from robotrules.cli import main

if __name__ == "__main__":
    main()
