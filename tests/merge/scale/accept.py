"""Uses a merge as the published reference's own: reads, searches, grows it and merges on top.

    accept.py STORE KIND OURS REFERENCE     prints a JSON list of differences; [] is a pass

OURS and REFERENCE are refs of a store of fixtures/trees/scale.py with the same branches merged. Both
are asked the same, then grow by the same records and a branch of the same records. KIND is spatial or
fragment.
"""
import json
import pathlib
import random
import sys

import dreamdb

FIELD = {"spatial": "emb", "fragment": "packed"}
DIMENSIONS = 16
LATE = 1_900_000_000_000_000_000


def vector(number):
    chance = random.Random(number)
    return [chance.gauss(0, 1) for _ in range(DIMENSIONS)]


def row(kind, number):
    value = vector(number) if kind == "spatial" else b"late %d" % number
    return {"_anchor": LATE + number, FIELD[kind]: value}


def answers(dataset, kind):
    anchors = dataset.list_anchors()
    found = {"count": dataset.count(), "anchors": len(anchors), "distinct": len(set(anchors)), "sum": sum(anchors) % 2**61}
    if kind == "spatial":
        found["vectors"] = [
            sorted(int(hit) for batch in dataset.iter_vector("emb", vector(number), 5, nprobe=16, fields=["emb"])
                   for hit in batch["_time_anchors"])
            for number in range(6)
        ]
    first = anchors[len(anchors) // 2]
    last = anchors[min(len(anchors) - 1, len(anchors) // 2 + 50)]
    found["reads"] = [
        [(int(anchor), bytes(value).hex() if isinstance(value, (bytes, bytearray)) else list(map(float, value)))
         for anchor, value in zip(batch["_time_anchors"], batch[FIELD[kind]])]
        for batch in dataset.iter_all_batches(batch_size=100, fields=[FIELD[kind]], start_ns=first, end_ns=last)
    ]
    return found


def steps(store, kind, ref):
    """The answers after the merge, after an append and after another merge by the reference."""
    backend = pathlib.Path(store).resolve().as_uri()
    name = f"used-{ref}"
    dataset = dreamdb.Dataset.open(ref, backend=backend).branch(name)
    yield "merged", answers(dataset, kind)
    dataset.append_many([row(kind, number) for number in range(300)])
    for one in ("left", "right"):
        first = 1000 if one == "left" else 2000
        dataset.branch(f"{name}-{one}").append_many([row(kind, first + number) for number in range(100)])
    dataset.merge_many([f"{name}-left", f"{name}-right"])
    dataset = dreamdb.Dataset.open(name, backend=backend)
    yield "grown and merged", answers(dataset, kind)


def main(store, kind, ours, reference):
    problems = []
    for (step, found), (_, expected) in zip(steps(store, kind, ours), steps(store, kind, reference)):
        for question in expected:
            if found[question] != expected[question]:
                problems.append(f"{step}: {question}: {str(found[question])[:200]} for {str(expected[question])[:200]}")
        if found["anchors"] != found["count"] or found["distinct"] != found["count"]:
            problems.append(f"{step}: {found['count']} records, {found['anchors']} anchors")
    print(json.dumps(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
