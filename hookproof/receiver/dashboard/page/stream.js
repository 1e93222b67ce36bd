// Server-sent events. The browser reconnects by itself and sends the id of the last event.

/** Call a handler per event; `connection` gets the state of the connection. */
export function listen(handlers) {
  const source = new EventSource("/live/events");
  for (const kind of ["started", "skipped", "forgotten", "deliveries", "judged"]) {
    source.addEventListener(kind, (event) => handlers[kind](JSON.parse(event.data)));
  }
  source.addEventListener("open", () => handlers.connection("live"));
  source.addEventListener("error", () => {
    const ended = source.readyState === EventSource.CLOSED;
    handlers.connection(ended ? "ended" : "connecting");
    if (ended) setTimeout(() => listen(handlers), 3000);
  });
}
