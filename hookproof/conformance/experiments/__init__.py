"""What is tried: each experiment calls the target and yields evidence; none of them judges."""
