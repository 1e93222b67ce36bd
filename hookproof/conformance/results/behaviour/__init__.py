"""What a target did in a run, from the stored exchanges and deliveries alone: nothing is judged."""
