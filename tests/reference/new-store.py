"""Makes a store with the ref "trunk", one field "label" and one record:  new-store.py FOLDER"""
import pathlib
import sys

import dreamdb

schema = dreamdb.Schema().add_scalar_categorical("label")
backend = pathlib.Path(sys.argv[1]).resolve().as_uri()
dreamdb.Dataset.create("trunk", schema, backend=backend).append_many([{"label": "first", "_anchor": 1}])
