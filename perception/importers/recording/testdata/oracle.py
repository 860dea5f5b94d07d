"""Writes oracle.json: what the official readers count in the recordings beside the repository.

    pip install mcap==1.6.0 && python3 oracle.py FOLDER...

MCAP files are read by the package mcap, without the index; databases by Python's sqlite3.
"""

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path

from mcap.stream_reader import StreamReader
from mcap.records import Channel, Message

counts = {}
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).iterdir()):
        topics, channels = Counter(), {}
        if path.suffix == ".mcap":
            with open(path, "rb") as file:
                for record in StreamReader(file, validate_crcs=True).records:
                    if isinstance(record, Channel):
                        channels[record.id] = record.topic
                    elif isinstance(record, Message):
                        topics[channels[record.channel_id]] += 1
        elif path.suffix == ".db3":
            db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
            topics.update(name for (name,) in db.execute("SELECT name FROM messages JOIN topics ON topics.id = topic_id"))
        else:
            continue
        counts[f"{path.parent.name}/{path.name}"] = dict(sorted(topics.items()))
(Path(__file__).parent / "oracle.json").write_text(json.dumps(counts, indent="\t", sort_keys=True) + "\n")
