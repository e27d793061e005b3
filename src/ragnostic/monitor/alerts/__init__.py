"""Rules, their states, and who is told."""
