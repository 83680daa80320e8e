"""Makes an empty store and a source for eight workers:  make-source.py STORE SOURCE ROWS"""
import json
import pathlib
import random
import sys

import dreamdb

START = 1_800_000_000_000_000_000


def main(store, source, rows):
    pathlib.Path(store).mkdir(parents=True)
    schema = (
        dreamdb.Schema()
        .add_embedding("embedding", dim=8, lsh_bits=6)
        .add_scalar_categorical("animal")
        .add_scalar_int("brightness")
    )
    dreamdb.Dataset.create("trunk", schema, backend=pathlib.Path(store).resolve().as_uri())
    chance = random.Random(8)
    with open(source, "w", encoding="utf-8") as file:
        for number in range(int(rows)):
            row = {
                "_anchor": START + number * 1_000_000_007,
                "embedding": [chance.gauss(0, 1) for _ in range(8)],
                "animal": chance.choice(["fox", "cat", "owl"]),
                "brightness": chance.randrange(100),
            }
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
