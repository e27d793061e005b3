"""Every way in: the capture proxy, traces, log files, and the intake that is common to all."""
