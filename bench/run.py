# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark that this machine allows, and writes what came out as JSON and Markdown.

    python bench/run.py --build build/plain --out FOLDER [--driver stand_in|simulated|real]... [--once]

Only the standard library is needed. What cannot be measured here is listed with its reason, never left out silently.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
sys.path[:0] = [str(HERE), str(SOURCE / "harness" / "python")]

from cufault.launch.libraries import real_driver  # noqa: E402
from cufault.libc import parse_libc_fault, write_libc_plan  # noqa: E402
from report import as_markdown  # noqa: E402

DRIVERS = ("stand_in", "simulated", "real")
NEVER = 2**62
TRACE_HEADER, TRACE_RECORD = 4096, 256
LOST_AT = 40
FAR_RULE = {"label": "far", "at": "cuMemcpyHtoD", "effect": "fail", "code": "CUDA_ERROR_UNKNOWN"}
NEAR_RULES = [
    {"label": name, "at": name, "effect": "fail", "code": "CUDA_ERROR_UNKNOWN", "from": NEVER}
    for name in ("cuCtxGetCurrent", "cuEventCreate", "cuEventDestroy")
]
# What the shim does, as it is called in the report; None: no plan.
MODES: dict[str, dict[str, Any] | None] = {
    "idle": None,
    "armed, other function": {"faults": [FAR_RULE], "trace": False, "stacks": False},
    "armed, waits for its ordinal": {"faults": NEAR_RULES, "trace": False, "stacks": False},
    "traced": {"faults": [], "trace": True, "stacks": False},
    "traced with stacks": {"faults": [], "trace": True, "stacks": True},
}


class Skipped(Exception):
    """What cannot be measured here, and why."""


@dataclass(frozen=True)
class Effort:
    """How much is measured. Traced calls fill a file, so there are fewer of them."""

    iterations: int = 300_000
    traced_iterations: int = 4_000
    slow_iterations: int = 2_000
    repetitions: int = 11
    load_rounds: int = 200
    threads: tuple[int, ...] = (1,)


@dataclass
class Results:
    """One run of everything, as report.py takes it."""

    machine: dict[str, Any]
    measured: bool  # False: one iteration, which shows that everything runs and says nothing of its time
    calls: list[dict[str, Any]] = field(default_factory=list)
    trace: list[dict[str, Any]] = field(default_factory=list)
    load: list[dict[str, Any]] = field(default_factory=list)
    libc: list[dict[str, Any]] = field(default_factory=list)
    handles: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    format: int = 1


class Bench:
    """The programs of one build, and what to do with them."""

    def __init__(self, build: Path, effort: Effort) -> None:
        self.build = build
        self.effort = effort
        self.shim = (build / "shim" / "interpose" / "libcuda.so.1").resolve()
        self.simulator = (build / "shim" / "sim" / "libcufault_sim.so").resolve()
        self.libc = (build / "shim" / "libc" / "libcufault_libc.so").resolve()
        self.stand_in = (build / "bench" / "libcuda_stand_in.so").resolve()
        for path in (self.shim, self.simulator, self.libc, self.stand_in):
            if not path.is_file():
                raise SystemExit(f"bench: {path} is not built (meson compile -C {build})")

    def driver_file(self, driver: str) -> Path:
        """Where that driver is. Raises Skipped."""
        if driver == "real":
            found = real_driver()
            if found is None or not Path("/dev/nvidiactl").exists():
                raise Skipped("no NVIDIA driver with a GPU on this machine")
            return found
        return self.stand_in if driver == "stand_in" else self.simulator

    def measure(
        self, program: str, words: list[str], environment: dict[str, str], iterations: int
    ) -> dict[str, list[float]]:
        """Runs one benchmark program: nanoseconds a call of each repetition, by its name. Raises Skipped."""
        command = [
            str(self.build / "bench" / program),
            *words,
            f"--iterations={iterations}",
            f"--repetitions={self.effort.repetitions}",
            "--benchmark_format=json",
            "--benchmark_enable_random_interleaving=true",
        ]
        done = subprocess.run(
            command, env={**clean_environment(), **environment}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            reason = done.stderr.strip().splitlines() or [f"no message, status {done.returncode}"]
            raise Skipped(reason[-1])
        taken: dict[str, list[float]] = {}
        for entry in json.loads(done.stdout)["benchmarks"]:
            if entry.get("error_occurred"):
                raise Skipped(f"{entry['name']}: {entry['error_message']}")
            if entry["run_type"] == "iteration":
                parts = entry["run_name"].split("/")
                threads = next((part[8:] for part in parts if part.startswith("threads:")), "1")
                taken.setdefault("/".join([*parts[:2], threads]), []).append(entry["ns"])
        return taken

    @contextmanager
    def preloaded(self, driver: Path, plan: dict[str, Any] | None) -> Iterator[tuple[dict[str, str], Path]]:
        """The environment in which the shim stands before that driver, and the run folder."""
        with tempfile.TemporaryDirectory(prefix="cufault-bench-") as name:
            folder = Path(name)
            for part in ("preload", "driver"):
                (folder / part).mkdir()
            for file in ("libcuda.so.1", "libcuda.so"):
                (folder / "preload" / file).symlink_to(self.shim)
            (folder / "driver" / "libcuda.so.1").symlink_to(driver)
            environment = {
                "LD_PRELOAD": f"{folder}/preload/libcuda.so.1",
                "LD_LIBRARY_PATH": f"{folder}/preload:{folder}/driver",
            }
            if plan is not None:
                simulated = driver == self.simulator
                request = {
                    "format": 1,
                    "run_folder": str(folder),
                    "backend": "simulated" if simulated else "path",
                    "backend_path": str(driver),
                    "steps": [],
                    "handles": [],
                    **plan,
                }
                write = subprocess.run(
                    [str(self.build / "bench" / "bench_write_plan"), str(folder / "plan.bin")],
                    input=json.dumps(request),
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if write.returncode != 0:
                    raise Skipped(write.stderr.strip())
                environment["CUFAULT_PLAN"] = str(folder / "plan.bin")
            yield environment, folder

    def calls(self, driver: str, mode: str, results: Results) -> None:
        """One way to call a driver against a direct call, in one process. Raises Skipped."""
        file = self.driver_file(driver)
        plan = MODES[mode]
        traced = plan is not None and bool(plan["trace"])
        iterations = self.effort.traced_iterations if traced else self.effort.iterations
        threads = ",".join(map(str, self.effort.threads))
        words = [f"--direct={file}", "--via=libcuda.so.1", f"--threads={threads}"]
        with self.preloaded(file, plan) as (environment, folder):
            taken = self.measure("bench_calls", words, environment, iterations)
            size = trace_size(folder) if traced else None
        results.calls += compared(taken, "via", driver=driver, mode=mode)
        if size is not None:
            results.trace.append({"driver": driver, "mode": mode, **size})

    def profiler(self, results: Results) -> None:
        """An empty CUPTI callback on the real driver. Raises Skipped."""
        file = self.driver_file("real")
        cupti = find_cupti()
        if cupti is None:
            raise Skipped("no libcupti.so (CUDA toolkit, or the wheel nvidia-cuda-cupti)")
        taken = self.measure(
            "bench_calls", [f"--direct={file}", f"--cupti={cupti}"], {}, self.effort.iterations // 10 or 1
        )
        results.calls += compared(taken, "cupti", driver="real", mode="empty CUPTI callback")

    def load(self, results: Results) -> None:
        """/bin/true, alone and with each preload."""
        command = [
            str(self.build / "bench" / "bench_load_time"),
            str(self.effort.load_rounds),
            "/bin/true",
            "alone=",
            f"shim={self.shim}",
            f"libc={self.libc}",
        ]
        taken = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        alone = statistics.median(taken["alone"])
        for name in ("shim", "libc"):
            with_it = statistics.median(taken[name])
            results.load.append(
                {
                    "preload": name,
                    "alone_us": alone / 1e3,
                    "us": with_it / 1e3,
                    "added_us": (with_it - alone) / 1e3,
                    "rounds": self.effort.load_rounds,
                }
            )

    def allocations(self, results: Results) -> None:
        """malloc and close under the second preload, against glibc's own in the same process."""
        never = f"#{NEVER}"
        plans: dict[str, tuple[str, ...]] = {
            "not preloaded": (),
            "idle": (),
            "armed, other function": ("memalign",),
            "armed, other module": ("malloc@libother.so", "close@libother.so"),
            "counted, never fails": (f"malloc{never}", f"close{never}"),
        }
        for mode, faults in plans.items():
            environment = {} if mode == "not preloaded" else {"LD_PRELOAD": str(self.libc)}
            with tempfile.TemporaryDirectory(prefix="cufault-bench-") as folder:
                if faults:
                    plan = Path(folder) / "libc_plan.bin"
                    write_libc_plan(plan, [parse_libc_fault(fault, fault) for fault in faults])
                    environment["CUFAULT_LIBC_PLAN"] = str(plan)
                taken = self.measure("bench_allocations", [], environment, self.effort.iterations)
            results.libc += compared(taken, "via", mode=mode)

    def handles(self, driver: str, results: Results) -> None:
        """The reference handle layer against bare driver calls, nothing preloaded. Raises Skipped."""
        file = self.driver_file(driver)
        with tempfile.TemporaryDirectory(prefix="cufault-bench-") as folder:
            (Path(folder) / "libcuda.so.1").symlink_to(file)
            taken = self.measure("bench_handles", [], {"LD_LIBRARY_PATH": folder}, self.effort.slow_iterations)
        results.handles += compared(taken, "via", driver=driver)

    def judged_runs(self, results: Results, scenarios: Path, subject: str) -> None:
        """Whole runs, from scenario to verdict, one after another on one core. Raises Skipped."""
        command = shutil.which("cufault")
        if command is None:
            raise Skipped("`cufault` is not installed (./dev run python bench/run.py ... has it)")
        with tempfile.TemporaryDirectory(prefix="cufault-bench-") as folder:
            begin = time.monotonic()
            done = subprocess.run(
                [
                    command,
                    "run",
                    str(scenarios),
                    "--subject",
                    subject,
                    "--jobs",
                    "1",
                    "--driver",
                    "simulated",
                    "--out",
                    folder,
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            took = time.monotonic() - begin
            file = Path(folder) / "results.json"
            if not file.is_file():
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise Skipped(f"cufault run ended with {done.returncode}: {last}")
            count = len(json.loads(file.read_text(encoding="utf-8"))["runs"])
        if count == 0:
            raise Skipped(f"{scenarios} has no run for {subject}")
        results.runs.append(
            {
                "scenarios": str(scenarios.relative_to(SOURCE)),
                "subject": subject,
                "runs": count,
                "seconds": took,
                "per_second": count / took,
            }
        )


def compared(taken: dict[str, list[float]], other: str, **what: str) -> list[dict[str, Any]]:
    """Medians of `other` against those of `direct`, by function and number of threads."""
    lines = []
    for name, times in taken.items():
        way, function, threads = name.split("/")
        if way != other:
            continue
        direct, through = statistics.median(taken[f"direct/{function}/{threads}"]), statistics.median(times)
        lines.append(
            {
                **what,
                "function": function,
                "threads": int(threads),
                "direct_ns": direct,
                "ns": through,
                "added_ns": through - direct,
                "ratio": through / direct,
                "least_ns": min(times),
                "most_ns": max(times),
                "repetitions": len(times),
            }
        )
    return sorted(lines, key=lambda line: (line["function"], line["threads"]))


def trace_size(folder: Path) -> dict[str, Any]:
    """Bytes that the trace took for each record in it. Raises Skipped where records were lost."""
    records = reserved = lost = 0
    for path in folder.glob("trace.*"):
        content = path.read_bytes()
        reserved += len(content)
        lost += struct.unpack_from("<Q", content, LOST_AT)[0]
        states = content[TRACE_HEADER::TRACE_RECORD]
        records += len(states) - states.count(0)
    if lost != 0 or records == 0:
        raise Skipped(f"the trace has {records} records and lost {lost}")
    return {"records": records, "bytes_per_call": TRACE_RECORD, "reserved_bytes_per_call": reserved / records}


def find_cupti() -> Path | None:
    """libcupti.so of the toolkit, of a wheel, or of the loader's folders."""
    roots = [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))]
    roots += [Path(entry) / "nvidia" for entry in sys.path if entry]
    for root in roots:
        for folder in ("extras/CUPTI/lib64", "lib64", "lib", "*/lib"):
            for path in sorted(root.glob(f"{folder}/libcupti.so*")):
                if path.is_file():
                    return path.resolve()
    return None


def clean_environment() -> dict[str, str]:
    """Without what another launch of ours, or a test runner, may have set."""
    dropped = ("LD_PRELOAD", "LD_LIBRARY_PATH", "CUFAULT_PLAN", "CUFAULT_LIBC_PLAN", "MALLOC_PERTURB_")
    return {name: value for name, value in os.environ.items() if name not in dropped}


def machine() -> dict[str, Any]:
    """What the numbers hold for."""
    model = next(
        (line.split(":", 1)[1].strip() for line in read_lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    driver = next((line for line in read_lines("/proc/driver/nvidia/version") if line.startswith("NVRM")), None)
    commit = command_output("git", "-C", str(SOURCE), "rev-parse", "HEAD")
    return {
        "processor": model or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
        "compiler": command_output("c++", "--version").partition("\n")[0],
        "gpu": command_output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader") or None,
        "driver": driver,
        "commit": commit or None,
        "changed": bool(command_output("git", "-C", str(SOURCE), "status", "--porcelain")) if commit else None,
    }


def read_lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def command_output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def run_all(bench: Bench, drivers: tuple[str, ...], measured: bool) -> Results:
    """Everything that can be measured; the rest goes to `skipped`."""
    results = Results(machine(), measured)

    def attempt(what: str, measure: Any, *arguments: Any) -> None:
        print(f"bench: {what}", file=sys.stderr)
        try:
            measure(*arguments)
        except Skipped as reason:
            results.skipped.append({"what": what, "reason": str(reason)})

    for driver in drivers:
        for mode in MODES:
            attempt(f"calls, {driver}, {mode}", bench.calls, driver, mode, results)
    attempt("calls, real, empty CUPTI callback", bench.profiler, results)
    attempt("load time", bench.load, results)
    attempt("allocations", bench.allocations, results)
    for driver in drivers:
        if driver != "stand_in":
            attempt(f"handles, {driver}", bench.handles, driver, results)
    for subject in ("reference", "cuda.core"):
        attempt(f"judged runs, {subject}", bench.judged_runs, results, SOURCE / "scenarios" / "stream", subject)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=SOURCE / "build" / "plain", help="the build folder")
    parser.add_argument("--out", type=Path, required=True, help="bench.json and bench.md are written here")
    parser.add_argument("--driver", action="append", choices=DRIVERS, help="only this driver (may be repeated)")
    parser.add_argument("--threads", type=int, help="up to so many threads; default: all cores, 16 at most")
    parser.add_argument("--once", action="store_true", help="one iteration of everything: measures nothing")
    options = parser.parse_args()
    most = options.threads or min(16, len(os.sched_getaffinity(0)))
    threads = tuple(count for count in (1, 2, 4, 8, 16, 32, 64, 128) if count <= most)
    effort = Effort(1, 1, 1, 1, 1, threads[:2]) if options.once else Effort(threads=threads)
    results = run_all(Bench(options.build.resolve(), effort), tuple(options.driver or DRIVERS), not options.once)
    options.out.mkdir(parents=True, exist_ok=True)
    content = asdict(results)
    (options.out / "bench.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (options.out / "bench.md").write_text(as_markdown(content), encoding="utf-8")
    print(f"bench: {options.out / 'bench.md'}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
