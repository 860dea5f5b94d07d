"""A server of the Foxglove SDK, for the tests of the Go package.

It plays an MCAP file, once as many channels are subscribed to as the file has, and answers what a client
publishes and asks for. It writes lines of JSON to stdout and ends with its stdin.
"""

import argparse
import json
import sys
import threading
import time

import foxglove
from foxglove import Channel, Parameter, Schema, StatusLevel
from foxglove.websocket import Capability, PlaybackState, PlaybackStatus, ServerListener
from mcap.reader import make_reader

arguments = argparse.ArgumentParser()
arguments.add_argument("--mcap")
arguments.add_argument("--cert")
arguments.add_argument("--key")
arguments.add_argument("--plain", action="store_true", help="no capabilities")
arguments.add_argument("--load", type=float, help="seconds of 1 kHz of small messages and 30 Hz of 100 KB")
options = arguments.parse_args()

lock = threading.Lock()
subscribed = threading.Semaphore(0)


def say(what, **fields):
    with lock:
        print(json.dumps({"what": what, **fields}), flush=True)


class Listener(ServerListener):
    def __init__(self):
        self.parameters = {"speed": 1.5, "name": "arm", "key": b"\x00\xff", "path": [1.0, 2.0]}

    def on_subscribe(self, client, channel):
        subscribed.release()

    def on_unsubscribe(self, client, channel):
        say("unsubscribe", topic=channel.topic)

    def on_client_advertise(self, client, channel):
        say("advertise", topic=channel.topic, encoding=channel.encoding, schema=channel.schema_name,
            schemaEncoding=channel.schema_encoding, definition=(channel.schema or b"").decode())

    def on_client_unadvertise(self, client, channel):
        say("unadvertise")

    def on_message_data(self, client, channel, data):
        say("data", data=data.hex())

    def on_get_parameters(self, client, names, request):
        return [Parameter(n, value=v) for n, v in self.parameters.items() if not names or n in names]

    def on_set_parameters(self, client, parameters, request):
        for p in parameters:
            self.parameters[p.name] = p.get_value()
        return parameters

    def on_playback_control_request(self, request):
        say("playback", command=str(request.playback_command), speed=request.playback_speed,
            seek=request.seek_time, id=request.request_id)
        return PlaybackState(PlaybackStatus.Playing, request.seek_time or 7, request.playback_speed,
                             request.seek_time is not None, request.request_id)


capabilities = [Capability.ClientPublish, Capability.Parameters, Capability.Time]
settings = {}
if options.cert:
    settings["tls_cert"] = open(options.cert, "rb").read()
    settings["tls_key"] = open(options.key, "rb").read()
if not options.plain:
    settings["playback_time_range"] = (1_500_000_000_123_456_789, 1_600_000_000_000_000_001)
server = foxglove.start_server(
    name="sdk", port=0, session_id="one", server_listener=Listener(),
    capabilities=[] if options.plain else capabilities,
    supported_encodings=[] if options.plain else ["json", "cdr"],
    message_backlog_size=1 << 20, **settings)


def await_subscription(channel):
    """The listener is called a moment before messages of the channel are sent."""
    subscribed.acquire()
    while not channel.has_sinks():
        time.sleep(0.001)


def play(path):
    channels, messages = {}, []
    with open(path, "rb") as f:
        for schema, channel, message in make_reader(f).iter_messages(log_time_order=False):
            if channel.id not in channels:
                channels[channel.id] = Channel(
                    channel.topic, message_encoding=channel.message_encoding,
                    schema=schema and Schema(name=schema.name, encoding=schema.encoding, data=schema.data))
            messages.append((channels[channel.id], message.log_time, message.data))
    say("ready", port=server.port)
    for channel in channels.values():
        await_subscription(channel)
    for channel, log_time, data in messages:
        channel.log(data, log_time=log_time)
    say("played", messages=len(messages))


def load(seconds):
    small, large = Channel("/imu", message_encoding="json"), Channel("/camera", message_encoding="json")
    say("ready", port=server.port)
    await_subscription(small)
    await_subscription(large)
    begin, picture = time.monotonic(), b"p" * 100_000
    count = [0, 0]
    while time.monotonic() - begin < seconds:
        due = time.monotonic() - begin
        while count[0] < due * 1000:
            small.log(b'{"x":1,"n":%d}' % count[0], log_time=count[0])
            count[0] += 1
        while count[1] < due * 30:
            large.log(picture, log_time=count[1])
            count[1] += 1
        time.sleep(0.0005)
    say("played", messages=sum(count))


def follow():
    """Does what stdin says."""
    for line in sys.stdin:
        if line == "time\n":
            server.broadcast_time(1_700_000_000_000_000_001)
        elif line == "ended\n":
            server.broadcast_playback_state(PlaybackState(PlaybackStatus.Ended, 9, 1.0, False, None))
        elif line == "status\n":
            server.publish_status("the battery is low", StatusLevel.Warning, "battery")
            server.remove_status(["battery"])
        elif line == "parameter\n":
            server.publish_parameter_values([Parameter("speed", value=2.5)])
        elif line == "session\n":
            server.clear_session("two")
        elif line == "again\n":
            # Ends at once: the client hears of the end before the message, or after it.
            for n in range(50):
                c = Channel("/again", schema={"type": "object"})
                await_subscription(c)
                c.log({"n": n}, log_time=n)
                c.close()
        say("done")


if options.mcap:
    threading.Thread(target=play, args=(options.mcap,), daemon=True).start()
elif options.load:
    threading.Thread(target=load, args=(options.load,), daemon=True).start()
else:
    say("ready", port=server.port)
follow()
server.stop()
