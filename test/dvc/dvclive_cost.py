"""What a step with two values costs the trainer: DVCLive in its process beside a line that it appends for otelcol-train.

    pip install dvclive==3.49.1
    python3 test/dvc/dvclive_cost.py

Writes into a folder of its own that it removes. STEPS is 2000; without DVCLive only the line is measured.
"""

import json
import os
import resource
import tempfile
import time


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(name, steps, step):
    cpu_before, before = cpu(), time.perf_counter()
    for n in range(steps):
        step(n)
    print(f"{name}: CPU {1e6 * (cpu() - cpu_before) / steps:.0f} us a step, {1e6 * (time.perf_counter() - before) / steps:.0f} us until the next", flush=True)


def line_of(stream):
    def step(n):
        body = {"epoch": n, "measurements": {"train/loss": 1 / (n + 1), "val/loss": 2 / (n + 1)}}
        stream.write(json.dumps({"schema": "pathologize.ml.training/1", "ts": time.time(), "event": "epoch.end", "run_id": "r", "body": body}) + "\n")

    return step


def step_of(live):
    def step(n):
        live.log_metric("train/loss", 1 / (n + 1))
        live.log_metric("val/loss", 2 / (n + 1))
        live.next_step()

    return step


def main():
    steps = int(os.environ.get("STEPS", "2000"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("train.jsonl", "a", buffering=1) as stream:  # line buffered: a kill loses no row that was written
            measured("a line", steps, line_of(stream))
        cpu_before, before = cpu(), time.perf_counter()
        try:
            from dvclive import Live
        except ImportError:
            print("no DVCLive: pip install dvclive==3.49.1")
            return
        live = Live(save_dvc_exp=False)
        print(f"starting DVCLive: CPU {cpu() - cpu_before:.2f} s, {time.perf_counter() - before:.2f} s")
        measured("DVCLive", steps, step_of(live))
        live.end()
        os.chdir("/")


main()
