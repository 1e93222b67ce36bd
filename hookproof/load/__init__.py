"""The load profiles: locust drives a target, the receiver records what arrives."""
