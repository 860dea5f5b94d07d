// The two official clients behind one interface, over stdio or HTTP.
//   connect(kind, where): kind is sdk, client or client-modern; where is
//   {url} or {command, args}.
import { Client as SDKClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as SDKStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as SDKHTTP } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const me = { name: 'robotmem-ci', version: '1.0.0' };

export async function connect(kind, where) {
  const old = kind === 'sdk';
  const client = old
    ? new SDKClient(me)
    : new Client(me, { versionNegotiation: { mode: kind === 'client-modern' ? { pin: '2026-07-28' } : 'legacy' } });
  const HTTP = old ? SDKHTTP : StreamableHTTPClientTransport;
  const Stdio = old ? SDKStdio : StdioClientTransport;
  const transport = where.url ? new HTTP(new URL(where.url)) : new Stdio({ ...where, stderr: 'inherit' });
  await client.connect(transport);
  return {
    client,
    version: old ? transport.protocolVersion ?? 'legacy' : client.getNegotiatedProtocolVersion(),
    call: (name, args, options) =>
      old ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options),
  };
}
