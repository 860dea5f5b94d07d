"""Writes the reference clouds beside this file with other people's code:
pip install numpy==2.4.6 pypcd4==1.5.1; python make.py

Point i of 40 is at (i/8, -i/4, (i%5)/2), of colour (i, 2i, 255-i) and of
intensity i/2; point 7 has no position.
"""
import pathlib
import numpy as np
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
for e in (Encoding.ASCII, Encoding.BINARY):
    pcd.save(here / f"{e.value}.pcd", encoding=e)
