"""The reference server: the service of the document, under any dialect, as one process."""
