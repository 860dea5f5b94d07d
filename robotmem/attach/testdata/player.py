"""Plays an MCAP file on a Foxglove WebSocket server: the original bytes and schemas at their log times.

    player.py FILE [--port N] [--speed X] [--restarts N] [--wait] [--shift SECONDS]

It prints a line of JSON when the server listens, for each message that a client publishes, and at the end.
With --restarts the server is stopped and started again at equal parts of the file, and goes on there.
"""
import argparse, json, sys, threading, time

import foxglove
from foxglove import Channel, Schema
from foxglove.websocket import Capability, ServerListener
from mcap.reader import make_reader

p = argparse.ArgumentParser()
p.add_argument("file")
p.add_argument("--port", type=int, default=0)
p.add_argument("--speed", type=float, default=1.0)
p.add_argument("--restarts", type=int, default=0)
p.add_argument("--shift", type=float, default=0.0, help="seconds that are added to all log times")
p.add_argument("--grace", type=float, default=1.0, help="seconds before the first and after the last message")
a = p.parse_args()

out = threading.Lock()


def say(**line):
    with out:
        print(json.dumps(line), flush=True)


class Listener(ServerListener):
    def __init__(self):
        self.subscribed, self.advertised = set(), {}

    def on_subscribe(self, client, channel):
        self.subscribed.add(channel.topic)

    def on_client_advertise(self, client, channel):
        self.advertised[channel.id] = channel.topic

    def on_message_data(self, client, channel, data):
        say(published=self.advertised.get(channel, "?"), data=data.decode("utf-8", "replace"))


listener = Listener()
port = a.port


def serve():
    global port
    for _ in range(100):
        try:
            s = foxglove.start_server(name="player", host="127.0.0.1", port=port, server_listener=listener,
                                      capabilities=[Capability.ClientPublish], supported_encodings=["json"],
                                      message_backlog_size=100_000)
            port = s.port
            return s
        except RuntimeError:  # the port is not free yet
            time.sleep(0.1)
    raise SystemExit("no server")


server = serve()
say(port=port)
with open(a.file, "rb") as f:
    messages = [(s, c, m) for s, c, m in make_reader(f).iter_messages()]

channels = {}
for s, c, m in messages:
    if c.id not in channels:
        schema = Schema(name=s.name, encoding=s.encoding, data=s.data) if s else None
        channels[c.id] = Channel(c.topic, schema=schema, message_encoding=c.message_encoding)
topics = {c.topic for _, c, _ in messages}


def await_client():
    end = time.time() + 20
    while time.time() < end and not topics <= listener.subscribed:
        time.sleep(0.02)
    time.sleep(0.2)


await_client()
time.sleep(a.grace)
first, began = messages[0][2].log_time, time.time()
paused = 0.0
stops = {len(messages) * (i + 1) // (a.restarts + 1) for i in range(a.restarts)}
for n, (s, c, m) in enumerate(messages):
    if n in stops:
        at = time.time()
        time.sleep(0.3)  # what was sent arrives
        server.stop()
        listener.subscribed.clear()
        time.sleep(0.3)
        server = serve()
        await_client()
        paused += time.time() - at
    due = began + paused + (m.log_time - first) * 1e-9 / a.speed
    if due > time.time():
        time.sleep(due - time.time())
    channels[c.id].log(m.data, log_time=m.log_time + int(a.shift * 1e9))
time.sleep(a.grace)
say(done=len(messages))
server.stop()
