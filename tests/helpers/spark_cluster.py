"""A Spark session with executors in processes of their own, which are killed and stopped while they compute.

    python -m tests.helpers.spark_cluster kill-executors stop-driver kill-driver

Prints a line for each fault: the seconds after which an action that was under way ended, and its result or its error.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import scipy.sparse as sp
from pyspark.sql import SparkSession

from anchorless.errors import ClusterError
from anchorless.spark import from_blocks

#: Seconds after which a fault strikes, and that the sum of a block takes: an action is under way for a few of them.
STRIKE_SECONDS, BLOCK_SECONDS = 1.5, 1.0
#: What the processes of executors and of the driver have in their command line.
EXECUTOR, DRIVER = "CoarseGrainedExecutorBackend", "SparkSubmit"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    # Stopped executors are replaced after these seconds; without them, after two to three minutes.
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "4s",
}


#: Processes that have to be killed at the end: one that is stopped would stay for ever.
struck: set[int] = set()


def list_processes(name: str) -> list[int]:
    """Return the processes of Java below this one with a name in their command line."""
    listed = subprocess.run(["ps", "-eww", "-o", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    found, parents = list[int](), {os.getpid()}
    while children := {int(pid) for pid, parent, _ in rows if int(parent) in parents}:
        found += [
            int(pid) for pid, _, args in rows if int(pid) in children and name in args and "java" in args.split()[0]
        ]
        parents = children
    return found


def sum_slowly(block):
    """Return the sums of the columns after some time."""
    time.sleep(BLOCK_SECONDS)
    return np.asarray(block.sum(axis=0)).ravel()


def strike(fault: str) -> None:
    """Kill or stop the executors, one of them, or the driver."""
    how, who = fault.split("-")
    struck.update(list_processes(EXECUTOR))  # without a driver they are children of no one
    found = list_processes(DRIVER if who == "driver" else EXECUTOR)
    for process in found[:1] if who == "executor" else found:
        os.kill(process, signal.SIGKILL if how == "kill" else signal.SIGSTOP)


def compute(documents, expected) -> str:
    """Return whether an action gives the right sums, or its error."""
    try:
        found = documents.sum_blocks(sum_slowly, 1)
    except ClusterError as error:
        return str(error)
    return "right" if np.allclose(found, expected, rtol=1e-10) else f"wrong: {found}"


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Try the faults of the command line one after the other in one session."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for the executors
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    blocks = [sp.random(30, 50, 0.5, format="csr", random_state=i) for i in range(8)]
    expected = np.asarray(sp.vstack(blocks).sum(axis=0)).ravel()
    documents = from_blocks(session.sparkContext.parallelize(blocks, 4))
    tell(f"without a fault: {compute(documents, expected)} {len(list_processes(EXECUTOR))} executors")
    try:
        for fault in sys.argv[1:]:
            timer = threading.Timer(STRIKE_SECONDS, strike, [fault])
            timer.start()
            start, found = time.monotonic(), "right"
            while found == "right" and timer.is_alive():
                found = compute(documents, expected)
            found = compute(documents, expected) if found == "right" else found
            tell(f"{fault}: {found}, after {time.monotonic() - start - STRIKE_SECONDS:.0f} s")
    finally:
        for process in {*list_processes(DRIVER), *list_processes(EXECUTOR), *struck}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        os._exit(0)  # the session would wait for its driver


if __name__ == "__main__":
    main()
