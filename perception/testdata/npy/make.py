"""Writes the .npy files of this folder, with NumPy 2: python3 make.py"""
import numpy as np
from numpy.lib import format

rows = np.array([[1, 2], [3, 4], [0, 1]])
for name in "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split():
    np.save(f"{name}.npy", rows.astype(name))
np.save("big_endian.npy", rows.astype(">f2"))
np.save("fortran.npy", np.asfortranarray(rows.astype("<f4")))
np.save("cube.npy", rows.astype("<f4").reshape(1, 3, 2))
np.save("objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
for version in (2, 3):
    with open(f"version{version}.npy", "wb") as file:
        format.write_array(file, rows.astype("<f4"), version=(version, 0))
# float16 at its edges: subnormal, smallest normal, largest, infinite, not a number.
np.save("float16_edges.npy", np.array([2**-24, -2**-24, 2**-14, 65504, -np.inf, np.nan, -0.1], dtype="<f2"))
