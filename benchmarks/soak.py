"""The gateway and a worker under steady load for long: python benchmarks/soak.py [--minutes M].

Every ten seconds the resident memory of gateway, storing process and worker is written down. After
a warm-up of a fifth of the time it must be flat: the median of the last quarter may be no more
than a tenth and 8 MiB above that of the first quarter behind the warm-up. Everything that was
asked must be in the lake in the end. Prints a table; exit code 1 where either does not hold.
"""

from __future__ import annotations

import argparse
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

import uvloop

from gateway import SETTINGS, open_loop, pids, settled
from ragnostic.store.lake import ParquetLake

EVERY_S = 10.0
RATE = 50
SHARE, SPARE_MIB = 0.10, 8.0
STORE = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n[work]\nsleep_s = 1\n'


def resident_mib(pid: int) -> float:
    """Memory of a process that is in use now."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def watch(processes: dict[str, int], seconds: float) -> dict[str, list[float]]:
    """The memory of each process, every ten seconds."""
    found: dict[str, list[float]] = {name: [] for name in processes}
    begun = time.monotonic()
    for number in range(1, int(seconds / EVERY_S) + 1):
        time.sleep(max(0.0, begun + number * EVERY_S - time.monotonic()))
        for name, pid in processes.items():
            found[name].append(resident_mib(pid))
    return found


def verdict(name: str, values: list[float]) -> bool:
    """Print the row of a process; whether its memory is flat."""
    rest = values[len(values) // 5 :]
    quarter = max(1, len(rest) // 4)
    first, last = (statistics.median(part) for part in (rest[:quarter], rest[-quarter:]))
    flat = last <= first * (1 + SHARE) + SPARE_MIB
    print(f"| {name} | {first:.1f} | {last:.1f} | {max(values):.1f} | {'yes' if flat else 'NO'} |")
    return flat


def soak(folder: Path, minutes: float) -> bool:
    """Run all of it; whether memory was flat and nothing was lost."""
    here = Path(__file__).with_name("gateway.py")
    service = subprocess.Popen(
        [sys.executable, str(here), "--serve"], stdout=subprocess.PIPE, text=True
    )
    port = int(service.stdout.readline())
    settings = folder / "gateway.toml"
    settings.write_text(SETTINGS.format(port=port) + '[store]\npath = "store"\n', encoding="utf-8")
    (folder / "store").mkdir()
    (folder / "store" / "store.toml").write_text(STORE, encoding="utf-8")
    ragnostic = [sys.executable, "-m", "ragnostic"]
    gateway = subprocess.Popen(
        [*ragnostic, "gateway", "--config", str(settings)], stdout=subprocess.PIPE, text=True
    )
    listen, control = (int(re.search(r":(\d+) ", gateway.stdout.readline())[1]) for _ in range(2))
    worker = subprocess.Popen(
        [*ragnostic, "work", "--store", str(folder / "store")], stdout=subprocess.DEVNULL
    )
    asked: list[int] = []
    load = Thread(
        target=lambda: asked.append(len(uvloop.run(open_loop(listen, minutes * 60, RATE))))
    )
    load.start()
    try:
        uvloop.run(open_loop(listen, 0.1, 10))  # the storing process is there from the first on
        storing = pids(gateway.pid)[1]
        names = {"gateway": gateway.pid, "storing": storing, "worker": worker.pid}
        found = watch(names, minutes * 60)
        load.join()
        counts = settled(control)
    finally:
        gateway.send_signal(signal.SIGTERM)
        gateway.communicate(timeout=60)
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=60)
        service.terminate()
        service.wait(timeout=10)
    subprocess.run([*ragnostic, "work", "--store", str(folder / "store"), "--once"], check=True)
    rows = ParquetLake(folder / "store", "UTC").read("records", columns=["record_id"]).num_rows
    print(
        f"\n{minutes:g} minutes, {RATE} requests/s: {counts['stored']} stored, {rows} in the lake\n"
    )
    print(
        "| process | MiB after warm-up | MiB at the end | most MiB | flat |\n|---|---|---|---|---|"
    )
    flat = [verdict(name, values) for name, values in found.items()]
    return all(flat) and rows == counts["stored"] == counts["captured"] and not counts["dropped"]


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 0 if soak(Path(folder), options.minutes) else 1


if __name__ == "__main__":
    sys.exit(main())
