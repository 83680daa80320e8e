"""Makes the stores that the bench merges, with the published reference.

    make.py FOLDER STORE...

A store is made below FOLDER unless it is there; a half-made one never gets its name. Prints a JSON
line {"store", "folder", "seconds"} for each.

Every store has the ref "trunk" and 64 branches "w0" to "w63", forked from it and with one append
each: 100 records in 80 of trunk's cells (with vectors of trunk, so that the cells meet). Trunk is
several appends of the same random vectors, so a cell has one index entry for each append. In the
stores c… the vectors come in clusters of 80, and a branch has the cells of one cluster, as when each
worker ingests a topic of its own; else a branch has any 80 cells. The seed is fixed: all Tracks come
out the same each time, Manifests do not, because they hold the time of day.

Anchors are nanoseconds as a clock of today gives them: trunk's records are 40 ms apart, and each
branch has a day of its own.
"""
import json
import math
import pathlib
import random
import shutil
import sys
import time

import dreamdb

# Part of the folders' names: a change that gives other stores takes the next number.
RECIPE = 1

BRANCHES = 64
BRANCH_RECORDS = 100
BRANCH_CELLS = 80
DIMENSIONS = 8
LSH_BITS = 24
# With so many bits nearly every vector has a cell of its own.
FINE_LSH_BITS = 64
# How far the vectors of a cluster are apart.
CLUSTER_WIDTH = 0.06
IMAGE_BYTES = 64

FIRST_ANCHOR = 1_800_000_000_000_000_000
RECORD_STEP = 40_000_000
BRANCH_STEP = 86_400_000_000_000

# name: (vectors, appends, kind). Kinds: "plain" embeddings; "mixed" with images and scalars beside
# them; "fine" and "clustered" embeddings with a cell each, so that vectors times appends are entries.
# With coarse cells vectors share cells, so there are fewer entries than records. The 16k stores are as
# large as they can be with an inline index on every branch (1 MiB); those from 50k on have paged ones.
STORES = {
    "e1k": (1_000, 1, "plain"),
    "e16k": (3_700, 4, "plain"),
    "e50k": (12_500, 4, "plain"),
    "e60k": (15_000, 4, "fine"),
    "c60k": (21_000, 4, "clustered"),
    "e100k": (25_000, 4, "plain"),
    "e200k": (50_000, 4, "plain"),
    "m1k": (1_000, 1, "mixed"),
    "m16k": (3_700, 4, "mixed"),
}


def make(folder, vectors, appends, kind):
    chance = random.Random(1)
    directions = clusters(chance, vectors) if kind == "clustered" else [direction(chance) for _ in range(vectors)]
    rows = mixed_row if kind == "mixed" else embedding_row
    trunk = dreamdb.Dataset.create("trunk", schema(kind), backend=folder.as_uri())
    anchor = FIRST_ANCHOR
    for _ in range(appends):
        trunk.append_many([rows(anchor + i * RECORD_STEP, vector) for i, vector in enumerate(directions)])
        anchor += vectors * RECORD_STEP
    for number in range(BRANCHES):
        touched = cluster(number) if kind == "clustered" else chance.sample(range(vectors), BRANCH_CELLS)
        touched += chance.choices(touched, k=BRANCH_RECORDS - BRANCH_CELLS)
        anchor = FIRST_ANCHOR + (number + 1) * BRANCH_STEP
        trunk.branch(f"w{number}").append_many(
            [rows(anchor + i * RECORD_STEP, directions[vector]) for i, vector in enumerate(touched)]
        )


def clusters(chance, vectors):
    """Vectors in clusters of as many as a branch has cells."""
    made = []
    while len(made) < vectors:
        middle = direction(chance)
        for _ in range(min(BRANCH_CELLS, vectors - len(made))):
            made.append([number + chance.gauss(0, CLUSTER_WIDTH) for number in middle])
    return made


def cluster(number):
    return list(range(number * BRANCH_CELLS, (number + 1) * BRANCH_CELLS))


def schema(kind):
    bits = FINE_LSH_BITS if kind in ("fine", "clustered") else LSH_BITS
    fields = dreamdb.Schema().add_embedding("emb", dim=DIMENSIONS, lsh_bits=bits)
    if kind == "mixed":
        fields.add_image("image")
        fields.add_scalar_categorical("cat")
        fields.add_scalar_string("text")
    return fields


def direction(chance):
    numbers = [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def embedding_row(anchor, vector):
    return {"_anchor": anchor, "emb": vector}


def mixed_row(anchor, vector):
    number = anchor // RECORD_STEP
    image = str(anchor).encode().ljust(IMAGE_BYTES, b"\0")
    return {"_anchor": anchor, "emb": vector, "image": image, "cat": f"c{number % 50:02}", "text": f"t{number % 1000:04}"}


def main(root, *names):
    for name in names:
        folder = pathlib.Path(root).resolve() / f"{name}-{RECIPE}"
        began = time.monotonic()
        if not folder.exists():
            partial = folder.with_name(f"{folder.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            make(partial, *STORES[name])
            partial.rename(folder)
        seconds = round(time.monotonic() - began, 1)
        print(json.dumps({"store": name, "folder": str(folder), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
