"""Two runs side by side: verdicts, dialects, and what the targets did."""
