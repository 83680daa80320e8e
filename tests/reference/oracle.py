#!/usr/bin/env python3
"""What the published reference (PyPI `dreamdb`) reads in a store, as JSON: the judge of the tests.

    oracle.py COMMAND ARGUMENT...   one command, its result as JSON on stdout
    oracle.py serve                 JSON lines {"id", "command", "arguments"} on stdin,
                                    {"id", "result"} or {"id", "error"} on stdout

An argument that is not text (a value, rows, a dump) is JSON on the command line and itself in `serve`.
BACKEND is a URL the reference opens. Only the commands of the last group write.

    refs     BACKEND REF                 names of all refs of the store that REF is in
    history  BACKEND REF                 [{"writer", "parents"}] along first parents, newest first
    summary  BACKEND REF                 {"count", "anchors"}: also with the oldest releases
    dump     BACKEND REF                 {"count", "anchors", "records": {anchor: {field: value}}, "doubled": [anchor]}
    union    BACKEND REF REF...          the dump a right union of these refs has
    check    BACKEND REF DUMP            problems found when REF is held against the dump; [] is a pass
    distinct BACKEND REF FIELD           [[value, count]]
    query    BACKEND REF FIELD OP VALUE  anchors
    vectors  BACKEND REF FIELD           up to 50 records sought by their own vectors over all cells:
                                         {"searched", "missing": [anchor], "repeated": [anchor], "foreign": [anchor]}
    constant BACKEND REF NAME            the value of a constant

    append   BACKEND REF ROWS            rows as {field: value, "_anchor": text}, blobs as {"hex": text}. Number of rows
    delete   BACKEND REF ANCHORS
    compact  BACKEND REF
    branch   BACKEND REF NAME
    merge    BACKEND REF REF...          the reference's own merge of the later refs into the first

Anchors are decimal text and integers beyond 2^53 are "int:<decimal>", because they do not survive in a
JSON number of every language. Bytes are "sha256:<hex>", vectors are lists of float32. `union` knows
nothing of deletions.
"""
import collections
import hashlib
import json
import sys

import dreamdb

ALL_CELLS = 1 << 20
MOST_SEARCHES = 50
MOST_QUERIES = 200
LARGEST_EXACT = 1 << 53


def open_dataset(backend, ref):
    return dreamdb.Dataset.open(ref, backend=backend)


def plain(value):
    if isinstance(value, (bytes, bytearray)):
        return "sha256:" + hashlib.sha256(bytes(value)).hexdigest()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return f"int:{value}"
    return value


def original(value):
    """The value that `plain` was given, for those that can be asked for or written."""
    if isinstance(value, str) and value.startswith("int:"):
        return int(value[4:])
    if isinstance(value, dict) and set(value) == {"hex"}:
        return bytes.fromhex(value["hex"])
    return value


def texts(anchors):
    return [str(anchor) for anchor in sorted(anchors)]


def sample(items, most):
    return items[:: max(1, -(-len(items) // most))]


def refs(backend, ref):
    return sorted(open_dataset(backend, ref).list_refs())


def history(backend, ref):
    return [
        {"writer": entry.get("writer"), "parents": entry.get("parents_count")}
        for entry in open_dataset(backend, ref).history(1000)
    ]


def summary(backend, ref):
    dataset = open_dataset(backend, ref)
    return {"count": dataset.count(), "anchors": texts(dataset.list_anchors())}


def dump(backend, ref):
    dataset = open_dataset(backend, ref)
    records, doubled = {}, []
    for batch in dataset.iter_all_batches(batch_size=4096):
        anchors = batch.pop("_time_anchors")
        for row, anchor in enumerate(anchors):
            if str(anchor) in records:
                doubled.append(str(anchor))
            record = records.setdefault(str(anchor), {})
            for field, column in batch.items():
                if column is not None and row < len(column) and column[row] is not None:
                    record[field] = plain(column[row])
    return {
        "count": dataset.count(),
        "anchors": texts(dataset.list_anchors()),
        "records": records,
        "doubled": doubled,
    }


def union(backend, *names):
    anchors, records = set(), {}
    for name in names:
        part = dump(backend, name)
        anchors.update(part["anchors"])
        for anchor, record in part["records"].items():
            if records.setdefault(anchor, record) != record:
                raise ValueError(f"the refs disagree about anchor {anchor}: such a union must be refused")
    return {"count": len(anchors), "anchors": sorted(anchors, key=int), "records": records, "doubled": []}


def columns(records):
    """The values of each field: {field: {anchor: value}}."""
    found = {}
    for anchor, record in records.items():
        for field, value in record.items():
            found.setdefault(field, {})[anchor] = value
    return found


def is_scalar(value):
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and not value.startswith("sha256:"))


def is_vector(value):
    return isinstance(value, list) and bool(value) and all(isinstance(number, float) for number in value)


def check(backend, ref, want):
    problems = []
    have = dump(backend, ref)
    lost, extra = set(want["records"]) - set(have["records"]), set(have["records"]) - set(want["records"])
    problems += [f"record {anchor} is lost" for anchor in sorted(lost, key=int)[:5]]
    problems += [f"record {anchor} is not wanted" for anchor in sorted(extra, key=int)[:5]]
    for part in ("count", "anchors", "doubled"):
        if have[part] != want[part]:
            problems.append(f"{part}: found {str(have[part])[:300]}, expected {str(want[part])[:300]}")
    for anchor in sorted(set(want["records"]) & set(have["records"]), key=int):
        if have["records"][anchor] != want["records"][anchor]:
            problems.append(f"record {anchor}: found {have['records'][anchor]}, expected {want['records'][anchor]}")
    return (problems + check_indexes(backend, ref, have["records"]))[:20]


def check_indexes(backend, ref, records):
    """The index reads against the records: equality queries of scalar values, searches by vectors."""
    problems = []
    for field, column in sorted(columns(records).items()):
        values = list(column.values())
        if all(is_vector(value) for value in values):
            found = vectors(backend, ref, field)
            problems += [f"{field}: {kind} in vector search: {found[kind][:5]}"
                         for kind in ("missing", "repeated", "foreign") if found[kind]]
        elif all(is_scalar(value) for value in values):
            problems += check_scalar(open_dataset(backend, ref), field, column)
    return problems


def check_scalar(dataset, field, column):
    problems, by_value = [], {}
    for anchor, value in column.items():
        by_value.setdefault(value, []).append(int(anchor))
    for value, anchors in sample(list(by_value.items()), MOST_QUERIES):
        answer = dataset.query_scalar(field, "==", original(value))
        if answer != sorted(anchors):
            problems.append(f"{field} == {value!r}: found {answer[:20]}, expected {sorted(anchors)[:20]}")
    return problems


def distinct(backend, ref, field):
    return sorted([list(pair) for pair in open_dataset(backend, ref).distinct_values(field)], key=str)


def query(backend, ref, field, op, value):
    return texts(open_dataset(backend, ref).query_scalar(field, op, original(value)))


def vectors(backend, ref, field):
    dataset = open_dataset(backend, ref)
    own = columns(dump(backend, ref)["records"]).get(field, {})
    searched = sample(list(own), MOST_SEARCHES)
    missing, repeated, foreign = set(), set(), set()
    for anchor in searched:
        hits = collections.Counter(
            str(hit)
            for batch in search(dataset, field, own[anchor], 2 * len(own) + 20)
            for hit in batch["_time_anchors"]
        )
        if anchor not in hits:
            missing.add(anchor)
        repeated.update(hit for hit, times in hits.items() if times > 1)
        foreign.update(set(hits) - set(own))
    return {
        "searched": len(searched),
        "missing": sorted(missing, key=int),
        "repeated": sorted(repeated, key=int),
        "foreign": sorted(foreign, key=int),
    }


def search(dataset, field, vector, top_k):
    try:
        return dataset.iter_vector(field, vector, top_k, batch_size=4096, nprobe=ALL_CELLS, fields=[field])
    except TypeError:  # older releases read all fields with each hit
        return dataset.iter_vector(field, vector, top_k, batch_size=4096, nprobe=ALL_CELLS)


def constant(backend, ref, name):
    return plain(open_dataset(backend, ref).get_constant(name))


def append(backend, ref, rows):
    rows = [{field: original(value) for field, value in row.items()} for row in rows]
    for row in rows:
        row["_anchor"] = int(row["_anchor"])
    return open_dataset(backend, ref).append_many(rows)


def delete(backend, ref, anchors):
    return open_dataset(backend, ref).delete([int(anchor) for anchor in anchors])


def compact(backend, ref):
    return open_dataset(backend, ref).compact()


def branch(backend, ref, name):
    open_dataset(backend, ref).branch(name)
    return name


def merge(backend, ref, *names):
    return open_dataset(backend, ref).merge_many(list(names))


COMMANDS = {
    function.__name__: function
    for function in (
        refs, history, summary, dump, union, check, distinct, query, vectors, constant,
        append, delete, compact, branch, merge,
    )
}


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": COMMANDS[request["command"]](*request["arguments"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"id": request["id"], **answer}, sort_keys=True), flush=True)


def from_text(position, text):
    """Backend and names are text as they stand; what follows them may be JSON."""
    if position < 2:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def main(command, *words):
    if command == "serve":
        return serve()
    if command not in COMMANDS or len(words) < 2:
        sys.exit(__doc__)
    arguments = [from_text(position, text) for position, text in enumerate(words)]
    json.dump(COMMANDS[command](*arguments), sys.stdout, sort_keys=True)
    print()


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["help"]))
