"""The live page: deliveries as they arrive, why a signature fails, and replay, in a browser.

`change_feed` remembers what changed and `event_stream` sends it as server-sent events.
`delivery_rows` defines what is shown of a delivery; `replay` sends one again to another URL.
`page/` is what the browser loads: plain HTML, CSS and modules, without a build step or external
resources.
"""
