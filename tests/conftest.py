from hypothesis import HealthCheck, settings

# Examples may take their time: how long one takes says more about the machine than about the code.
settings.register_profile(
    "patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")
