"""Where live records are kept: a durable queue, a lake of Parquet files, small state, snapshots.

``queue``: :class:`~ragnostic.store.queue.SqliteQueue`, the EventLog; ``lake``:
:class:`~ragnostic.store.lake.ParquetLake`, the RecordStore; ``state``: leases, positions, counters
and waiting spans; ``snapshots``: the chunks of the corpus by fingerprint.
"""
