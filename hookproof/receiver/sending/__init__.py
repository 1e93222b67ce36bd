"""Signs events and sends them to a consumer, in the ways in which real senders do."""
