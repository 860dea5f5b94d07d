"""Writes the reference clouds beside this file with other people's code:
pip install numpy==2.4.6 pypcd4==1.5.1 plyfile==1.1.5; python make.py

Point i of 40 is at (i/8, -i/4, (i%5)/2), of colour (i, 2i, 255-i) and of
intensity i/2; point 7 has no position.
"""
import pathlib
import numpy as np
from plyfile import PlyData, PlyElement
from pypcd4 import PointCloud, Encoding

here = pathlib.Path(__file__).parent
i = np.arange(40)
x, y, z = i / 8, -i / 4, i % 5 / 2
x[7] = np.nan

rgb = PointCloud.encode_rgb(np.stack([i, 2 * i, 255 - i], axis=1).astype(np.uint8))
pcd = PointCloud.from_points(
    [x.astype(np.float32), y.astype(np.float32), z.astype(np.float32), rgb, (i / 2).astype(np.float64), i.astype(np.uint16)],
    ["x", "y", "z", "rgb", "intensity", "ring"],
    [np.float32, np.float32, np.float32, np.float32, np.float64, np.uint16])
for e in (Encoding.ASCII, Encoding.BINARY, Encoding.BINARY_COMPRESSED):
    pcd.save(here / f"{e.value}.pcd", encoding=e)

vertex = np.array(list(zip(i, x, y, z, i, 2 * i, 255 - i, i / 2)), dtype=[
    ("id", "i4"), ("x", "f8"), ("y", "f4"), ("z", "f4"), ("red", "u1"), ("green", "u1"), ("blue", "u1"), ("intensity", "f4")])
tagged = np.empty(40, dtype=vertex.dtype.descr[:1] + [("tags", "O")] + vertex.dtype.descr[1:])
for name in vertex.dtype.names:
    tagged[name] = vertex[name]
for n in range(40):
    tagged["tags"][n] = np.arange(n % 3, dtype=np.int16)
face = np.array([([0, 1, 2],), ([2, 3, 4, 5],)], dtype=[("vertex_indices", "O")])
for text, order, name in ((True, "=", "ascii"), (False, "<", "binary_little_endian"), (False, ">", "binary_big_endian")):
    PlyData([PlyElement.describe(face, "face"), PlyElement.describe(vertex, "vertex")], text=text, byte_order=order).write(here / f"{name}.ply")
    if order != ">":  # plyfile 1.1.5 does not swap the numbers beside a list
        PlyData([PlyElement.describe(tagged, "vertex", val_types={"tags": "i2"})], text=text, byte_order=order).write(here / f"{name}_lists.ply")
