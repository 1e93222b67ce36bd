"""Reports: each a pure function of a finished run, as `run_file.py` reads it."""
