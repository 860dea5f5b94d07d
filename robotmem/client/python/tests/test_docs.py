"""The examples of the README and of the docstrings run."""

import inspect
import os
import pathlib
import re
import tempfile
import textwrap
import time
import unittest

import robotmem_node
from robotmem_node import Memory, compat, ros

try:
    import gymnasium
    import matplotlib.figure
    import numpy
    import pandas
    import PIL.Image
    from robotmem_node import gym
except ImportError:
    if os.environ.get("CI"):
        raise
    numpy = None


class Running:
    """True a few times."""

    def __init__(self):
        self.left = 3

    def __bool__(self):
        self.left -= 1
        return self.left >= 0


def blocks(text):
    """Code blocks: fenced ones of Markdown, indented ones of a docstring."""
    fenced = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    indented = [textwrap.dedent(b) for b in re.findall(r"(?:^|\n\n)((?: {4,}.*\n?|\n(?= {4}))+)", text)]
    return fenced or [b for b in indented if re.search(r"^\s*(with|async with|from|\w+(\.\w+)* = )", b, re.M) and "..." not in b]


@unittest.skipUnless(numpy, "needs: pip install numpy pillow pandas gymnasium")
class Examples(unittest.TestCase):
    def execute(self, where, text):
        found = blocks(text)
        with tempfile.TemporaryDirectory() as d:
            before = os.getcwd()
            os.chdir(d)
            old = robotmem_node._memory.Memory.__init__.__kwdefaults__
            old["options"], kept = ("--embedder", "none"), old["options"]
            pathlib.Path("run.mcap").write_bytes(b"\x89MCAP0\r\nnot a whole one")
            (pathlib.Path(d) / "home").mkdir()
            figure = matplotlib.figure.Figure()
            figure.subplots().plot([1, 3, 2])
            try:
                with Memory("examples.db") as m, m.episode(place=[0, 0, 0]) as ep:
                    names = {
                        "m": m, "memory": m, "ep": ep, "array": numpy.random.default_rng(1).normal(size=(100, 3)), "pil_image": PIL.Image.new("RGB", (8, 8)), "figure": figure,
                        "dataframe": pandas.DataFrame({"t": [0.0, 0.1], "fz": [1.0, 2.0]}), "Path": pathlib.Path, "time": time, "running": Running(),
                        "fx": 1, "fy": 2, "fz": 3, "goal": [1, 2], "Memory": Memory, "Advisor": robotmem_node.Advisor, "gymnasium": gymnasium, "MemoryWrapper": gym.MemoryWrapper,
                    }
                    for block in found:
                        names.update(running=Running(), m=m, ep=ep)
                        with self.subTest(where + ": " + block.strip().splitlines()[0]):
                            if "async with" in block:
                                block = "import asyncio\nfrom robotmem_node import AsyncMemory\nasync def main():\n" + textwrap.indent(block, "    ") + "\nasyncio.run(main())"
                            if "import_memory" in block:
                                block = re.sub(r".*import_memory.*\n", "", block)  # needs a file of the other project
                            exec(compile(block, where, "exec"), names)
            finally:
                if compat._memory is not None:
                    compat._memory.close()
                    compat._memory = None
                old["options"] = kept
                os.chdir(before)
        return len(found)

    def test_readme(self):
        self.assertGreaterEqual(self.execute("README.md", pathlib.Path(__file__).parents[1].joinpath("README.md").read_text()), 5)

    def test_docstrings(self):
        ran = 0
        for what in (robotmem_node, robotmem_node.Memory, robotmem_node.AsyncMemory, robotmem_node.Recorder, robotmem_node.Advisor, compat, ros):
            n = self.execute(getattr(what, "__name__", ""), inspect.getdoc(what) + "\n")
            ran += n
        self.assertGreaterEqual(ran, 5)


if __name__ == "__main__":
    unittest.main()
