"""The recorder: what is pushed is stored in order, dropped samples are counted, and push never waits."""

import contextlib
import datetime
import os
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

from robotmem_node import Memory, RobotmemError


class Recording(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.m = Memory(os.path.join(self.dir.name, "m.db"), options=["--embedder", "none"])

    def tearDown(self):
        self.m.close()
        self.dir.cleanup()

    def stored(self):
        """The values and metadata of the chunks, in the order of their time."""
        chunks = sorted(self.m.list_all(type="perception"), key=lambda p: p.memory_id)
        values = []
        for p in chunks:
            data = self.m.read_data(p.memory_id)
            values += memoryview(data).cast("d").tolist()
        return values, chunks

    def test_a_trace_in_chunks(self):
        with self.m.episode(task="hold") as ep:
            wrist = ep.recorder("wrist/wrench", 100, channels=["fx", "fy"], units=["N", "N"], kind="wrench")
            start = 1_770_000_000
            for i in range(250):
                self.assertTrue(wrist.push(start + i / 100, [i, -i]))
        values, chunks = self.stored()
        self.assertEqual(values, [float(v) for i in range(250) for v in (i, -i)])
        self.assertEqual([c.metadata["shape"] for c in chunks], [[100, 2], [100, 2], [50, 2]])
        self.assertEqual((chunks[0].observed_at.text, chunks[0].source, chunks[0].perception_type), ("2026-02-02T02:40:00Z", "wrist/wrench", "tactile"))
        self.assertEqual({c.session_id for c in chunks}, {ep.id})
        self.assertEqual((chunks[0].metadata["rate_hz"], chunks[0].metadata["units"], chunks[0].context["task"]["name"]), (100, ["N", "N"], "hold"))
        self.assertEqual(wrist.counts, (250, 250, 0))

    def test_gaps_odd_values_and_other_widths(self):
        with self.m.recorder("joint", 100) as joint:
            for t, value in ((0, 1), (0.01, 2), (0.05, float("nan")), (0.06, "x"), (0.07, [1, 2]), (0.08, [3, 4]), (0.01, [5, 6]), (float("nan"), 1), (datetime.datetime(2026, 3, 1), 7)):
                joint.push(t, value)
        values, chunks = self.stored()
        self.assertEqual(str(values), "[1.0, 2.0, nan, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]")
        self.assertEqual(chunks[0].metadata["times_s"], [0, 0.01, 0.05])
        self.assertEqual(joint.counts, (9, 7, 2))

    def test_the_clock_of_the_first_stamp_is_looked_at(self):
        now = time.time()
        for stamp, told in ((12.5, "starts at 0"), (now * 1e3, "not in seconds"), (now * 1e9, "not in seconds"), (now + 40 * 86_400, "40 days ahead")):
            with self.assertWarnsRegex(RuntimeWarning, told), contextlib.suppress(ValueError), self.m.recorder("joint", 100) as joint:
                joint.push(stamp, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for stamp in (now, now - 400 * 86_400, datetime.datetime.now(datetime.timezone.utc), float("nan")):
                with contextlib.suppress(ValueError), self.m.recorder("joint", 100) as joint:
                    joint.push(stamp, 1)
                    joint.push(5.0, 1)  # only the first is looked at

    def test_what_does_not_fit_is_dropped_and_counted(self):
        slow = self.m.recorder("slow", 10, buffer=20)
        kept = [slow.push(time.time(), i) for i in range(50)]
        self.assertLessEqual(sum(kept), 40)
        counts = slow.close()
        self.assertEqual((counts.pushed, counts.stored + counts.dropped, counts.stored), (50, 50, sum(kept)))
        self.assertFalse(slow.push(0, 1))

    def test_the_node_is_away_for_a_while(self):
        rec = self.m.recorder("wrist", 100, chunk=0.1)
        real, self.m._http.url = self.m._http.call, self.m._http.url
        failed = []

        def away(op, fields):
            if len(failed) < 3:
                failed.append(op)
                raise RobotmemError("unavailable", "", "no answer")
            return real(op, fields)

        self.m._http.call = away
        for i in range(30):
            rec.push(1_770_000_000 + i / 100, i)
        self.assertEqual((rec.close(), len(failed)), ((30, 30, 0), 3))
        self.assertEqual(self.stored()[0], [float(i) for i in range(30)])

    def test_stamps_that_are_none(self):
        wrist, buffer = self.m.recorder("wrist", 100), [0.0]
        for i, t in enumerate([time.time_ns(), 10**400, -1, "now", *(1_770_000_000 + i / 100 for i in range(50))]):
            buffer[0] = i
            wrist.push(t, buffer)
        self.assertEqual(wrist.close(), (54, 50, 4))
        self.assertEqual(self.stored()[0], [float(i) for i in range(4, 54)])
        for bad in ((time.time_ns(), 1), (1, "x")):
            alone = self.m.recorder("alone", 100)
            alone.push(*bad)
            with self.assertRaises(ValueError):
                alone.close()
            self.assertEqual(alone.close().dropped, 1)
        with self.assertRaises(TypeError):
            self.m.recorder("wrist", contxt={})

    def test_events_keep_all_stamps(self):
        with self.m.recorder("contact") as contact:
            for i in range(100):
                contact.push(1_770_000_000 + i * i, i)
        _, chunks = self.stored()
        self.assertEqual([t for c in chunks for t in c.metadata["times_s"]][:64], [float(i * i) for i in range(64)])

    def test_what_waits_at_the_end_of_python_is_sent(self):
        code = "import sys, time; from robotmem_node import Memory; r = Memory(sys.argv[1]).recorder('wrist', 100)\nfor i in range(25): r.push(1 + i / 100, i)"
        subprocess.run([sys.executable, "-c", code, self.m.url], env={**os.environ, "ROBOTMEM_TOKEN": self.m.token}, check=True)
        self.assertEqual(self.stored()[0], [float(i) for i in range(25)])

    def test_a_node_that_stays_away(self):
        rec = self.m.recorder("wrist", 100)
        rec.push(1, 1)

        def away(op, fields):
            raise RobotmemError("unavailable", "", "no answer")

        self.m._http.call, real = away, self.m._http.call
        with self.assertRaises(RobotmemError):
            rec.close(timeout=0.3)
        self.m._http.call = real
        self.assertEqual(rec.counts, (1, 0, 1))

    def test_an_episode_that_has_ended(self):
        with self.m.episode() as ep:
            pass
        rec = ep.recorder("wrist", 100)
        rec.push(1, 1)
        with self.assertRaises(RobotmemError) as refused:
            rec.close()
        self.assertEqual((refused.exception.kind, rec.counts), ("conflict", (1, 0, 1)))

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_after_a_fork(self):
        rec = self.m.recorder("wrist", 100)
        child = os.fork()
        if child == 0:
            try:
                rec.push(0, 1)
            except RuntimeError:
                os._exit(7)
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        rec.push(1, 1)
        self.assertEqual(rec.close().stored, 1)


if __name__ == "__main__":
    unittest.main()
