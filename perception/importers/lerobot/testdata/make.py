"""Makes the dataset v30 and the file episode.parquet beside this file.

The files are written as LeRobot 0.4 writes them (lerobot_dataset.py): features
through the datasets library, tables through pyarrow.parquet.ParquetWriter with
snappy and dictionaries, one row group an episode, tasks through pandas with the
task as the index. The paths are LeRobot's own; given the folder of an unpacked
wheel, they are compared with the constants in its datasets/utils.py:

    pip download --no-deps lerobot==0.4.4 && unzip -d wheel lerobot-*.whl
    pip install datasets pandas pillow pyarrow numpy
    python make.py [wheel]
"""

import ast
import json
import shutil
import sys
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

HERE = Path(__file__).parent
CHUNK_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
PATHS = {
    "INFO_PATH": "meta/info.json",
    "DEFAULT_TASKS_PATH": "meta/tasks.parquet",
    "DEFAULT_EPISODES_PATH": "meta/episodes/" + CHUNK_FILE + ".parquet",
    "DEFAULT_DATA_PATH": "data/" + CHUNK_FILE + ".parquet",
    "DEFAULT_VIDEO_PATH": "videos/{video_key}/" + CHUNK_FILE + ".mp4",
}
FPS = 10
LENGTHS = [25, 12, 31]
TASKS = ["Pick up the glass.", "Place the glass on the shelf."]
JOINTS = [f"{j}.pos" for j in ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]]
WRIST, TOP = "observation.images.wrist", "observation.images.top"

FEATURES = {
    "observation.state": {"dtype": "float32", "shape": [6], "names": JOINTS},
    "observation.effort": {"dtype": "float64", "shape": [2], "names": {"motors": ["elbow", "gripper"]}},
    "action": {"dtype": "float32", "shape": [6], "names": JOINTS},
    WRIST: {"dtype": "image", "shape": [12, 16, 3], "names": ["height", "width", "channels"]},
    TOP: {"dtype": "video", "shape": [12, 16, 3], "names": ["height", "width", "channels"]},
    "next.reward": {"dtype": "float32", "shape": [1], "names": None},
    "next.done": {"dtype": "bool", "shape": [1], "names": None},
    "next.success": {"dtype": "bool", "shape": [1], "names": None},
    "timestamp": {"dtype": "float32", "shape": [1], "names": None},
    "frame_index": {"dtype": "int64", "shape": [1], "names": None},
    "episode_index": {"dtype": "int64", "shape": [1], "names": None},
    "index": {"dtype": "int64", "shape": [1], "names": None},
    "task_index": {"dtype": "int64", "shape": [1], "names": None},
}


def check(wheel):
    """Compares PATHS with the constants of an unpacked wheel."""
    names = {}
    for node in ast.parse((Path(wheel) / "lerobot/datasets/utils.py").read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                names[node.targets[0].id] = eval(compile(ast.Expression(node.value), "", "eval"), {}, names)
            except Exception:
                pass  # not a constant
    for key, want in PATHS.items():
        assert names[key] == want, (key, names[key], want)


def hf_features():
    """As get_hf_features_from_features of LeRobot."""
    out = {}
    for key, f in FEATURES.items():
        if f["dtype"] == "image":
            out[key] = datasets.Image()
        elif f["dtype"] != "video":
            value = datasets.Value(f["dtype"])
            out[key] = value if f["shape"] == [1] else datasets.Sequence(length=f["shape"][0], feature=value)
    return datasets.Features(out)


def picture(episode, frame):
    y, x = np.mgrid[0:12, 0:16]
    rgb = np.stack([x * 16, y * 20, np.full_like(x, (episode * 60 + frame * 4) % 256)], -1)
    return Image.fromarray(rgb.astype(np.uint8))


def episode_table(episode, first):
    n = LENGTHS[episode]
    t = np.arange(n) / FPS
    state = np.stack([np.sin(t + j) * (episode + 1) for j in range(6)], 1).astype(np.float32)
    success = episode != 1
    rows = {
        "observation.state": list(state),
        "observation.effort": list(np.stack([t, -t], 1)),
        "action": list(state + np.float32(0.125)),
        WRIST: [picture(episode, i) for i in range(n)],
        "next.reward": (np.arange(n) / (n - 1)).astype(np.float32),
        "next.done": np.arange(n) == n - 1,
        "next.success": (np.arange(n) == n - 1) & success,
        "timestamp": t.astype(np.float32),
        "frame_index": np.arange(n),
        "episode_index": np.full(n, episode),
        "index": np.arange(first, first + n),
        "task_index": np.full(n, episode % 2),
    }
    dataset = datasets.Dataset.from_dict(rows, features=hf_features())
    return dataset.with_format("arrow").map(datasets.table.embed_table_storage, batched=False).with_format("arrow")[:]


def write(root, name, content):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, (bytes, str)):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return
    with pq.ParquetWriter(path, schema=content[0].schema, compression="snappy", use_dictionary=True) as writer:
        for table in content:
            writer.write_table(table)


def info(version, data, video):
    return json.dumps({
        "codebase_version": version, "robot_type": "so101_follower", "total_episodes": len(LENGTHS),
        "total_frames": sum(LENGTHS), "total_tasks": len(TASKS), "chunks_size": 1000, "fps": FPS,
        "splits": {"train": f"0:{len(LENGTHS)}"}, "data_path": data, "video_path": video, "features": FEATURES,
    }, indent=4)


# A film is stored as it is, never decoded: the box that names the format will do.
MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2" + b"\x00\x00\x00\x08free"


def main():
    if len(sys.argv) > 1:
        check(sys.argv[1])
    firsts = np.concatenate([[0], np.cumsum(LENGTHS)])
    tables = [episode_table(e, firsts[e]) for e in range(len(LENGTHS))]
    tasks = [TASKS[e % 2] for e in range(len(LENGTHS))]

    root = HERE / "v30"
    shutil.rmtree(root, ignore_errors=True)
    write(root, PATHS["INFO_PATH"], info("v3.0", PATHS["DEFAULT_DATA_PATH"], PATHS["DEFAULT_VIDEO_PATH"]))
    pd.DataFrame({"task_index": range(len(TASKS))}, index=TASKS).to_parquet(root / PATHS["DEFAULT_TASKS_PATH"])
    # Two episodes in the first file, one in the second.
    write(root, PATHS["DEFAULT_DATA_PATH"].format(chunk_index=0, file_index=0), tables[:2])
    write(root, PATHS["DEFAULT_DATA_PATH"].format(chunk_index=0, file_index=1), tables[2:])
    starts = np.concatenate([[0.0], np.cumsum(LENGTHS) / FPS])
    rows = [{
        "episode_index": e, "tasks": [tasks[e]], "length": LENGTHS[e],
        "data/chunk_index": 0, "data/file_index": e // 2,
        "dataset_from_index": int(firsts[e]), "dataset_to_index": int(firsts[e + 1]),
        f"videos/{TOP}/chunk_index": 0, f"videos/{TOP}/file_index": 0,
        f"videos/{TOP}/from_timestamp": float(starts[e]), f"videos/{TOP}/to_timestamp": float(starts[e + 1]),
        "stats/action/min": [-2.0] * 6, "stats/action/count": [LENGTHS[e]],
        "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0,
    } for e in range(len(LENGTHS))]
    write(root, PATHS["DEFAULT_EPISODES_PATH"].format(chunk_index=0, file_index=0), [pa.Table.from_pylist(rows)])
    write(root, PATHS["DEFAULT_VIDEO_PATH"].format(video_key=TOP, chunk_index=0, file_index=0), MP4)
    write(HERE, "episode.parquet", tables[1:2])


main()
