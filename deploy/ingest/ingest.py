"""Ingests one slice of a source into a branch of its own, with the published DreamDB package.

    ingest.py --backend URL --ref-source REF --branch NAME --slice INDEX/COUNT --source FILE

The source has one JSON object a line: a record with its "_anchor" in nanoseconds. Line number L belongs
to the slice L mod COUNT, so that slices neither overlap nor miss a line.

It may be run again after it was killed anywhere: what the branch already has is left out. Two runs at
the same time are safe too: the one that loses the race for the branch starts over. Exit status 2 means
that trying again is of no use.
"""
import argparse
import json
import os
import sys

import dreamdb

BATCH = 1000
TRIES = 5


def open_branch(backend, source, branch):
    try:
        return dreamdb.Dataset.open(branch, backend=backend)
    except Exception:
        trunk = dreamdb.Dataset.open(source, backend=backend)
        if branch not in trunk.list_refs():
            try:
                trunk.branch(branch)
            except Exception:
                # Another run of this slice was faster, or the next line fails for the same reason.
                pass
        return dreamdb.Dataset.open(branch, backend=backend)


def slice_of(path, index, count):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % count == index and line.strip():
                yield json.loads(line)


def ingest(options, index, count):
    dataset = open_branch(options.backend, options.ref_source, options.branch)
    present = set(dataset.list_anchors())
    missing = [row for row in slice_of(options.source, index, count) if row["_anchor"] not in present]
    for start in range(0, len(missing), BATCH):
        dataset.append_many(missing[start : start + BATCH])
    return len(missing)


def main():
    parser = argparse.ArgumentParser()
    for name in ("backend", "ref-source", "branch", "slice", "source"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    index, count = (int(part) for part in options.slice.split("/"))
    if not 0 <= index < count:
        parser.error(f"--slice={options.slice}: the index must be below the count")
    if not os.path.exists(options.source):
        parser.error(f"--source={options.source}: there is no such file")
    for attempt in range(1, TRIES + 1):
        try:
            added = ingest(options, index, count)
            print(f"{options.branch}: {added} records added")
            return
        except RuntimeError as error:
            if "publish conflict" not in str(error) or attempt == TRIES:
                raise


if __name__ == "__main__":
    sys.exit(main())
