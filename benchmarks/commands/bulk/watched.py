"""Watch the time and memory of a process with its children."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence

import psutil


class Watched:
    """A process with its children, kept to some cores: its output, time and memory.

    Attributes:
        output: what it wrote to standard output.
        seconds: from its start to its end.
        cpu: seconds that its processes computed: those of workers, and all.
        memory: the most megabytes that a worker had for itself.
    """

    def __init__(self, command: Sequence[str], cores: Sequence[int]) -> None:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores)
        )
        self._cpu: dict[int, tuple[str, float]] = {}
        self._memory: dict[int, int] = {}
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(psutil.Process(process.pid), ended))
        watch.start()
        self.output = process.communicate()[0]
        self.seconds = time.perf_counter() - start
        ended.set()
        watch.join()
        if process.returncode:
            raise RuntimeError(f"{command}: exit status {process.returncode}")
        workers = {pid for pid, (name, _) in self._cpu.items() if "MapWorker" in name} or {process.pid}
        self.cpu = (sum(self._cpu[pid][1] for pid in workers), sum(cpu for _, cpu in self._cpu.values()))
        self.memory = max(self._memory[pid] for pid in workers) / 2**20

    def _watch(self, root: psutil.Process, ended: threading.Event) -> None:
        while not ended.wait(0.2):
            try:
                processes = [root, *root.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            for process in processes:
                try:
                    times, name = process.cpu_times(), " ".join(process.cmdline()[:1])
                    used = process.memory_full_info().uss
                except psutil.Error:
                    continue
                self._cpu[process.pid] = (name, times.user + times.system)
                self._memory[process.pid] = max(self._memory.get(process.pid, 0), used)
