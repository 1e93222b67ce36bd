"""The live page: deliveries as they arrive, why a signature fails, and replay, for a person with a
browser.

`feed` remembers what changed, `stream` sends it as server-sent events, `rows` and `standing` say
what is shown of a delivery, `replay` sends one again elsewhere, `same_origin` keeps strangers'
pages away from the control listener, and `page/` is what the browser gets: plain HTML, CSS and
modules, without a build step and without a network.
"""
