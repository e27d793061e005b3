"""Online: the worker from the queue to the lake, signals by window and slice."""
