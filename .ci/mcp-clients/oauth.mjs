// The OAuth clients of the two official TypeScript clients against a node. The test that starts it plays the person:
// it reads the lines of this program, and answers what a browser would come back with.
//   node oauth.mjs KIND URL LIFE    KIND is sdk or client, LIFE that of an access token in seconds
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as SDKClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as SDKHTTP } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [kind, url, life] = process.argv.slice(2);
const old = kind === 'sdk';
const HTTP = old ? SDKHTTP : StreamableHTTPClientTransport;
const say = (line) => process.stdout.write(line + '\n');
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hear = async () => (await lines.next()).value;

const kept = { stored: 0, logins: 0 };
const provider = {
  get redirectUrl() { return 'http://localhost:8766/callback'; },
  get clientMetadata() {
    return { client_name: `TypeScript ${kind}`, redirect_uris: [this.redirectUrl], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'client_secret_post' };
  },
  state() { return (kept.state = crypto.randomUUID()); },
  clientInformation() { return kept.client; },
  saveClientInformation(c) { kept.client = c; },
  tokens() { return kept.tokens; },
  saveTokens(t) { kept.tokens = t; kept.stored++; },
  codeVerifier() { return kept.verifier; },
  saveCodeVerifier(v) { kept.verifier = v; },
  discoveryState() { return kept.discovery; },
  saveDiscoveryState(d) { kept.discovery = d; },
  redirectToAuthorization(to) { kept.logins++; kept.authorize = String(to); },
};

async function connect() {
  const transport = new HTTP(new URL(url), { authProvider: provider });
  const client = old ? new SDKClient({ name: 'robotmem-ci', version: '1.0.0' }) : new Client({ name: 'robotmem-ci', version: '1.0.0' });
  try {
    await client.connect(transport);
    return client;
  } catch (e) {
    if (!kept.authorize || kept.logins > 1) throw e;
  }
  say('authorize ' + kept.authorize);
  const back = new URL(await hear()).searchParams;
  assert.equal(back.get('state'), kept.state);
  await transport.finishAuth(...(old ? [back.get('code')] : [back]));
  return connect();
}

const client = await connect();
const call = (name, args) => (old ? client.callTool({ name, arguments: args }) : client.callTool({ name, arguments: args }));
const learnt = await call('learn', { insight: 'grip_force=12.5 N holds the wet glass' });
assert.ok(!learnt.isError, JSON.stringify(learnt));
say(`learnt ${kept.stored}`);

await sleep((Number(life) + 0.5) * 1000);
const recalled = await call('recall', { query: 'wet glass' });
assert.match(recalled.content[0].text, /12\.5 N/);
assert.equal(kept.logins, 1);
say(`recalled ${kept.stored}`);

say('revoke');
assert.equal(await hear(), 'revoked');
try {
  await call('recall', { query: 'wet glass' });
  say('accepted');
} catch (e) {
  say('refused ' + (e.name ?? e));
}
say(`logins ${kept.logins}`);
process.exit(0);
