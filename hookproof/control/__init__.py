"""What the control listeners of the receiver and of the reference server have in common.

Beside `hookproof.spec` and `hookproof.process`: nothing here imports anything of the project.
"""
