"""`hookproof replay`: send the requests of a run once more, and show what is answered otherwise."""
