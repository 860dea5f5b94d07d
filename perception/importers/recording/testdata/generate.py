"""Writes small recordings with other programs' writers.

    pip install mcap==1.6.0 rosbags==0.11.9 && python3 generate.py

Each MCAP holds the same 60 JSON messages on two topics, their log times shuffled
over chunks of 512 bytes, a metadata record and an attachment. bag is a rosbag2
folder of sqlite3 with a picture and a scan, as rosbags writes it.
"""
import random
import shutil
from pathlib import Path

import numpy as np
from mcap.writer import CompressionType, IndexType, Writer
from rosbags.rosbag2 import StoragePlugin, Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

here = Path(__file__).parent


def mcap(name, **options):
    w = Writer(str(here / name), chunk_size=512, **options)
    w.start(profile="", library="mcap python")
    schema = w.register_schema("thing", "jsonschema", b'{"type":"object"}')
    channels = [w.register_channel(t, "json", schema, {"made": "up"}) for t in ("/a", "/b")]
    times = list(range(60))
    random.Random(3).shuffle(times)
    for i, t in enumerate(times):
        w.add_message(channels[t % 2], 1_000_000_000 + t, b'{"n": %d}' % t, 1_000_000_000 + t, sequence=i)
    w.add_metadata("weather", {"sky": "grey"})
    w.add_attachment(1, 1, "notes.txt", "text/plain", b"wet floor")
    w.finish()


mcap("zstd.mcap", compression=CompressionType.ZSTD)
mcap("lz4.mcap", compression=CompressionType.LZ4)
mcap("plain.mcap", compression=CompressionType.NONE)
mcap("no-index.mcap", compression=CompressionType.ZSTD, index_types=IndexType.NONE, use_statistics=False, use_summary_offsets=False, repeat_channels=False, repeat_schemas=False)
mcap("no-chunks.mcap", use_chunking=False)

store = get_typestore(Stores.ROS2_HUMBLE)
T = store.types
shutil.rmtree(here / "bag", ignore_errors=True)
with BagWriter(here / "bag", version=8, storage_plugin=StoragePlugin.SQLITE3) as w:
    def header(t):
        return T["std_msgs/msg/Header"](stamp=T["builtin_interfaces/msg/Time"](sec=t // 10**9, nanosec=t % 10**9), frame_id="camera")

    def add(topic, kind, messages):
        c = w.add_connection(topic, kind, typestore=store)
        for t, m in messages:
            w.write(c, t, store.serialize_cdr(m, kind))

    start = 1_700_000_000 * 10**9
    step = 100_000_000
    # Four frames: grey 10, 10, 200, 200.
    add("/image", "sensor_msgs/msg/Image", [(start + i * step, T["sensor_msgs/msg/Image"](header=header(start + i * step - 5_000_000), height=4, width=6, encoding="mono8", is_bigendian=0, step=6, data=np.full(24, v, np.uint8))) for i, v in enumerate((10, 10, 200, 200))])
    fields = [T["sensor_msgs/msg/PointField"](name=n, offset=4 * i, datatype=7, count=1) for i, n in enumerate("xyz")]
    add("/points", "sensor_msgs/msg/PointCloud2", [(start, T["sensor_msgs/msg/PointCloud2"](header=header(start), height=1, width=2, fields=fields, is_bigendian=False, point_step=12, row_step=24, data=np.arange(6, dtype="<f4").view(np.uint8), is_dense=True))])
    Scan = T["sensor_msgs/msg/LaserScan"]
    add("/scan", "sensor_msgs/msg/LaserScan", [(start + i * step, Scan(header=header(100 * 10**9), angle_min=0.0, angle_max=1.0, angle_increment=0.1, time_increment=0.0, scan_time=0.1, range_min=0.1, range_max=10.0, ranges=np.array([1 + d, 2 + d, np.inf], np.float32), intensities=np.array([], np.float32))) for i, d in enumerate((0, 0.01, 0.5))])
