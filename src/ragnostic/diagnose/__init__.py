"""Where it is lost, why, and what to mend first: miss attribution and the runbook as rules."""
