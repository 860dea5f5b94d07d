"""Values of NumPy, Pillow, pandas and PyTorch, in and out."""

import datetime
import os
import pathlib
import pickle
import tempfile
import unittest

from robotmem_node import Memory, Number, RobotmemError
from robotmem_node._operations import RecallResponse, StoredMemory
from robotmem_node._values import encode, loaded, npy, payload

try:
    import numpy
    import pandas
    import PIL.Image
except ImportError:
    if os.environ.get("CI"):
        raise
    numpy = None


class Tensor:
    """What the package uses of a tensor of PyTorch, which is a gigabyte."""

    def __init__(self, array):
        self.array, self.dtype = array, "torch.float32"

    def detach(self):
        return self

    cpu = detach

    def tolist(self):
        raise AssertionError("has the digits of a double")

    def numpy(self):
        return self.array


Tensor.__module__ = "torch"


class Json(unittest.TestCase):
    def test_paths_in_errors(self):
        for value, words in (
            ({"params": {"force": float("nan")}}, "params.force: nan is no number"),
            ({"q": [1, [2, float("inf")]]}, "q[1][1]: inf is no number"),
            ({"a": {1, 2}}, "a: set has no JSON form"),
            ({"a": "\ud800"}, "unpaired surrogate"),
            ({"a": {1: 2, "1": 3}}, "a: two keys are the same"),
            ({"a": {True: 2}}, "a: a key is text, not True"),
            ({"a": b"x"}, "a: bytes have no JSON form"),
        ):
            with self.assertRaises(ValueError) as failed:
                encode(value)
            self.assertIn(words, str(failed.exception))

    def test_numbers(self):
        self.assertEqual(pickle.loads(pickle.dumps(Number("12.50"))).text, "12.50")
        self.assertEqual(encode({"a": Number("12.50"), "b": 1e300, "t": datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc)}), '{"a":12.50,"b":1e+300,"t":"2026-03-01T00:00:00+00:00"}')

    def test_answers(self):
        got = RecallResponse({"memories": [{"memory_id": 7, "content": "x"}], "query_ms": 1, "new": 2})
        m = got.memories[0]
        self.assertIsInstance(m, StoredMemory)
        self.assertEqual((m.content, m["content"], m.distance, m.tags, m.context, got.new, "total" in got, got.get("total", 9)), ("x", "x", None, [], {}, 2, False, 9))
        self.assertIs(got.memories, got.memories)
        self.assertEqual(pickle.loads(pickle.dumps(got)), got)
        self.assertEqual(encode(got), '{"memories":[{"memory_id":7,"content":"x"}],"query_ms":1,"new":2}')
        with self.assertRaises(AttributeError) as unknown:
            m.contents
        self.assertIn("content", str(unknown.exception))


@unittest.skipUnless(numpy, "needs: pip install numpy pillow pandas")
class Arrays(unittest.TestCase):
    def test_json(self):
        f4 = numpy.float32
        self.assertEqual(encode({"f": f4(0.1), "q": numpy.array([[0.1, 2]], f4), "i": numpy.int64(2**62), "b": numpy.bool_(True), "d": numpy.arange(3)}),
                         '{"f":0.1,"q":[[0.1,2.0]],"i":4611686018427387904,"b":true,"d":[0,1,2]}')
        self.assertEqual(encode(Tensor(numpy.array([0.1], f4))), "[0.1]")
        for bad, words in ((numpy.array([{}]), "array of objects"), (numpy.array([1.0, numpy.nan]), "[1]: nan is no number"), (f4("inf"), "inf is no number")):
            with self.assertRaises(ValueError) as failed:
                encode({"x": bad})
            self.assertIn(words, str(failed.exception))

    def test_times(self):
        self.assertEqual(encode({"a": pandas.Timestamp("2026-03-01", tz="UTC"), "b": numpy.datetime64("2026-03-01T00:00:01", "ns")}), '{"a":"2026-03-01T00:00:00+00:00","b":"2026-03-01T00:00:01+00:00"}')
        self.assertIn("2026-03-0", encode(pandas.Timestamp("2026-03-01 12:00")))
        with self.assertRaises(ValueError) as failed:
            encode({"t": pandas.NaT})
        self.assertIn("t: NaT", str(failed.exception))

    def test_images_and_tables_keep_what_they_have(self):
        depth = numpy.array([[0.5, 5000.25]], numpy.float32)
        self.assertEqual(loaded(payload(PIL.Image.fromarray(depth)).data, "", {}).tolist(), depth.tolist())
        self.assertEqual(loaded(payload(PIL.Image.fromarray(numpy.array([[70000]], numpy.int32))).data, "", {}).tolist(), [[70000]])
        frame = pandas.DataFrame({"fz": [1, 2]}, index=[0.0, 0.001])
        self.assertEqual(loaded(payload(frame).data, "text/csv", {}).iloc[:, 0].tolist(), [0.0, 0.001])
        self.assertEqual(len(loaded(payload(pandas.DataFrame()).data, "text/csv", {})), 0)
        masked = numpy.ma.masked_array([1.0, 2.0], [False, True])
        self.assertEqual(str(loaded(npy(masked), "", {})), "[ 1. nan]")
        with self.assertRaises(ValueError):
            npy(numpy.ma.masked_array([1, 2], [False, True]))

    def test_payloads(self):
        for array in (numpy.arange(6).reshape(2, 3), numpy.zeros((0, 3)), numpy.float32(1.5), numpy.arange(6.0).reshape(2, 3).T, numpy.array([True])):
            back = loaded(npy(numpy.asarray(array)), "application/x-npy", {})
            self.assertEqual((back.dtype, back.shape, back.tolist()), (numpy.asarray(array).dtype, numpy.asarray(array).shape, numpy.asarray(array).tolist()))
        for bad in (numpy.array([{}]), numpy.zeros(2, [("a", "f4")])):
            with self.assertRaises(ValueError):
                npy(bad)
        self.assertIsNone(payload("text"))
        self.assertTrue(payload(PIL.Image.new("CMYK", (2, 2))).data.startswith(b"\x89PNG"))

    def test_over_a_node(self):
        with tempfile.TemporaryDirectory() as d, Memory(os.path.join(d, "m.db"), options=["--embedder", "none"]) as m:
            trace = numpy.random.default_rng(1).normal(size=(50, 3))
            saved = m.save(trace, "force at the finger", rate=100, channels=["fx", "fy", "fz"])
            self.assertEqual((saved.perception_type, m.load(saved.memory_id).tolist()), ("proprioceptive", trace.tolist()))
            self.assertIn("50 samples over 500 ms", saved.summary)
            like = m.recall(like={"data": trace + 0.01, "metadata": {"rate_hz": 100}})
            self.assertEqual([x.memory_id for x in like.memories], [saved.memory_id])
            image = PIL.Image.effect_noise((32, 24), 90).convert("RGB")
            saved = m.save(image, "the glass from above")
            self.assertEqual((saved.perception_type, saved.media_type, m.load(saved.memory_id).tobytes()), ("visual", "image/png", image.tobytes()))
            frame = pandas.DataFrame({"t": [0.0, 0.1, 0.30000000000000004], "fz": [1.5, 2.25, 1e-17]})
            saved = m.save(frame, "a table of forces")
            self.assertEqual((saved.media_type, m.load(saved.memory_id).equals(frame)), ("text/csv", True))
            clocked = frame.set_index(pandas.date_range("2026-03-01", periods=3, freq="s"))
            self.assertIn(b"2026-03-01", m.read_data(m.save(clocked, "a table with times").memory_id))
            self.assertEqual(m.load(m.save(Tensor(numpy.ones((2, 2))), "a tensor of ones").memory_id).tolist(), [[1, 1], [1, 1]])
            file = pathlib.Path(d, "trace.csv")
            file.write_text("t,fz\n0,1\n1,2\n")
            self.assertEqual(m.load(m.save(file, "from a file").memory_id).shape, (2, 2))
            with file.open("rb") as stream:
                self.assertEqual(m.save(stream, "from a stream").bytes, 13)
            self.assertEqual(m.load(m.save("plain words", "a note on paper", media_type="text/plain").memory_id), "plain words")
            before = m.stats().total
            with file.open() as text, self.assertRaises(RobotmemError) as refused:
                m.save(text, "a file that is open as text")
            self.assertIn("binary mode", str(refused.exception))
            with self.assertRaises(RobotmemError) as refused:
                m.save(str(file), "the name of a file")
            self.assertIn("pathlib.Path", str(refused.exception))
            with self.assertRaises(RobotmemError) as refused:
                m.get(None)
            self.assertEqual(refused.exception.detail, "is required")
            for field, call in {
                "data": lambda: m.save(numpy.array([{}]), "objects"), "context": lambda: m.learn("x", context={"f": numpy.float64("nan")}),
            }.items():
                with self.assertRaises(RobotmemError) as refused:
                    call()
                self.assertEqual((refused.exception.kind, refused.exception.field), ("invalid", field))
            self.assertEqual(m.stats().total, before)


if __name__ == "__main__":
    unittest.main()
