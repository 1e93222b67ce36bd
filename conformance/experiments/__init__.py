"""What is tried: each experiment talks to the target and yields cases of evidence; none of them
judges.
"""
