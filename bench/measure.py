"""Runs programs one after the other and tells what each cost.

Reads JSON lines {"argv": [...]} on stdin and answers each with
{"exit", "wall", "cpu", "rss", "stdout", "stderr"}: seconds from before the start of the program to
its end, seconds of user and system time, bytes of its largest resident set.

The kernel counts what a child held before it became the program, which is this process: it is small
and imports nothing it can do without, so that it never hides the program's own figure.
"""
import json
import os
import sys
import time

# ru_maxrss is in KiB, but in bytes on macOS.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def run(argv):
    outputs = [anonymous_file(), anonymous_file()]
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_DUP2, output, number) for number, output in enumerate(outputs, 1)]
    began = time.perf_counter()
    process = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - began
    stdout, stderr = (text_of(output) for output in outputs)
    return {
        "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status),
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "rss": usage.ru_maxrss * RSS_UNIT,
        "stdout": stdout,
        "stderr": stderr,
    }


def anonymous_file():
    path = f"{os.environ.get('TMPDIR', '/tmp')}/dreamdb-bench-{os.getpid()}"
    output = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return output


def text_of(output):
    size = os.lseek(output, 0, os.SEEK_END)
    text = os.pread(output, size, 0).decode("utf-8", "replace")
    os.close(output)
    return text


for line in sys.stdin:
    print(json.dumps(run(**json.loads(line))), flush=True)
