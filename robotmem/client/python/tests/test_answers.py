"""What a program and a notebook make of answers."""

import datetime
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from robotmem_node import Memory, Time
from robotmem_node._operations import AdviseResponse, PreviewResponse, RecallResponse, SessionsResponse, StoredMemory
from robotmem_node._values import encode

try:
    import pandas
    import polars
except ImportError:
    if os.environ.get("CI"):
        raise
    pandas = None


def memory(i, **fields):
    return {"memory_id": i, "content": "grip %d <b>N</b>" % i, "outcome": "success" if i % 2 else "failure", "observed_at": "2026-11-30T08:00:0%d.123456789Z" % i, **fields}


class Lists(unittest.TestCase):
    found = RecallResponse({"memories": [memory(1, context={"params": {"grip_force": 12.5}}), memory(2)], "total": 2, "mode": "bm25"})
    none = RecallResponse({"memories": [], "notes": ["no memory has any of the words"]})

    def test_an_answer_is_its_memories(self):
        self.assertEqual([m.memory_id for m in self.found], [1, 2])
        self.assertEqual(len(self.found), 2)
        self.assertEqual(self.found[0].content, "grip 1 <b>N</b>")
        self.assertEqual([m.memory_id for m in self.found[1:]], [2])
        self.assertIn(self.found[1], self.found)
        self.assertIn("total", self.found)
        self.assertTrue(self.found)
        self.assertFalse(self.none)
        self.assertEqual(list(self.none), [])

    def test_it_is_still_a_dictionary(self):
        self.assertEqual(dict(self.found)["total"], 2)
        self.assertEqual(self.found["mode"], "bm25")
        self.assertEqual(pickle.loads(pickle.dumps(self.found)), self.found)

    def test_parts_are_true_and_have_no_list(self):
        one = StoredMemory({})
        self.assertTrue(one)
        with self.assertRaisesRegex(TypeError, "StoredMemory has no list"):
            one[0]


class Times(unittest.TestCase):
    def test_times_are_datetimes(self):
        at = StoredMemory(memory(1)).observed_at
        self.assertEqual(at, datetime.datetime(2026, 11, 30, 8, 0, 1, 123456, datetime.timezone.utc))
        self.assertEqual(at.text, "2026-11-30T08:00:01.123456789Z")
        self.assertEqual(encode({"after": at}), '{"after":"2026-11-30T08:00:01.123456789Z"}')
        again = pickle.loads(pickle.dumps(at))
        self.assertEqual((again, again.text), (at, at.text))
        self.assertIsNone(SessionsResponse({"sessions": [{"session_id": "a"}]})[0].ended_at)

    def test_spellings(self):
        for text, micros in (("2026-11-30T08:00:00Z", 0), ("2026-11-30T09:00:00.5+01:00", 500000), ("2026-11-30T08:00:00.000001Z", 1)):
            self.assertEqual(Time.parse(text), datetime.datetime(2026, 11, 30, 8, 0, 0, micros, datetime.timezone.utc))
        with self.assertRaises(ValueError):
            Time.parse("yesterday")


class Advice(unittest.TestCase):
    def test_without_a_suggestion_it_is_false_and_says_why(self):
        answer = AdviseResponse({"attempts": 1, "parameters": [], "notes": ["1 attempt is too few"]})
        self.assertFalse(answer.suggestion)
        self.assertEqual(answer.suggestion.text, "no suggestion: 1 attempt is too few")
        self.assertEqual(answer.suggestion.parameters, {})
        self.assertTrue(AdviseResponse({"suggestion": {"text": "9 N"}}).suggestion)
        self.assertNotIn("suggestion", answer.to_dict())


@unittest.skipIf(pandas is None, "without pandas and polars")
class Frames(unittest.TestCase):
    def test_frames(self):
        for frame in (Lists.found.to_frame(), Lists.found.to_polars()):
            self.assertEqual(frame.shape[0], 2)
            self.assertEqual(list(frame["memory_id"]), [1, 2])
            self.assertEqual(frame["context.params.grip_force"][0], 12.5)
        self.assertEqual(str(Lists.found.to_frame()["observed_at"].dtype.tz), "UTC")
        self.assertEqual(Lists.none.to_frame().shape[0], 0)
        self.assertEqual(StoredMemory(memory(3)).to_frame()["memory_id"][0], 3)


class Notebooks(unittest.TestCase):
    def parsed(self, answer):
        return xml.etree.ElementTree.fromstring("<div>%s</div>" % answer._repr_html_())

    def test_tables_escape_what_is_stored(self):
        shown = Lists.found._repr_html_()
        self.assertIn("grip 1 &lt;b&gt;N&lt;/b&gt;", shown)
        self.assertNotIn("<b>N", shown)
        self.assertIn("grip_force=12.5", shown)
        self.parsed(Lists.found)
        self.assertIn("no memory has any of the words", Lists.none._repr_html_())
        self.parsed(StoredMemory(memory(1, context={"note": "<script>"})))
        self.assertNotIn("<script>", StoredMemory(memory(1, context={"note": "<script>"}))._repr_html_())

    def test_advice_is_a_plot(self):
        value = {"value": 12.5, "attempts": 4, "rate": 1, "low": 0.5, "high": 1, "memory_ids": [1]}
        answer = AdviseResponse({"attempts": 8, "suggestion": {"text": "12.5 N held 4 of 4"}, "parameters": [{"path": "params.grip_force", "unit": "N", "values": [value, {**value, "value": 9, "rate": 0, "low": 0, "high": 0.5}]}]})
        svg = self.parsed(answer).find("{http://www.w3.org/2000/svg}svg")
        texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["params.grip_force", "12.5 N", "100 % of 4", "9 N", "0 % of 4"])
        circles = [float(c.get("cx")) for c in svg.iter("{http://www.w3.org/2000/svg}circle")]
        self.assertGreater(circles[0], circles[1])

    def test_a_preview_is_its_picture(self):
        self.assertIn('src="data:image/svg+xml;base64,QQ=="', PreviewResponse({"media_type": "image/svg+xml", "data_base64": "QQ==", "summary": 'a "trace"'})._repr_html_())


class Nodes(unittest.TestCase):
    def test_real_answers(self):
        with tempfile.TemporaryDirectory() as folder, Memory(os.path.join(folder, "m.db"), options=["--embedder", "none"]) as m:
            self.assertFalse(m.recall("glass"))
            self.assertFalse(m.advise("hold the glass").suggestion)
            self.assertIn("no suggestion: ", m.advise("hold the glass").suggestion.text)
            with m.episode(task="hold the glass") as ep:
                for force in (9, 12.5, 13):
                    ep.learn(f"grip_force={force} N", context={"params": {"grip_force": force}, "task": {"success": force > 10}})
                advice = ep.advise()
                trace = ep.save(b"fx,fy\n0,1\n1,2\n2,4\n", "the force", perception_type="tactile")
            self.assertTrue(advice.suggestion)
            found = m.recall("grip_force, the force")
            self.assertEqual(len(found), 4)
            self.assertLess(abs(found[0].observed_at - datetime.datetime.now(datetime.timezone.utc)), datetime.timedelta(minutes=1))
            self.assertEqual(len(m.recall("grip force", after=found[0].observed_at - datetime.timedelta(hours=1))), 4)
            for answer in (found, found[0], advice, m.preview(trace.memory_id), m.sessions(), m.stats()):
                self.assertIn("<", answer._repr_html_())


class Types(unittest.TestCase):
    def test_the_first_example_is_typed(self):
        try:
            import mypy  # noqa: F401
        except ImportError:
            if os.environ.get("CI"):
                raise
            self.skipTest("without mypy")
        program = """
from robotmem_node import Memory

with Memory("arm7.db") as m:
    with m.episode(task="pick the wet glass", place=[0.42, 0.10, 0.05]) as ep:
        for force, held in ((9.0, False), (12.5, True)):
            ep.learn(f"grip_force={force} N", context={"params": {"grip_force": force}, "task": {"success": held}})
        print(ep.advise().suggestion.text)
        %s
    for found in m.recall("how hard to grip"):
        print(found.content.upper(), found.observed_at.year)
"""
        with tempfile.TemporaryDirectory() as folder:
            for line, code in (("pass", 0), ("ep.learn('x', sorce='a')", 1), ("ep.recall('x', n='three')", 1)):
                path = os.path.join(folder, "program.py")
                with open(path, "w", encoding="utf-8") as out:
                    out.write(program.replace("%s", line))
                done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.path.join(folder, "cache"), path], capture_output=True, text=True, check=False,
                                      env={**os.environ, "MYPYPATH": os.pathsep.join(p for p in sys.path if p.endswith("src"))})
                self.assertEqual(done.returncode, code, line + "\n" + done.stdout + done.stderr)
