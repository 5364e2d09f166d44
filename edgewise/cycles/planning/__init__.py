"""What is known before a count: its tasks, their cost and its devices."""
