"""What every command needs of its own process: exit codes, its version, the end of its input, and
how late it is.

The lowest layer beside `hookproof.spec`: nothing here imports anything of the project.
"""
