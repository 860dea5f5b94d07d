"""A Memory that starts a node: joining, ends, kills, forks, and what cannot be started."""

import asyncio
import contextlib
import http.server
import json
import multiprocessing
import os
import pathlib
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from unittest import mock

import robotmem_node
from robotmem_node import AsyncMemory, Memory, RobotmemError, _http, _node

OPTIONS = ["--embedder", "none"]


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp()
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=os.name == "nt")


def ended(pid, seconds=20):
    """Whether a process that is no child of this one ends in time."""
    for _ in range(seconds * 20):
        try:
            os.kill(pid, 0)
            if pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def refuse(_):
    raise RobotmemError("invalid", "insight", "is empty", 400, "learn", 1.5)


def learn(memory, text):
    return memory.learn(text).status


def run(code, *args):
    """A Python process that uses the package."""
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *map(str, args)], stdout=subprocess.PIPE, encoding="utf-8")


class UsualFile(unittest.TestCase):
    def test_it_is_that_of_the_command(self):
        with tempfile.TemporaryDirectory() as top:
            home = os.path.join(top, "home")
            os.mkdir(home)
            for variables, file in (
                ({"XDG_DATA_HOME": os.path.join(top, "data")}, os.path.join(top, "data", "robotmem", "memory.db")),
                ({}, os.path.join(home, ".robotmem", "memory.db")),
                ({"ROBOTMEM_HOME": os.path.join(top, "own")}, os.path.join(top, "own", "memory.db")),
                ({"ROBOTMEM_DB": os.path.join(top, "named.db")}, os.path.join(top, "named.db")),
            ):
                with mock.patch.dict(os.environ, {**variables, "HOME": home}):
                    for name in {"ROBOTMEM_HOME", "ROBOTMEM_DB", "XDG_DATA_HOME"} - variables.keys():
                        os.environ.pop(name, None)
                    with Memory(options=["--embedder", "none"]) as m:
                        m.learn("the door opens to the left")
                    self.assertTrue(os.path.exists(file), file)
                    told = subprocess.run([_node.binary(), "recall", "door"], capture_output=True, text=True, check=True).stdout
                    self.assertIn("the door opens to the left", told)
            with mock.patch.dict(os.environ, {"ROBOTMEM_DB": "postgres://db1/robotmem"}), self.assertRaisesRegex(RobotmemError, "name postgres"):
                Memory()


class Life(unittest.TestCase):
    def test_from_a_file_to_an_answer_and_back(self):
        with folder() as d:
            with Memory(d / "arm7.db", options=OPTIONS) as m:
                with m.episode(task="pick the wet glass", place=[0.4, 0.1, 0], robot="arm-7", context={"env": {"wet": True}}) as ep:
                    for force, held in ((8, False), (9, False), (12.5, True), (13, True)):
                        ep.learn("grip_force=%s N" % force, context={"params": {"grip_force": force}, "task": {"success": held}})
                    advice = ep.advise()
                    self.assertGreater(advice.suggestion.parameters["params.grip_force"], 10)
                    near = ep.recall("grip force", near=0.1, context_filter={"env.wet": True})
                    self.assertEqual((near.total, near.memories[0].distance), (4, 0))
                    ep.used.append(near.memories[0].memory_id)
                    ep.outcome = 1
                kept = m.get(3).context
                self.assertEqual(kept, {
                    "task": {"name": "pick the wet glass", "success": True}, "params": {"grip_force": 12.5},
                    "spatial": {"position": [0.4, 0.1, 0]}, "robot": {"id": "arm-7"}, "env": {"wet": True},
                })
                self.assertEqual(ep.ended.summary.outcome_score, 1)
                child = m._child._process
            self.assertEqual(child.returncode, 0)
            self.assertEqual(sorted(p.name for p in d.iterdir()), ["arm7.db", "arm7.db.secret"])
            with Memory(d / "arm7.db", options=OPTIONS) as m:
                self.assertEqual(m.stats().total, 4)

    def test_what_is_stored_is_by_the_user(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            who = m.get(m.learn("the drawer opens to the left").memory_id).provenance.who
            self.assertNotEqual(who, "ROBOTMEM_TOKEN")
            if os.name != "nt":
                self.assertEqual(who, __import__("pwd").getpwuid(os.getuid()).pw_name)

    def test_a_filter_in_short(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            for force, wet in ((8, True), (12, True), (20, False)):
                m.learn("grip_force=%d N" % force, context={"params": {"grip_force": "%d N" % force}, "wet": wet})
            self.assertEqual(m.recall(where="params.grip_force<15N").total, 2)
            self.assertEqual(m.recall("grip", where=["params.grip_force > 9 N", "wet=true"]).total, 1)
            self.assertEqual(m.aggregate(context_filter="wet=true").memories, 2)
            with m.episode() as ep:
                self.assertEqual(ep.recall("grip", where="wet=false").total, 1)
            for bad, said in (("params.grip_force", "PATH=VALUE"), ("params.grip_force<9,5N", "9.5N")):
                with self.assertRaisesRegex(RobotmemError, said) as refused:
                    m.recall(where=bad)
                self.assertEqual(refused.exception.field, "context_filter")

    def test_an_encrypted_file(self):
        with folder() as d:
            (d / "arm7.key").write_text(_node.run(["key", "new"]))
            with Memory(d / "m.db", options=OPTIONS, key_file=d / "arm7.key") as m:
                m.learn("the drawer opens to the left")
            with self.assertRaisesRegex(RobotmemError, "encrypted"):
                Memory(d / "m.db", options=OPTIONS)
            with Memory(d / "m.db", options=OPTIONS, key_file=str(d / "arm7.key")) as m:
                self.assertEqual(m.stats().total, 1)
                self.assertRaisesRegex(RobotmemError, "key_file", Memory, m.url, key_file=d / "arm7.key")

    def test_an_episode_that_ctrl_c_ends_has_no_outcome(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            for raised, score in ((KeyboardInterrupt, None), (ValueError, 0)):
                with self.assertRaises(raised), m.episode(outcome=1.0) as ep:
                    raise raised
                self.assertEqual(ep.ended.summary.outcome_score, score)
            with m.episode() as ep:
                ep.outcome = True
            self.assertEqual(ep.ended.summary.outcome_score, 1)

    def test_an_episode_ends_whatever_its_recorders_do(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            with self.assertRaises(RobotmemError) as refused:
                with m.episode() as ep:
                    ep.outcome = 1.0
                    ep.recorder("x", 100, collection="bad name!").push(1, 1)
            self.assertEqual((refused.exception.field, ep.ended.summary.outcome_score), ("collection", 1))

    def test_what_is_no_episode(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            for fields in ({"place": "kitchen"}, {"place": [1]}, {"place": [1, float("nan")]}, {"task": 5}, {"robot": ["a"]}, {"context": "wet"}):
                with self.assertRaises(RobotmemError) as refused:
                    m.episode(**fields)
                self.assertEqual(refused.exception.field, next(iter(fields)))
            with self.assertRaises(RuntimeError):
                m.episode().learn("x")
            with self.assertRaises(RuntimeError):
                AsyncMemory("x.db").memory
            m.close()
            with self.assertRaises(RobotmemError) as refused:
                m.stats()
            self.assertIn("closed", str(refused.exception))

    def test_a_second_memory_joins_and_survives_the_first(self):
        with folder() as d:
            first = Memory(d / "m.db", options=OPTIONS)
            second = Memory(d / "m.db", options=OPTIONS)
            third = pickle.loads(pickle.dumps(second))
            self.assertEqual((first.url, second._child, third.url), (second.url, None, first.url))
            second.learn("the left drawer sticks")
            first.close()
            self.assertEqual(second.learn("the right drawer is empty").status, "created")  # with a node of its own
            self.assertEqual(third.recall("drawer").total, 2)
            self.assertEqual(third.url, second.url)
            second.close()
            third.close()

    def test_a_node_that_died_is_replaced(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            m.learn("before")
            m._child._process.kill()
            m._child._process.wait()
            saved = m.save(pathlib.Path(__file__), "after")
            m._child._process.kill()
            m._child._process.wait()
            self.assertEqual(m.read_data(saved.memory_id), pathlib.Path(__file__).read_bytes())
            self.assertEqual(m.stats().total, 2)

    def test_an_address_that_is_left_over_is_not_used(self):
        with folder() as d:
            with socket.create_server(("127.0.0.1", 0)) as closed:
                port = closed.getsockname()[1]
            (d / "m.db.node").write_text(json.dumps({"url": "http://127.0.0.1:%d" % port, "token": "t", "pid": 1}))
            with Memory(d / "m.db", options=OPTIONS) as m:
                self.assertNotIn(":%d" % port, m.url)
            with Memory(d / "other.db", options=OPTIONS) as other, mock.patch.object(_http.Http, "_answer", lambda *_: {"required": False, "version": "devel"}):
                (d / "m.db.node").write_text(json.dumps(other._child.address._asdict()))  # that asks for no token
                with self.assertRaises(RobotmemError):
                    other._http.check()
            for text in ("{half", '{"url": "nope", "token": "t", "pid": 1}'):
                (d / "m.db.node").write_text(text)
                Memory(d / "m.db", options=OPTIONS).close()
            if hasattr(os, "mkfifo"):
                os.mkfifo(d / "m.db.node")
                Memory(d / "m.db", options=OPTIONS).close()

    def test_what_takes_the_port_of_a_node_gets_nothing(self):
        """A program that answers as a node would on a dead node's port: at the start, and in the middle."""
        received = []

        class Impostor(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                received.append((self.path, self.headers.get("Authorization"), body))
                text = json.dumps({"required": True, "version": "devel", "status": "created", "memory_id": 1, "proof": "00" * 32}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        def impostor(port):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Impostor)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)
            return server.server_address[1]

        with folder() as d:
            Memory(d / "m.db", options=OPTIONS).close()
            address = d / "m.db.node"
            address.write_text(json.dumps({"url": "http://127.0.0.1:%d" % impostor(0), "token": "of-the-dead-node", "pid": 1}))
            address.chmod(0o600)
            with Memory(d / "m.db", options=OPTIONS) as m:
                m.learn("a fact for the node alone")
                port = int(m.url.rpartition(":")[2])
                m._child._process.kill()
                m._child._process.wait()
                impostor(port)
                m.learn("another fact")
                self.assertEqual(m.stats().total, 2)
        self.assertTrue(received)
        for path, authorization, body in received:
            self.assertEqual((path.partition("?")[0], authorization, body), ("/api/proof", None, b""))

    @unittest.skipIf(os.name == "nt", "modes are of other systems")
    def test_an_address_that_others_can_write_is_not_used(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            self.assertIsNotNone(_node.published(str(d / "m.db")))
            (d / "m.db.node").chmod(0o666)
            self.assertIsNone(_node.published(str(d / "m.db")))
            (d / "m.db.node").chmod(0o600)
            os.chmod(d / "m.db.secret", 0o644)
            with self.assertRaises(ConnectionError):
                _node.read_secret(str(d / "m.db"))

    @unittest.skipIf(os.name == "nt", "kill -9 is of other systems")
    def test_a_process_that_is_killed_takes_its_node_along(self):
        with folder() as d:
            child = run("""
                import sys
                from robotmem_node import Memory
                m = Memory(sys.argv[1], options=["--embedder", "none"])
                n = 0
                print(m._child.address.pid, flush=True)
                while True:
                    m.learn("fact %d" % n)
                    n += 1
                    print(n, flush=True)
            """, d / "m.db")
            node = int(child.stdout.readline())
            acknowledged = [int(child.stdout.readline()) for _ in range(20)][-1]
            child.kill()
            rest = child.stdout.read().splitlines()
            child.wait()
            child.stdout.close()
            acknowledged = max([acknowledged, *map(int, rest[:-1])])
            self.assertTrue(ended(node))
            with Memory(d / "m.db", options=OPTIONS) as m:
                self.assertGreaterEqual(m.stats().total, acknowledged)
                self.assertEqual(m.doctor().status, "ok")

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_forked_workers_share_the_node(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            m.learn("before the fork")
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    self.assertEqual(pool.starmap(learn, [(m, "%s %d" % (method, i)) for i in range(4)]), ["created"] * 4)
                    with self.assertRaises(RobotmemError) as refused:
                        pool.map(refuse, [1])
                    err = refused.exception
                    self.assertEqual((err.kind, err.field, err.detail, err.status, err.op, err.retry_after), ("invalid", "insight", "is empty", 400, "learn", 1.5))
            self.assertEqual(m.stats().total, 9)
            self.assertTrue(m._child.running)
            sleeper = multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,))
            sleeper.start()  # it holds what ends the node
            began = time.monotonic()
            m.close()
            self.assertLess(time.monotonic() - began, 10)
            sleeper.kill()
            sleeper.join()

    def test_threads_share_it(self):
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            threads = [threading.Thread(target=lambda i=i: [m.learn("thread %d fact %d" % (i, n)) for n in range(20)]) for i in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(m.stats().total, 80)

    def test_asyncio(self):
        async def live(d):
            async with AsyncMemory(d / "m.db", options=OPTIONS) as m:
                await asyncio.gather(*(m.learn("shelf %d is full" % i) for i in range(20)))
                async with m.episode(task="count") as ep:
                    await ep.learn("there are twenty shelves")
                    found = await ep.recall("how many shelves")
                    ep.used.append(found.memories[0])
                    ep.outcome = 0.75
                self.assertEqual((ep.ended.summary.outcome_score, (await m.session(ep.id)).session_id), (0.75, ep.id))
                saved = await m.save("t,fz\n0,1\n1,2", "a short trace", media_type="text/csv")
                return found.memories[0].content, (await m.stats()).total, saved.bytes

        with folder() as d:
            self.assertEqual(asyncio.run(live(d)), ("there are twenty shelves", 22, 12))


class Refusals(unittest.TestCase):
    def fails(self, words, *args, **fields):
        with self.assertRaises(RobotmemError) as failed:
            Memory(*args, **{"options": OPTIONS, **fields})
        self.assertEqual(failed.exception.kind, "unavailable")
        self.assertIn(words, str(failed.exception))

    def test_what_cannot_be_started(self):
        with folder() as d:
            (d / "text").write_text("no memory, and long enough to be none of ours" * 99)
            self.fails("is not a SQLite database; it was left as it is", d / "text")
            self.assertTrue((d / "text").read_text().startswith("no memory"))
            self.fails("--emboder", d / "m.db", options=["--emboder", "none"])
            with socket.create_server(("127.0.0.1", 0)) as busy:
                self.fails("is in use, perhaps by another robotmem web", d / "m.db", port=busy.getsockname()[1])
            with mock.patch.dict(os.environ, {"ROBOTMEM_BINARY": str(d / "text")}):
                self.fails("no program that can be run", d / "m.db")
            with mock.patch.dict(os.environ, {"PATH": str(d)}):
                os.environ.pop("ROBOTMEM_BINARY")
                with mock.patch.object(_node.os.path, "exists", lambda _: False):
                    self.fails("there is none on PATH", d / "m.db")
            (d / "sleepy").write_text("#!/bin/sh\nexec sleep 60\n")
            (d / "sleepy").chmod(0o755)
            with mock.patch.dict(os.environ, {"ROBOTMEM_BINARY": str(d / "sleepy")}), mock.patch.object(_node, "PATIENCE", 0.2):
                self.fails("was not ready after 0.2 s", d / "m.db", start_timeout=0.2)

    def test_addresses(self):
        for bad in ("127.0.0.1:7878", "ftp://node", "http://", "http://node/?x=1", "http://node:port", ":memory:"):
            with self.assertRaises(ValueError):
                Memory(bad)
        for settings in ({"retries": -1}, {"timeout": 0}, {"timeout": "3"}):
            with self.assertRaises(ValueError):
                Memory("http://127.0.0.1:1", **settings)

    def test_versions(self):
        for node, package, old in (("v0.8.1", "0.9.0", True), ("v0.9.3", "0.9.0", False), ("v1.0.0", "0.9.0", False), ("devel", "0.9.0", False), ("", "0.9.0", True), ("v0.9.0", "0.0.0", False)):
            self.assertEqual(_http.older(node, package), old, node)
        with folder() as d, Memory(d / "m.db", options=OPTIONS) as m:
            with mock.patch.object(_http, "older", lambda *_: True), self.assertRaises(RobotmemError) as refused:
                Memory(d / "m.db", options=OPTIONS)
            self.assertEqual(refused.exception.kind, "conflict")
            self.assertIn(robotmem_node.__version__, str(refused.exception))
            self.assertTrue(m._child.running)


if __name__ == "__main__":
    unittest.main()
