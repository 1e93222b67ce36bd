"""`python -m hookproof` is the command `hookproof`."""

from hookproof.cli import main

if __name__ == "__main__":
    main()
