"""Reports for the pages and logs of CI systems."""
