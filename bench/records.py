"""What a store holds, as the published reference reads it, in one short line for comparing.

Reads JSON lines {"backend", "ref"} on stdin and answers each with
{"records", "doubled", "digest", "problems"}. The digest is over all anchors with all values of all
fields; `problems` names ways in which the reference's answers contradict each other.
"""
import collections
import hashlib
import json
import sys

import dreamdb


def describe(backend, ref):
    dataset = dreamdb.Dataset.open(ref, backend=backend)
    records, doubled = {}, 0
    values = collections.defaultdict(collections.Counter)
    for batch in dataset.iter_all_batches(batch_size=4096):
        anchors = batch.pop("_time_anchors")
        columns = sorted(batch.items())
        for row, anchor in enumerate(anchors):
            record = [(field, column[row]) for field, column in columns]
            doubled += anchor in records
            records[anchor] = hashlib.sha256(repr(record).encode()).digest()
            for field, value in record:
                if isinstance(value, str):
                    values[field][value] += 1
    digest = hashlib.sha256()
    for anchor in sorted(records):
        digest.update(b"%d:" % anchor + records[anchor])
    return {
        "records": len(records),
        "doubled": doubled,
        "digest": digest.hexdigest(),
        "problems": [*contradictions(dataset, records, values)],
    }


def contradictions(dataset, records, values):
    if dataset.count() != len(records):
        yield f"count() is {dataset.count()}, but {len(records)} records can be read"
    if sorted(dataset.list_anchors()) != sorted(records):
        yield "list_anchors() and the records disagree"
    for field, expected in values.items():
        if dict(dataset.distinct_values(field)) != expected:
            yield f"distinct_values({field!r}) and the records disagree"


for line in sys.stdin:
    print(json.dumps(describe(**json.loads(line))), flush=True)
