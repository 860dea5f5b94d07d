"""What the contract suite cannot see of the client: what goes over the wire, retries, episodes, pages, events."""

import base64
import datetime
import http.server
import io
import json
import socket
import threading
import unittest
import warnings

from robotmem_node import Event, Memory, Number, RobotmemError

ID = "01a1fc13-cae0-783e-84dd-4cdf355d436d"


class Node:
    """A node that gives its answers in order and keeps what it was asked."""

    def __init__(self, *answers):
        self.asked = []
        node, left = self, list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                node.asked.append((self.command, self.path, self.rfile.read(length).decode(), self.headers))
                status, headers, body = left.pop(0)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def ok(**answer):
    return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


def problem(status, kind, field="", **headers):
    document = {"kind": kind, "field": field, "detail": "why", "op": "stats", "status": status}
    return status, {"Content-Type": "application/problem+json", **headers}, json.dumps(document).encode()


class Wire(unittest.TestCase):
    def test_fields_go_where_the_route_wants_them(self):
        noon = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.timezone.utc)
        for call, method, target, body in (
            (lambda m: m.learn("x", context={"n": Number("12.50")}, observed_at=noon), "POST", "/api/learn",
             '{"insight":"x","context":{"n":12.50},"observed_at":"2026-03-01T12:00:00+00:00"}'),
            (lambda m: m.update(7, "y"), "PUT", "/api/memory/7", '{"new_content":"y"}'),
            (lambda m: m.forget(7, "a & b"), "DELETE", "/api/memory/7?reason=a+%26+b", ""),
            (lambda m: m.list(page=2, confidence_max=0), "GET", "/api/memories?confidence_max=0&page=2", ""),
            (lambda m: m.search('{"a":1}', explain=True), "GET", "/api/search?explain=true&q=%7B%22a%22%3A1%7D", ""),
            (lambda m: m.session_memories("a/b ?"), "GET", "/api/sessions/a%2Fb%20%3F/memories", ""),
            (lambda m: m.save_perception("a photo", data_base64=b"\x00\xff"), "POST", "/api/perceptions", '{"description":"a photo","data_base64":"AP8="}'),
        ):
            with self.subTest(target), Node(ok()) as node:
                call(Memory(node.url + "/", token="t0k"))
                self.assertEqual([node.asked[0][:3]], [(method, target, body)])
                headers = node.asked[0][3]
                self.assertEqual((headers["Authorization"], headers["Accept"]), ("Bearer t0k", "application/json"))

    def test_numbers_keep_their_spelling(self):
        with Node((200, {}, b'{"context":{"a":12.50,"b":1e3,"c":9007199254740993}}'), ok()) as node:
            memory = Memory(node.url)
            context = memory.get(1).context
            self.assertEqual(context["a"] + 1, 13.5)
            memory.learn("x", context=context)
            self.assertIn('"context":{"a":12.50,"b":1e3,"c":9007199254740993}', node.asked[1][2])

    def test_arrays_and_scalars_of_numpy(self):
        class Like:  # NumPy's methods that the client uses
            def __init__(self, value, shape=(), raw=b""):
                self.tolist, self.tobytes, self.shape = (lambda: value), (lambda: raw), shape
                self.dtype = type("dtype", (), {"str": "<f8"})

        with Node(ok(), ok(), ok(), ok()) as node:
            memory = Memory(node.url)
            memory.learn("x", context={"f": Like(12.5), "q": Like([[1.5, 2]]), "wet": Like(True)})
            memory.recall(context_filter={"f": {"$gt": Like(12)}}, n=Like(3))
            memory.save_perception("a trace", data=Like([1.0], (1,), b"\0\0\0\0\0\0\xf0?"))
            memory.save_perception("a trace", data=b"\0")
            self.assertIn('"context":{"f":12.5,"q":[[1.5,2]],"wet":true}', node.asked[0][2])
            self.assertEqual(node.asked[1][2], '{"n":3,"context_filter":{"f":{"$gt":12}}}')
            file = base64.b64decode(json.loads(node.asked[2][2])["data_base64"])
            self.assertEqual((file[:8], len(file) % 64, file[-8:]), (b"\x93NUMPY\x01\x00", 8, b"\0\0\0\0\0\0\xf0?"))
            self.assertIn(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", file)
            self.assertIn('"data_base64":"AA=="', node.asked[3][2])

    def test_what_json_cannot_carry_is_refused_here(self):
        memory = Memory("http://127.0.0.1:1")
        for field, call in {
            "context": lambda: memory.learn("x", context={"n": float("nan")}),
            "insight": lambda: memory.learn("\ud800"),
            "tags": lambda: memory.learn("x", tags={"a"}),
            "session_id": lambda: memory.end_session(""),
        }.items():
            with self.assertRaises(RobotmemError) as refused:
                call()
            self.assertEqual((refused.exception.kind, refused.exception.field), ("invalid", field))


class Failures(unittest.TestCase):
    def test_a_problem_becomes_an_error(self):
        with Node(problem(409, "conflict", "session_id")) as node:
            with self.assertRaises(RobotmemError) as failed:
                Memory(node.url).end_session(ID)
        err = failed.exception
        self.assertEqual((err.kind, err.field, err.detail, err.status, err.op), ("conflict", "session_id", "why", 409, "stats"))
        self.assertEqual(str(err), "stats: session_id: why")

    def test_a_busy_node_is_asked_again_by_reads_alone(self):
        busy = {"Retry-After": "0"}
        for status in (429, 503):
            with Node(problem(status, "unavailable", **busy), problem(status, "unavailable", **busy), ok(total=3)) as node:
                self.assertEqual(Memory(node.url).stats()["total"], 3)
            with Node(problem(status, "unavailable", **busy), ok()) as node:
                with self.assertRaises(RobotmemError):
                    Memory(node.url).learn("x")
                self.assertEqual(len(node.asked), 1)
        with Node(problem(503, "unavailable", **busy), problem(503, "unavailable", **busy)) as node:
            with self.assertRaises(RobotmemError):
                Memory(node.url, retries=1).recall("x")
            self.assertEqual(len(node.asked), 2)
        with Node(problem(404, "not_found")) as node:
            with self.assertRaises(RobotmemError):
                Memory(node.url).get(1)

    def test_what_is_no_node(self):
        for status, body, kind in ((200, b"<html>", "unavailable"), (502, b"bad gateway", "unavailable"), (401, b"who?", "forbidden"), (413, b"no", "too_large")):
            with self.subTest(status), Node((status, {"Content-Type": "text/html"}, body)) as node:
                with self.assertRaises(RobotmemError) as failed:
                    Memory(node.url, retries=0).stats()
                self.assertEqual((failed.exception.kind, failed.exception.status), (kind, status))

    def test_nobody_there(self):
        with self.assertRaises(RobotmemError) as failed:
            Memory("http://127.0.0.1:1").stats()
        self.assertEqual((failed.exception.kind, failed.exception.status), ("unavailable", 0))
        self.assertIn("is `robotmem web` running there?", str(failed.exception))

    def test_an_answer_that_breaks_off(self):
        with Node((200, {"Content-Length": "100", "ETag": '"%s"' % ("0" * 64)}, b"half")) as node:
            with self.assertRaises(RobotmemError) as failed:
                Memory(node.url).read_data(1)
            self.assertEqual(failed.exception.kind, "unavailable")

    def test_other_bytes_than_were_saved(self):
        with Node((200, {"Content-Length": "4", "ETag": '"%s"' % ("0" * 64)}, b"null")) as node:
            with self.assertRaises(RobotmemError) as failed:
                Memory(node.url).read_data(1)
            self.assertEqual(failed.exception.kind, "corrupt")


class KeptNode(Node):
    """A node that keeps connections and counts them."""

    def __init__(self, *answers):
        super().__init__(*answers)
        node, handler = self, self.server.RequestHandlerClass
        self.connections = 0

        def setup(self):
            node.connections += 1
            super(handler, self).setup()
            self.request.settimeout(5)
            node.sockets = getattr(node, "sockets", []) + [self.request]

        handler.protocol_version, handler.setup = "HTTP/1.1", setup
        self.server.daemon_threads = True


def kept(**answer):
    status, headers, body = ok(**answer)
    return status, dict(headers, **{"Content-Length": str(len(body))}), body


class Connections(unittest.TestCase):
    def test_calls_share_one(self):
        refused = problem(404, "not_found")
        refused[1]["Content-Length"] = str(len(refused[2]))
        with KeptNode(kept(), kept(total=3), refused, kept(total=4)) as node:
            memory = Memory(node.url)
            memory.learn("x")
            self.assertEqual(memory.stats()["total"], 3)
            with self.assertRaises(RobotmemError):
                memory.get(1)
            self.assertEqual((memory.stats()["total"], node.connections), (4, 1))
            memory.close()

    def test_one_that_the_node_has_closed_is_not_used(self):
        with KeptNode(kept(), kept(), kept()) as node:
            memory = Memory(node.url)
            for connections in (1, 2, 3):
                memory.learn("x")
                self.assertEqual(node.connections, connections)
                node.sockets[-1].shutdown(socket.SHUT_RDWR)
            memory.close()

    def test_one_that_breaks_under_a_read_is_replaced(self):
        with KeptNode(kept(), kept(total=3), kept()) as node:
            memory = Memory(node.url)
            memory.learn("x")
            memory._http._kept[0][2].sock.shutdown(socket.SHUT_WR)  # what is sent fails, as after a reset
            memory._http._reuse = lambda timeout, reuse=memory._http._kept.pop: reuse()[2]
            self.assertEqual((memory.stats()["total"], node.connections), (3, 2))
            memory._http._kept[0][2].sock.shutdown(socket.SHUT_WR)
            with self.assertRaises(RobotmemError):
                memory.learn("y")
            self.assertEqual(len(node.asked), 2)

    def test_threads_and_forks_have_their_own(self):
        with KeptNode(*[kept() for _ in range(40)]) as node:
            memory = Memory(node.url)
            threads = [threading.Thread(target=lambda: [memory.learn("x") for _ in range(9)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertLessEqual(node.connections, 4)
            before = node.connections
            memory._http._kept = [(process + 1, since, connection) for process, since, connection in memory._http._kept]
            memory.learn("in a child")
            self.assertEqual((len(node.asked), node.connections), (37, before + 1))
            memory.close()


class Conveniences(unittest.TestCase):
    def test_an_episode_begins_and_ends(self):
        begun = ok(session_id=ID, briefing={"text": "mind the glass"})
        with Node(begun, ok(), ok(), ok(summary={"facts": 1})) as node:
            with Memory(node.url).episode(collection="kitchen") as episode:
                episode.learn("x")
                episode.recall("y")
                episode.used.append(7)
                episode.outcome = 0.5
            self.assertEqual(episode.briefing["text"], "mind the glass")
            self.assertEqual(episode.ended["summary"]["facts"], 1)
            sent = [json.loads(body) for _, _, body, _ in node.asked]
            self.assertEqual(sent, [
                {"collection": "kitchen"}, {"insight": "x", "session_id": ID},
                {"query": "y", "collection": "kitchen", "for_session": ID}, {"outcome_score": 0.5, "used_memory_ids": [7]},
            ])

    def test_an_episode_that_raises_has_failed(self):
        with Node(ok(session_id=ID, briefing={}), problem(503, "unavailable")) as node:
            with self.assertRaises(ZeroDivisionError), Memory(node.url).episode():
                1 / 0
            self.assertEqual(json.loads(node.asked[1][2]), {"outcome_score": 0.0})

    def test_pages_follow_their_cursor(self):
        with Node(ok(memories=[{"memory_id": 3}, {"memory_id": 2}], next="c2"), ok(memories=[{"memory_id": 1}])) as node:
            found = [m["memory_id"] for m in Memory(node.url).list_all(collection="kitchen")]
            self.assertEqual(found, [3, 2, 1])
            self.assertNotIn("cursor", node.asked[0][1])
            self.assertIn("cursor=c2", node.asked[1][1])

    def test_events(self):
        stream = b': here\n\nevent: change\ndata: {"change":\ndata: 7}\n\n: here\n\nevent: change\r\ndata: {"change":8}\r\n\r\n'
        with Node((200, {"Content-Type": "text/event-stream"}, stream)) as node:
            self.assertEqual(list(Memory(node.url).events()), [Event("change", {"change": 7}), Event("change", {"change": 8})])

    def test_an_upload_stops_when_the_node_has_answered(self):
        class Endless(io.RawIOBase):
            def read(self, size=-1):
                return b"\x00" * size

        with Node(problem(413, "too_large", "data")) as node:
            with self.assertRaises(RobotmemError) as refused:
                Memory(node.url).save_perception_from(Endless(), "an endless stream")
        self.assertEqual((refused.exception.kind, refused.exception.field), ("too_large", "data"))


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
