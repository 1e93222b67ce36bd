"""`hookproof doctor`: check whether a target can be judged, and what to fix if not."""
