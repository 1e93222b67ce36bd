"""What `hookproof.locust` gives to users of Locust: users, a shape, and deliveries in its figures.

One process of a test is its head: the only one, or Locust's master. It starts the receiving process
(`receiving_process`), which creates the endpoints at the target and receives what arrives, and its
`delivery_listener` reports each delivery to Locust. Each process that has users, the head itself or
a worker, has a `broadcast_sender`, which numbers the broadcasts and keeps what became of each.
"""
