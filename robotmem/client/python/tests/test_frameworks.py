"""Gymnasium, Stable-Baselines3 and LeRobot as they are on PyPI, and the Python robotmem's functions."""

import os
import shutil
import sqlite3
import tempfile
import unittest

from robotmem_node import Advisor, Memory, compat

REQUIRED = os.environ.get("ROBOTMEM_FRAMEWORKS")  # set where they must be installed


def needs(*modules):
    try:
        for module in modules:
            __import__(module)
    except ImportError as err:
        if REQUIRED:
            raise
        return unittest.skip("pip install %s (%s)" % (" ".join(modules), err))
    return lambda test: test


class WithMemory(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.m = Memory(os.path.join(self.dir, "m.db"), options=["--embedder", "none"])

    def tearDown(self):
        self.m.close()
        shutil.rmtree(self.dir)


class Advice(WithMemory):
    def test_it_chooses_what_worked_here(self):
        advisor = Advisor(self.m, "push", {"speed": (0.0, 1.0), "hand": ["left", "right"]}, explore=0.0, seed=1)
        first = advisor.choose(place=[0, 0])
        self.assertFalse(advisor.answer.suggestion)
        self.assertTrue(0 <= first["speed"] <= 1 and first["hand"] in ("left", "right"))
        for i in range(40):  # at the left a slow push works, at the right a fast one
            place, speed = [float(i % 2), 0.0], i / 40
            with self.m.episode(task="push", place=place) as ep:
                ok = abs(speed - (0.2 if i % 2 == 0 else 0.8)) < 0.15
                ep.learn("pushed", context={"params": {"speed": speed, "hand": "left"}, "task": {"success": ok}})
        slow, fast = (advisor.choose(place=[x, 0])["speed"] for x in (0, 1))
        self.assertLess(slow, 0.4)
        self.assertGreater(fast, 0.6)
        self.assertEqual({advisor.choose()["hand"]}, {"left"})
        near = Advisor(self.m, "push", {"speed": (0.0, 1.0)}, max_distance=0.4)
        self.assertEqual((near.choose(place=[0, 0]) and near.answer.attempts, near.choose(place=[9, 9]) and near.answer.attempts), (20, 0))
        always = Advisor(self.m, "push", {"speed": (0.5, 0.6)}, explore=1, seed=2)
        self.assertTrue(0.5 <= always.choose()["speed"] <= 0.6 and always.answer is None)
        narrow = Advisor(self.m, "push", {"speed": (0.5, 0.6)})
        self.assertEqual(narrow.choose(place=[1, 0])["speed"], 0.6)

    def test_choices(self):
        for value, ok in (("b", True), ("a", False), ("b", True), ("b", True), (12.5, True), (12.5, True)):
            self.m.learn("tried %s %s" % (value, ok), context={"params": {"p": value}, "task": {"name": "t", "success": ok}})
        self.assertIn(Advisor(self.m, "t", {"p": ["a", "c"]}).choose()["p"], "ac")
        for _ in range(3):
            self.m.learn("number", context={"params": {"q": 12.5}, "task": {"name": "t", "success": True}})
        self.m.learn("another number", context={"params": {"q": 10}, "task": {"name": "t", "success": False}})
        self.assertEqual(Advisor(self.m, "t", {"q": [10, 11]}).choose()["q"], 11)

    def test_ranges(self):
        for ranges in ({"a": 1}, {"a": (2, 1)}, {"a": []}, {"a": (1, 2, 3)}, {"a": ("a", "b")}, {"a": (None, 1)}):
            with self.assertRaises(ValueError):
                Advisor(self.m, "t", ranges)
        with self.assertRaises(ValueError):
            Advisor(self.m, "t", {"a": (0, 1)}, explore=2)


@needs("gymnasium", "numpy")
class Gym(WithMemory):
    def test_episodes_of_an_environment(self):
        import gymnasium
        import numpy
        from robotmem_node.gym import MemoryWrapper

        class Reach(gymnasium.Env):
            """A point that shall reach a goal; the action is its step."""

            observation_space = gymnasium.spaces.Box(-9, 9, (4,), numpy.float32)
            action_space = gymnasium.spaces.Box(-1, 1, (2,), numpy.float32)

            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                self.at, self.goal, self.steps = numpy.zeros(2, numpy.float32), numpy.float32([1, 1]), 0
                return self.obs(), {}

            def obs(self):
                return numpy.concatenate([self.at, self.goal])

            def step(self, action):
                self.at, self.steps = self.at + action, self.steps + 1
                there = bool(numpy.abs(self.at - self.goal).max() < 0.1)
                return self.obs(), -1.0, there, self.steps == 5, {"is_success": there}

        env = MemoryWrapper(Reach(), self.m, key=lambda obs: {"goal": obs[2:], "start": obs[:2]}, end_key=lambda obs: obs[:2], context={"env": {"sim_or_real": "sim"}})
        for seed, speed in ((1, 0.5), (2, 0.25), (3, 0.05)):
            obs, info = env.reset(seed=seed)
            self.assertTrue(info["briefing"])
            env.params = {"speed": speed}
            for _ in range(9):
                obs, reward, terminated, truncated, info = env.step(numpy.float32([speed, speed]))
                if terminated or truncated:
                    break
        env.reset()
        env.close()  # in the middle of an episode
        facts = sorted(self.m.list_all(type="fact"), key=lambda f: f.memory_id)
        self.assertEqual([(f.context["task"]["success"], f.context["task"]["steps"], f.params["speed"]) for f in facts], [(True, 2, 0.5), (True, 4, 0.25), (False, 5, 0.05)])
        self.assertEqual(facts[0].spatial, {"goal": [1, 1], "start": [0, 0], "reached": [1, 1]})
        self.assertEqual((facts[0].content, facts[0].context["env"], info["memory_id"]), ("Reach succeeded after 2 steps with speed=0.5, return -2", {"seed": 1, "sim_or_real": "sim"}, facts[2].memory_id))
        self.assertEqual([s.outcome_score for s in sorted(self.m.sessions_all(), key=lambda s: s.created_at)], [1, 1, 0, None])
        bad = MemoryWrapper(Reach(), self.m, key=lambda obs: obs)
        with self.assertRaises(ValueError):
            bad.reset()


@needs("stable_baselines3")
class StableBaselines(WithMemory):
    def test_a_training_run(self):
        import stable_baselines3
        from robotmem_node.sb3 import MemoryCallback

        model = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=64, device="cpu")
        callback = MemoryCallback(self.m, params={"learning_rate": 3e-4}, every=2)
        model.learn(256, callback=callback)
        facts = list(self.m.list_all(type="fact"))
        self.assertGreater(callback.episodes, 4)
        self.assertEqual((len(facts), callback.lost), ((callback.episodes + 1) // 2, 0))
        context = facts[0].context
        self.assertEqual((context["task"]["name"], context["params"]), ("CartPole-v1", {"algorithm": "PPO", "learning_rate": 3e-4}))
        self.assertGreater(context["task"]["return"], 0)
        [run] = self.m.sessions_all()
        self.assertTrue(run.ended_at)

    def test_training_goes_on_without_the_node(self):
        import stable_baselines3
        from robotmem_node.sb3 import MemoryCallback

        callback = MemoryCallback(Memory("http://127.0.0.1:1", retries=0))
        stable_baselines3.A2C("MlpPolicy", "CartPole-v1", device="cpu").learn(100, callback=callback)
        self.assertGreater(callback.lost, 0)


@needs("lerobot", "torch")
class LeRobot(WithMemory):
    def test_a_dataset_of_its_own_writer(self):
        import numpy
        from lerobot.datasets.lerobot_dataset import LeRobotDataset
        from robotmem_node.lerobot import EpisodeCallback, remember

        vector = {"dtype": "float32", "shape": (2,), "names": ["x", "y"]}
        features = {"observation.state": vector, "action": vector, "next.success": {"dtype": "bool", "shape": (1,), "names": None},
                    "observation.images.top": {"dtype": "image", "shape": (8, 8, 3), "names": ["height", "width", "channels"]}}
        dataset = LeRobotDataset.create("lab/cube", fps=10, features=features, root=os.path.join(self.dir, "dataset"), robot_type="so101", use_videos=False)
        live = EpisodeCallback(self.m, fps=10, robot="so101", collection="live")
        for episode in range(3):
            for i in range(5 + episode):
                frame = {"observation.state": numpy.float32([episode, i]), "action": numpy.float32([i, -i]), "next.success": numpy.array([episode == 1]),
                         "observation.images.top": numpy.zeros((8, 8, 3), numpy.uint8), "task": "put the cube into the box"}
                live.frame(frame)
                dataset.add_frame(frame)
            dataset.save_episode()
            live.episode_end(success=episode == 1, params={"speed": 0.5})
        if hasattr(dataset, "finalize"):
            dataset.finalize()
        read = LeRobotDataset("lab/cube", root=os.path.join(self.dir, "dataset"))
        done = []
        self.assertEqual(remember(self.m, read, episodes=[0, 1], progress=lambda n, of: done.append((n, of))), 2)
        self.assertEqual(done, [(1, 2), (2, 2)])
        self.assertEqual(remember(self.m, read), 1)  # the third
        for collection, names in (("default", ["x", "y"]), ("live", ["action_0", "action_1"])):
            facts = sorted(self.m.list_all(type="fact", collection=collection), key=lambda f: f.memory_id)
            self.assertEqual([f.context["task"] for f in facts], [{"name": "put the cube into the box", "steps": 5 + n, "duration_s": (5 + n) / 10, "success": n == 1} for n in range(3)])
            actions = [p for p in self.m.list_all(type="perception", collection=collection) if p.source == "action"]
            self.assertEqual((len(actions), actions[0].metadata["channels"]), (3, names))
            last = max(actions, key=lambda p: p.memory_id)
            self.assertEqual(self.m.load(last.memory_id).tolist(), [[float(i), -float(i)] for i in range(7)])
            self.assertEqual(sorted(s.outcome_score for s in self.m.sessions_all(collection=collection)), [0, 0, 1])
        with self.assertRaises(ValueError):
            remember(self.m, read, episodes=[7])


class Compatible(unittest.TestCase):
    def test_the_seven_functions(self):
        with tempfile.TemporaryDirectory() as d:
            memory = compat.connect(os.path.join(d, "m.db"), options=["--embedder", "none"])
            try:
                began = compat.start_session("kitchen", '{"task": {"name": "hold"}}')["session_id"]
                learnt = compat.learn("grip_force=12.5N holds the cup", '{"params": {"grip_force": 12.5}}', "kitchen", began)
                compat.learn("the cup is wet", "seen by the camera", "kitchen", began)
                sensed = compat.save_perception("Grasped red cup: force=12.5N", "procedural", '{"force_peak": 12.5}', '{"format": "json"}', "kitchen", began)
                self.assertEqual((learnt["status"], sensed["perception_type"], sensed["collection"]), ("created", "procedural", "kitchen"))
                found = compat.recall("how to hold the cup", "kitchen", 1, context_filter='{"params.grip_force": {"$gt": 12}}')
                self.assertEqual([(m["id"], m["content"], m["_rrf_score"]) for m in found["memories"]], [(learnt["memory_id"], "grip_force=12.5N holds the cup", 1)])
                self.assertEqual(compat.update(learnt["memory_id"], "grip_force=12.5N holds the wet cup")["status"], "updated")
                self.assertEqual(memory.get(2).context, {"note": "seen by the camera"})
                self.assertEqual(compat.end_session(began, 0.9)["summary"]["outcome_score"], 0.9)
                self.assertEqual(compat.forget(2, "it was dry")["status"], "forgotten")
                with self.assertRaises(Exception) as refused:
                    compat.import_memory(os.path.join(d, "none.db"))
                self.assertIn("none.db", str(refused.exception))
                with sqlite3.connect(os.path.join(d, "other.db")) as other:
                    other.execute("CREATE TABLE t (x)")
                other.close()
                with self.assertRaises(Exception) as refused:
                    compat.import_memory(os.path.join(d, "other.db"))
                self.assertEqual(memory.stats().total, 2)
            finally:
                compat._memory = None
                memory.close()


if __name__ == "__main__":
    unittest.main()
