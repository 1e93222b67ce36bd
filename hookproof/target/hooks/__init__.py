"""The provision hooks: what the eight operations cannot create, done by the target's operators."""
