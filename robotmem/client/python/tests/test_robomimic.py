"""Files of robomimic and ALOHA, made with h5py: what is stored equals what h5py reads."""

import contextlib
import datetime
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from robotmem_node import Memory, RobotmemError

try:
    import h5py
    import numpy
    import PIL.Image
except ImportError:
    if os.environ.get("CI"):
        raise
    h5py = None
from robotmem_node.robomimic import DatasetError, main, remember

ENV = {"env_name": "Lift", "env_version": "1.4.1", "type": 1, "env_kwargs": {"robots": ["Panda"], "control_freq": 20, "controller_configs": {"kp": 150}, "limit": float("nan")}}


def robomimic(path, lengths=(5, 7, 12), env=ENV, reward=lambda demo: demo != 1, image=8, masks=True, seed=0):
    """A file as dataset_states_to_obs.py of robomimic writes it."""
    rng = numpy.random.default_rng(seed)
    with h5py.File(path, "w") as f:
        data = f.create_group("data")
        data.attrs["env_args"] = json.dumps(env)
        data.attrs["total"] = sum(lengths)
        for i, steps in enumerate(lengths):
            demo = data.create_group("demo_%d" % i)
            demo.attrs["num_samples"] = steps
            demo.attrs["model_file"] = "<mujoco/>"
            demo["actions"] = rng.normal(size=(steps, 7))
            demo["states"] = rng.normal(size=(steps, 32))
            demo["rewards"] = numpy.asarray([0.0] * (steps - 1) + [float(reward(i))])
            demo["dones"] = numpy.asarray([0] * (steps - 1) + [1])
            for obs in ("obs", "next_obs"):
                demo[obs + "/robot0_eef_pos"] = rng.normal(size=(steps, 3)).astype("f4")
                demo[obs + "/agentview_image"] = rng.integers(0, 255, (steps, image, image, 3), "u1")
                demo.create_dataset(obs + "/agentview_depth", data=rng.random((steps, image, image, 1), "f4"), compression="gzip")
        if masks:
            f["mask/train"] = numpy.asarray([b"demo_0", b"demo_2"])
            f["mask/valid"] = numpy.asarray([b"demo_1"])
    return path


def jpeg(rng, size=16):
    out = io.BytesIO()
    PIL.Image.fromarray(rng.integers(0, 255, (size, size, 3), "u1")).save(out, "JPEG")
    return out.getvalue()


def aloha(path, steps=6, compress=False, sim=True, seed=0):
    """A file as record_episodes.py of ALOHA and ACT writes it; returns the JPEGs by camera."""
    rng, cameras, images = numpy.random.default_rng(seed), ("cam_high", "cam_low"), {}
    with h5py.File(path, "w") as f:
        f.attrs["sim"], f.attrs["compress"] = sim, compress
        f["action"] = rng.normal(size=(steps, 14))
        for name in ("qpos", "qvel", "effort"):
            f["observations/" + name] = rng.normal(size=(steps, 14))
        for camera in cameras:
            if compress:
                images[camera] = [jpeg(rng) for _ in range(steps)]
                longest = max(map(len, images[camera])) + 9
                f["observations/images/" + camera] = numpy.asarray([numpy.frombuffer(j.ljust(longest, b"\0"), "u1") for j in images[camera]])
            else:
                f["observations/images/" + camera] = rng.integers(0, 255, (steps, 12, 16, 3), "u1")
        if compress:
            f["compress_len"] = numpy.asarray([[float(len(j)) for j in images[c]] for c in cameras])
    return images


class WithMemory(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.m = Memory(self.dir / "m.db", options=["--embedder", "none"])

    def tearDown(self):
        self.m.close()
        shutil.rmtree(self.dir)

    def episodes(self, **fields):
        return {s.context["env"]["episode"]: s for s in self.m.sessions_all(**fields)}

    def memories(self, session):
        return list(self.m.session_memories_all(session.session_id))

    def streams(self, session):
        """The traces by the path of their dataset, the images by it and their step."""
        out = {}
        for p in self.memories(session):
            if p.type == "perception":
                at = p.metadata.get("step")
                out[p.metadata["dataset"] if at is None else (p.metadata["dataset"], at)] = p
        return out


@unittest.skipUnless(h5py, "pip install h5py numpy pillow")
class Robomimic(WithMemory):
    def test_numbers_images_and_outcomes(self):
        path, shown = robomimic(self.dir / "low_dim.hdf5"), []
        report = remember(self.m, path, collection="lift", progress=lambda done, total, r: shown.append((done, total, r.episodes)))
        self.assertEqual((report.episodes, report.known, report.steps, report.broken), (3, 0, 24, []))
        self.assertEqual(report.outcomes, {"success": 2, "failure": 1})
        self.assertEqual(report.left_out, {"datasets: next_obs repeats obs": 9})
        self.assertEqual(shown, [(1, 3, 1), (2, 3, 2), (3, 3, 3)])
        found = self.episodes(collection="lift")
        self.assertEqual([found["demo_%d" % i].outcome_score for i in range(3)], [1, 0, 1])
        with h5py.File(path) as f:
            perceptions = 0
            for i in range(3):
                demo, streams = f["data/demo_%d" % i], self.streams(found["demo_%d" % i])
                perceptions += len(streams)
                steps = len(demo["actions"])
                for name in ("actions", "states", "rewards", "dones", "obs/robot0_eef_pos"):
                    p, want = streams["data/demo_%d/%s" % (i, name)], demo[name][()]
                    got = self.m.load(p.memory_id)
                    self.assertEqual(got.dtype, want.dtype)
                    self.assertTrue(numpy.array_equal(got.reshape(want.shape), want), name)
                    self.assertEqual((p.metadata["rate_hz"], p.metadata["shape"][0], len(p.metadata["channels"])), (20, steps, want.size // steps))
                    numbers = self.m.samples(p.memory_id)
                    self.assertEqual(numbers.channels[0].name, p.metadata["channels"][0])
                begin = streams["data/demo_%d/actions" % i].observed_at
                for at in range(steps):
                    image = streams["data/demo_%d/obs/agentview_image" % i, at]
                    self.assertTrue(numpy.array_equal(self.m.load(image.memory_id), demo["obs/agentview_image"][at]))
                    self.assertEqual((image.media_type, image.observed_at - begin), ("image/png", datetime.timedelta(seconds=at / 20)))
                    depth = streams["data/demo_%d/obs/agentview_depth" % i, at]
                    self.assertTrue(numpy.array_equal(self.m.load(depth.memory_id), demo["obs/agentview_depth"][at, :, :, 0]))
                self.assertEqual(len(streams), 5 + 2 * steps)
            self.assertEqual(report.perceptions, perceptions)

    def test_context_fact_and_filters(self):
        path = robomimic(self.dir / "low_dim.hdf5")
        remember(self.m, path)
        failed = self.episodes()["demo_1"]
        self.assertEqual(failed.context["env"], {"name": "Lift", "version": "1.4.1", "sim_or_real": "sim", "dataset": "low_dim.hdf5", "episode": "demo_1", "episode_index": 1, "fps": 20, "filters": {"valid": True}})
        self.assertEqual((failed.context["task"], failed.context["robot"]), ({"name": "Lift"}, {"id": "Panda"}))
        self.assertEqual(failed.context["params"], {"robots": ["Panda"], "control_freq": 20, "controller_configs": {"kp": 150}, "limit": "NaN"})
        facts = self.m.recall("which lift failed", context_filter={"task.success": False}).memories
        self.assertEqual([f.content for f in facts], ["demo_1 of low_dim.hdf5, Lift: 7 steps in 0.35 s, failed (last reward 0)"])
        self.assertEqual({k: facts[0].context["task"][k] for k in ("steps", "duration_s", "return")}, {"steps": 7, "duration_s": 0.35, "return": 0})
        self.assertEqual(self.m.recall(type="perception", n=100, context_filter={"env.episode": "demo_2"}).matching, 29)
        self.assertEqual(self.m.recall(type="fact", where="env.filters.train=true").matching, 2)

    def test_a_filter_key(self):
        path = robomimic(self.dir / "low_dim.hdf5")
        self.assertEqual(remember(self.m, path, filter="valid").episodes, 1)
        self.assertEqual(set(self.episodes()), {"demo_1"})
        with self.assertRaisesRegex(DatasetError, "low_dim.hdf5: mask: has no key test; it has train, valid"):
            remember(self.m, path, filter="test")
        with h5py.File(path, "a") as f:
            f["mask/gone"] = numpy.asarray([b"demo_9", b"demo_0"])
        report = remember(self.m, path, filter="gone")
        self.assertEqual((report.episodes, len(report.broken)), (1, 1))
        self.assertIn("data/demo_9: is in a filter key", report.broken[0])

    def test_twice_moved_and_with_other_streams(self):
        path = robomimic(self.dir / "a.hdf5")
        remember(self.m, path, filter="train")
        (self.dir / "elsewhere").mkdir()
        moved = shutil.move(path, self.dir / "elsewhere" / "b.hdf5")
        report = remember(self.m, moved)
        self.assertEqual((report.episodes, report.known), (1, 2))
        before = self.m.stats().total
        self.assertEqual(remember(self.m, moved).known, 3)
        self.assertEqual(self.m.stats().total, before)
        other = robomimic(self.dir / "elsewhere" / "a.hdf5", seed=1)  # the same names, other numbers
        self.assertEqual(remember(self.m, other).episodes, 3)

    def test_an_import_that_breaks_off_is_completed(self):
        path, calls = robomimic(self.dir / "a.hdf5", lengths=(6,)), []
        real = self.m._http.call

        def away(op, fields):
            calls.append(op)
            if op == "save_perception" and calls.count(op) > 7:
                raise RobotmemError("unavailable", "", "no answer")
            return real(op, fields)

        self.m._http.call = away
        with self.assertRaises(RobotmemError):
            remember(self.m, path)
        self.m._http.call = real
        self.assertEqual(self.episodes()["demo_0"].status, "active")
        report = remember(self.m, path)
        session = self.episodes()["demo_0"]
        self.assertEqual((report.episodes, session.status, len(self.streams(session)), len(self.memories(session))), (1, "ended", 5 + 12, 18))
        times = sorted(p.observed_at for key, p in self.streams(session).items() if "agentview_image" in str(key))
        self.assertEqual(times[-1] - times[0], datetime.timedelta(seconds=0.25))

    def test_outcomes(self):
        shaped = {**ENV, "env_kwargs": {**ENV["env_kwargs"], "reward_shaping": True}}
        for seed, (name, options, success, want) in enumerate((
            ("no reward in the file", {"reward": lambda _: 0}, None, {"unknown": 3}),
            ("shaped rewards", {"env": shaped}, None, {"unknown": 3}),
            ("the caller", {"env": shaped}, True, {"success": 3}),
            ("a function", {}, lambda demo: None if demo.name == "demo_0" else demo.steps > 10, {"unknown": 1, "failure": 1, "success": 1}),
        )):
            with self.subTest(name):
                path = robomimic(self.dir / "a.hdf5", seed=seed, **options)
                self.assertEqual(remember(self.m, path, success=success).outcomes, want)
        for ends, want in (((1, 1), {"unknown": 2}), ((1, 0), {"success": 1, "failure": 1})):
            path = robomimic(self.dir / "a.hdf5", lengths=(3, 4), seed=10 + sum(ends))
            with h5py.File(path, "a") as f:
                for i, end in enumerate(ends):
                    del f["data/demo_%d/rewards" % i]
                    f["data/demo_%d/dones" % i][-1] = end
            self.assertEqual(remember(self.m, path).outcomes, want)
        with h5py.File(path, "a") as f:
            f["data/demo_0/actions"][0] = 0
            f["data/demo_0"].attrs["success"] = False
        self.assertEqual(remember(self.m, path).outcomes, {"failure": 1})

    def test_the_time_and_the_rate(self):
        without = {**ENV, "env_kwargs": {}}
        path = robomimic(self.dir / "a.hdf5", env=without)
        with self.assertRaisesRegex(DatasetError, "a.hdf5: data: env_args has no control_freq; give fps"):
            remember(self.m, path)
        start = datetime.datetime(2026, 3, 1, 10, tzinfo=datetime.timezone.utc)
        remember(self.m, path, fps=10, task="lift the cube", robot="arm-7", name="lift", started=start)
        found = self.episodes()
        self.assertEqual([found["demo_%d" % i].created_at - start for i in range(3)], [datetime.timedelta(seconds=s) for s in (0, 0.5, 1.2)])
        self.assertEqual(found["demo_2"].ended_at - found["demo_2"].created_at, datetime.timedelta(seconds=1.1))
        self.assertEqual((found["demo_0"].context["task"]["name"], found["demo_0"].context["robot"]["id"], found["demo_0"].context["env"]["dataset"]), ("lift the cube", "arm-7", "lift"))

    def test_fewer_images_and_next_obs(self):
        path = robomimic(self.dir / "a.hdf5", lengths=(45,))
        report = remember(self.m, path, image_rate=1, next_obs=True)
        streams = self.streams(self.episodes()["demo_0"])
        self.assertEqual(sorted(key[1] for key in streams if key[0] == "data/demo_0/next_obs/agentview_image"), [0, 20, 40, 44])
        self.assertEqual(report.left_out, {"images: beyond image_rate": 4 * 41})
        self.assertIn("data/demo_0/next_obs/robot0_eef_pos", streams)

    def test_datasets_of_relatives(self):
        """LIBERO and MimicGen write more datasets, and say the task in words."""
        path = robomimic(self.dir / "a.hdf5", lengths=(5,))
        with h5py.File(path, "a") as f:
            f["data"].attrs["problem_info"] = json.dumps({"language_instruction": "put the bowl on the plate"})
            f["data/demo_0/datagen_info/eef_pose"] = numpy.arange(80.0).reshape(5, 1, 4, 4)
            f["data/demo_0/datagen_info/cloud"] = numpy.arange(5 * 512 * 3.0).reshape(5, 512, 3)
            f["data/demo_0/datagen_info/subtasks"] = numpy.arange(2)
            f["data/demo_0/obs/nothing"] = h5py.Empty("f4")
            f["data/demo_0/obs/states_wide"] = numpy.zeros((5, 1500), "f4")
            f["mask/nested/train"] = numpy.asarray([b"demo_0"])
            f["data/demo_0/obs/gripper_open"] = numpy.asarray([True, False, True, True, False])
            f["data/demo_0/obs/count"] = numpy.arange(5, dtype="i8") + 2**60
        report = remember(self.m, path)
        session = self.episodes()["demo_0"]
        streams = self.streams(session)
        self.assertEqual(session.context["task"]["name"], "put the bowl on the plate")
        pose = streams["data/demo_0/datagen_info/eef_pose"]
        self.assertEqual((self.m.load(pose.memory_id).ravel().tolist(), pose.metadata["step_shape"]), ([float(i) for i in range(80)], [1, 4, 4]))
        self.assertEqual(self.m.load(streams["data/demo_0/datagen_info/cloud"].memory_id).shape, (5, 512, 3))
        self.assertEqual(self.m.load(streams["data/demo_0/obs/gripper_open"].memory_id).ravel().tolist(), [True, False, True, True, False])
        self.assertEqual(self.m.load(streams["data/demo_0/obs/count"].memory_id).ravel().tolist(), [2**60 + i for i in range(5)])
        self.assertEqual(streams["data/demo_0/obs/states_wide"].metadata["shape"], [5, 1500])
        self.assertIn("datasets: an empty dataset or a type is no stream", report.left_out)
        self.assertIn("datasets: has 2 steps, and the actions have 5", report.left_out)


@unittest.skipUnless(h5py, "pip install h5py numpy pillow")
class Aloha(WithMemory):
    def test_pixels(self):
        (self.dir / "sim_transfer_cube").mkdir()
        for i in (2, 10):
            aloha(self.dir / "sim_transfer_cube" / ("episode_%d.hdf5" % i), seed=i)
        report = remember(self.m, self.dir / "sim_transfer_cube", success=True)
        self.assertEqual((report.episodes, report.outcomes, report.perceptions), (2, {"success": 2}, 2 * (4 + 12)))
        found = self.episodes()
        session = found["episode_10"]
        self.assertEqual(session.context["env"], {"sim_or_real": "sim", "dataset": "sim_transfer_cube", "episode": "episode_10", "episode_index": 10, "fps": 50})
        self.assertEqual((session.context["task"]["name"], session.context["robot"]["id"]), ("sim_transfer_cube", "aloha"))
        streams = self.streams(session)
        with h5py.File(self.dir / "sim_transfer_cube" / "episode_10.hdf5") as f:
            for name in ("action", "observations/qpos", "observations/qvel", "observations/effort"):
                self.assertTrue(numpy.array_equal(self.m.load(streams[name].memory_id), f[name]))
                self.assertEqual(streams[name].metadata["channels"][7], "right_waist")
            for at in range(6):
                self.assertTrue(numpy.array_equal(self.m.load(streams["observations/images/cam_low", at].memory_id), f["observations/images/cam_low"][at]))
        self.assertEqual(remember(self.m, self.dir / "sim_transfer_cube").known, 2)

    def test_jpeg_as_it_is_in_the_file(self):
        images = aloha(self.dir / "episode_0.hdf5", compress=True, sim=False)
        report = remember(self.m, self.dir / "episode_0.hdf5", fps=25, task="open the cabinet")
        session = self.episodes()["episode_0"]
        streams = self.streams(session)
        for camera, frames in images.items():
            for at, frame in enumerate(frames):
                p = streams["observations/images/" + camera, at]
                self.assertEqual((self.m.read_data(p.memory_id), p.media_type, p.metadata["time_s"]), (frame, "image/jpeg", at / 25))
        self.assertEqual((report.outcomes, report.left_out, session.context["env"]["sim_or_real"], session.outcome_score), ({"unknown": 1}, {"datasets: the bytes of the images, which say themselves where they end": 1}, "real", None))

    def test_images_of_variable_length(self):
        path = self.dir / "episode_0.hdf5"
        images = aloha(path, compress=True)["cam_high"]
        for kind in ("vlen", "text"):
            with h5py.File(path, "a") as f:
                f["action"][0] += 1  # another demo
                del f["observations/images/cam_high"]
                if kind == "vlen":
                    column = f.create_dataset("observations/images/cam_high", (6,), dtype=h5py.vlen_dtype(numpy.uint8))
                    for i, image in enumerate(images):
                        column[i] = numpy.frombuffer(image, "u1")
                else:
                    f["observations/images/cam_high"] = numpy.asarray(images, "S")
            remember(self.m, path, collection=kind)
            streams = self.streams(self.episodes(collection=kind)["episode_0"])
            self.assertEqual([self.m.read_data(streams["observations/images/cam_high", i].memory_id) for i in range(6)], images)


@unittest.skipUnless(h5py, "pip install h5py numpy pillow")
class Damage(WithMemory):
    def test_files(self):
        whole = robomimic(self.dir / "whole.hdf5").read_bytes()
        with h5py.File(self.dir / "none.hdf5", "w") as f:
            f["pose"] = [1, 2]
        with h5py.File(self.dir / "empty.hdf5", "w") as f:
            f.create_group("data")
        (self.dir / "cut.hdf5").write_bytes(whole[: len(whole) // 2])
        (self.dir / "text.hdf5").write_text("no HDF5")
        (self.dir / "folder").mkdir()
        for name, words in (
            ("cut.hdf5", "cut.hdf5: is no HDF5 file, or was cut or damaged: .*truncated"),
            ("text.hdf5", "text.hdf5: is no HDF5 file"),
            ("none.hdf5", "none.hdf5: has neither data/demo_N, .*; it has pose"),
            ("empty.hdf5", "empty.hdf5: data: has no demo"),
            ("gone.hdf5", "gone.hdf5: there is no such file"),
            ("folder", "folder: has no file that ends in .hdf5"),
        ):
            with self.subTest(name), self.assertRaisesRegex(DatasetError, words):
                remember(self.m, self.dir / name)
        self.assertEqual((self.m.stats().total, len(list(self.m.sessions_all()))), (0, 0))

    def test_one_bad_demo_stores_nothing_and_the_others_are_stored(self):
        def nan(demo):
            demo["obs/robot0_eef_pos"][3, 1] = numpy.nan

        def other_length(demo):
            del demo["obs/robot0_eef_pos"]
            demo["obs/robot0_eef_pos"] = numpy.zeros((6, 3))

        def num_samples(demo):
            demo.attrs["num_samples"] = 9

        def no_actions(demo):
            del demo["actions"]

        def empty(demo):
            del demo["actions"]
            demo["actions"] = numpy.zeros((0, 7))

        def link(demo):
            demo["obs/gone"] = h5py.SoftLink("/nowhere")

        def circle(demo):
            demo["obs/itself"] = demo["obs"]

        def group(demo):
            del demo["actions"]
            demo.create_group("actions")

        def no_image(demo):
            demo["obs/images/cam"] = numpy.zeros((7, 100), "u1")

        for i, (change, words) in enumerate((
            (nan, "data/demo_1/obs/robot0_eef_pos: has a value that is not finite (NaN or infinite) in step 3"),
            (other_length, "data/demo_1/obs/robot0_eef_pos: has 6 steps, and the actions have 7"),
            (num_samples, "data/demo_1: num_samples is 9, and the actions have 7 steps"),
            (no_actions, "data/demo_1: has no actions"), (empty, "data/demo_1: actions are empty"),
            (link, "data/demo_1/obs/gone: is a link that leads nowhere"),
            (circle, "has groups within itself"), (group, "data/demo_1: has no actions"),
            (no_image, "data/demo_1/obs/images/cam: the image of step 0 is no whole JPEG or PNG"),
        )):
            with self.subTest(words):
                path = robomimic(self.dir / "a.hdf5", seed=i)
                with h5py.File(path, "a") as f:
                    change(f["data/demo_1"])
                report = remember(self.m, path, collection="c%d" % i)
                self.assertEqual((report.episodes, len(report.broken)), (2, 1))
                self.assertRegex(report.broken[0], r"a\.hdf5: .*" + re.escape(words))
                self.assertEqual(set(self.episodes(collection="c%d" % i)), {"demo_0", "demo_2"})

    def test_a_damaged_chunk(self):
        path = robomimic(self.dir / "a.hdf5", lengths=(7,))
        with h5py.File(path) as f:
            chunk = f["data/demo_0/obs/agentview_depth"].id.get_chunk_info(0)
        with open(path, "r+b") as f:
            f.seek(chunk.byte_offset + 10)
            f.write(b"\xff" * 40)
        report = remember(self.m, path)
        self.assertIn("a.hdf5: data/demo_0/obs/agentview_depth: is damaged", report.broken[0])
        self.assertEqual((report.episodes, self.m.stats().total, len(list(self.m.sessions_all()))), (0, 0, 0))

    def test_a_folder_with_one_bad_file(self):
        aloha(self.dir / "episode_0.hdf5")
        (self.dir / "episode_1.hdf5").write_bytes(b"")
        report = remember(self.m, self.dir)
        self.assertEqual((report.episodes, len(report.broken)), (1, 1))

    def test_without_h5py(self):
        for module in ("h5py", "PIL", "PIL.Image"):
            with self.subTest(module), unittest.mock.patch.dict(sys.modules, {module: None}), self.assertRaisesRegex(ImportError, r"pip install 'robotmem-node\[robomimic\]'"):
                remember(self.m, self.dir / "a.hdf5")


@unittest.skipUnless(h5py, "pip install h5py numpy pillow")
class Command(WithMemory):
    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*map(str, arguments), "--db", str(self.dir / "m.db")])
        return code, out.getvalue(), err.getvalue()

    def test_it(self):
        path = robomimic(self.dir / "lift.hdf5")
        code, out, err = self.run_main(path, "--collection", "lift", "--json")
        self.assertEqual((code, json.loads(out)["episodes"]), (0, 3))
        self.assertIn("3 of 3 demos, 63 perceptions", err)
        code, out, err = self.run_main(path, "-c", "lift", "-q")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("known and unchanged: 3 episodes", out)
        with h5py.File(path, "a") as f:
            f["data/demo_1/actions"][0] = numpy.nan
        code, out, _ = self.run_main(path, "-c", "lift")
        self.assertEqual(code, 1)
        self.assertIn("not stored: %s: data/demo_1/actions: has a value that is not finite" % path, out)
        code, out, err = self.run_main(self.dir / "gone.hdf5")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("gone.hdf5: there is no such file", err)
        for raised, want in ((KeyboardInterrupt(), 130), (RobotmemError("unavailable", "", "no answer"), 1), (RobotmemError("invalid", "collection", "is long"), 2)):
            with unittest.mock.patch("robotmem_node.robomimic.remember", side_effect=raised):
                code, out, err = self.run_main(path)
            self.assertEqual((code, out), (want, ""))
            self.assertIn("run it again to store the rest", err)

    def test_as_a_module(self):
        path = robomimic(self.dir / "lift.hdf5", lengths=(3,))
        done = subprocess.run(
            [sys.executable, "-m", "robotmem_node.robomimic", str(path), "--url", self.m.url, "--outcome", "failure", "--started", "2026-03-01T10:00:00Z"],
            env={**os.environ, "ROBOTMEM_TOKEN": self.m.token}, capture_output=True, encoding="utf-8", check=True,
        )
        self.assertIn("1 episode (1 failure), 11 perceptions, 3 steps", done.stdout)
        self.assertEqual(self.episodes()["demo_0"].created_at.isoformat(), "2026-03-01T10:00:00+00:00")


if __name__ == "__main__":
    unittest.main()
