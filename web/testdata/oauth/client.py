"""The OAuth client of the Python MCP SDK against a node. The test that starts it plays the person: it reads the
lines of this program, and answers what a browser would come back with.

    client.py URL LIFE     LIFE is that of an access token in seconds
"""
import asyncio
import sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

url, life = sys.argv[1], float(sys.argv[2])


class Storage:
    tokens = info = None
    stored = 0

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens
        self.stored += 1

    async def get_client_info(self):
        return self.info

    async def set_client_info(self, info):
        self.info = info


class Refused(Exception):
    """The node asks for another login."""


def say(line):
    print(line, flush=True)


def hear():
    return asyncio.get_running_loop().run_in_executor(None, lambda: sys.stdin.readline().strip())


storage, logins = Storage(), 0


async def redirect(to):
    global logins
    logins += 1
    if logins > 1:
        raise Refused
    say("authorize " + to)


async def callback():
    q = parse_qs(urlparse(await hear()).query)
    return AuthorizationCodeResult(code=q["code"][0], state=q["state"][0], iss=q["iss"][0])


def causes(e):
    return [c for each in e.exceptions for c in causes(each)] if isinstance(e, BaseExceptionGroup) else [e]


async def main():
    provider = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(client_name="Python SDK", redirect_uris=["http://127.0.0.1:8765/callback"]),
        storage=storage,
        redirect_handler=redirect,
        callback_handler=callback,
    )
    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            tools = await client.list_tools()
            assert any(t.name == "learn" for t in tools.tools), tools
            res = await client.call_tool("learn", {"insight": "grip_force=12.5 N holds the wet glass"})
            assert not res.is_error, res
            say(f"learnt {storage.stored}")

            await asyncio.sleep(life + 0.5)
            res = await client.call_tool("recall", {"query": "wet glass"})
            assert not res.is_error and "12.5 N" in res.content[0].text, res
            assert logins == 1, logins
            say(f"recalled {storage.stored}")

            say("revoke")
            assert await hear() == "revoked"
            try:
                await client.call_tool("recall", {"query": "wet glass"}, read_timeout_seconds=20)
            except BaseException as e:
                say("refused " + ",".join(type(c).__name__ for c in causes(e)))
            else:
                say("accepted")
            say(f"logins {logins}")


try:
    asyncio.run(main())
except BaseException as e:
    if logins < 2:
        raise
    say("ended " + ",".join(type(c).__name__ for c in causes(e)))
