"""The load profiles: locust drives a target, the receiver witnesses what arrives."""
