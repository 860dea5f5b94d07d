"""A client of the Foxglove WebSocket protocol as its specification describes it, for the tests of the Go
package. It shares no code with it.

It connects to the address with the subprotocol that it is given, writes all that it receives to stdout as
lines of JSON, and sends the lines of its stdin: JSON as it is, and other lines as hex of a binary message.
"""

import asyncio
import json
import sys

import websockets


async def main(address, subprotocol):
    async with websockets.connect(address, subprotocols=[subprotocol], max_size=None) as socket:
        print(json.dumps({"what": "connected", "text": socket.subprotocol}), flush=True)

        async def receive():
            async for message in socket:
                if isinstance(message, str):
                    print(json.dumps({"what": "text", "text": json.loads(message)}), flush=True)
                else:
                    print(json.dumps({"what": "binary", "binary": message.hex()}), flush=True)
            print(json.dumps({"what": "closed", "port": socket.close_code}), flush=True)

        receiving = asyncio.create_task(receive())
        lines = asyncio.get_running_loop()
        while line := await lines.run_in_executor(None, sys.stdin.readline):
            line = line.strip()
            await socket.send(line if line.startswith("{") else bytes.fromhex(line))
        receiving.cancel()


asyncio.run(main(*sys.argv[1:]))
