"""What the HTML reports have in common; nothing here imports anything of the project."""
