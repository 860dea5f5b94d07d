// Lives an episode as a client of robotmem and fails on what is not as it
// should be.
//   node episode.mjs KIND SESSION URL
//   node episode.mjs KIND SESSION COMMAND ARGS...
// SESSION is an open episode with many facts, whose end takes a while.
import assert from 'node:assert/strict';
import { connect } from './clients.mjs';

const [kind, busySession, first, ...rest] = process.argv.slice(2);
const where = first.startsWith('http') ? { url: first } : { command: first, args: rest };
const { client, version, call } = await connect(kind, where);
if (kind === 'client-modern') assert.equal(version, '2026-07-28');

async function ok(name, args, options) {
  const res = await call(name, args, options);
  assert.ok(!res.isError, `${name}: ${res.content?.[0]?.text}`);
  return res;
}
const uri = (kind, id, part = '') => `robotmem://${kind}/${id}${part}`;
const readJSON = async (u) => JSON.parse((await client.readResource({ uri: u })).contents[0].text);

const { tools } = await client.listTools();
for (const name of ['learn', 'recall', 'save_perception', 'forget', 'update', 'start_session', 'end_session', 'get', 'timeline', 'preview'])
  assert.ok(tools.some((t) => t.name === name && t.title && t.description), `no tool ${name}`);

const collection = `ci-${kind}-${where.url ? 'http' : 'stdio'}`;
const started = (await ok('start_session', { collection, context: { task: { name: 'hold a wet glass' } } })).structuredContent;
const session_id = started.session_id;
const learnt = (await ok('learn', {
  insight: 'grip_force=12.5 N holds wet glass', session_id, tags: ['wet-glass'],
  context: { params: { grip_force: 12.5 }, spatial: { position: [1.2, 0.5] }, task: { success: true } },
})).structuredContent;
assert.equal(learnt.status, 'created');
await ok('learn', { insight: 'grip_force=8 N lets a wet glass slip', session_id, context: { params: { grip_force: 8 }, task: { success: false } } });

const recalled = (await ok('recall', { query: 'wet glass', collection, for_session: session_id, context_filter: { 'task.success': true } })).structuredContent;
assert.deepEqual(recalled.memories.map((m) => m.memory_id), [learnt.memory_id]);

const trace = 'time,force_z\n' + Array.from({ length: 400 }, (_, i) => `${i / 100},${Math.sin(i / 20) * 12.5}`).join('\n');
const saved = (await ok('save_perception', { description: 'force while gripping the glass', perception_type: 'tactile', data: trace, media_type: 'text/csv', session_id })).structuredContent;
const plot = await ok('preview', { memory_id: saved.memory_id });
assert.ok(plot.content.some((c) => c.type === 'resource_link' && c.mimeType === 'image/svg+xml'), 'preview has no link to the plot');
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const image = (await ok('save_perception', { description: 'one red pixel', data_base64: pixel, session_id })).structuredContent;
const picture = await ok('preview', { memory_id: image.memory_id });
assert.ok(picture.content.some((c) => c.type === 'image' && c.mimeType.startsWith('image/')), 'preview shows no image');

assert.equal((await client.readResource({ uri: uri('perception', saved.memory_id, '/data') })).contents[0].text, trace);
assert.equal((await readJSON(uri('memory', learnt.memory_id))).content, 'grip_force=12.5 N holds wet glass');
const { resourceTemplates } = await client.listResourceTemplates();
assert.equal(resourceTemplates.length, 4);
const { resources } = await client.listResources();
assert.ok(resources.some((r) => r.uri === uri('session', session_id)), 'the episode is not listed');

const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values;
const brief = { type: 'ref/prompt', name: 'brief_me' };
assert.deepEqual(await complete(brief, 'collection', collection), [collection]);
assert.ok((await complete({ type: 'ref/resource', uri: 'robotmem://session/{id}' }, 'id', session_id.slice(0, 20))).includes(session_id));

const textOf = (prompt) => prompt.messages[0].content.text;
const briefing = textOf(await client.getPrompt({ name: 'brief_me', arguments: { task: 'hold a wet glass', collection } }));
assert.match(briefing, /What worked\n- \[\d+\] <data-\w+ [^>]*>grip_force=12\.5 N/);
assert.match(briefing, /What failed\n- \[\d+\] <data-\w+ [^>]*>grip_force=8 N/);

// A call that is taken back rejects here, and leaves the server answering.
const taken = new AbortController();
const back = call('recall', { query: 'glass', collection: '*', n: 100 }, { signal: taken.signal });
taken.abort(new Error('changed my mind'));
await assert.rejects(back);
await ok('get', { memory_id: learnt.memory_id });

const progress = [];
const ended = (await ok('end_session', { session_id: busySession, outcome_score: 0.5 }, { onprogress: (p) => progress.push(p) })).structuredContent;
assert.equal(ended.status, 'ended');
assert.ok(progress.length > 0, 'no progress of a long call');
for (let i = 1; i < progress.length; i++) assert.ok(progress[i].progress > progress[i - 1].progress, 'progress does not grow');

const over = (await ok('end_session', { session_id, outcome_score: 0.9, used_memory_ids: [learnt.memory_id] })).structuredContent;
assert.equal(over.summary.used, 1);
const whole = await readJSON(uri('session', session_id));
assert.equal(whole.status, 'ended');
assert.ok(whole.recalled.some((m) => m.memory_id === learnt.memory_id && m.used), 'what helped is not credited');
assert.match(textOf(await client.getPrompt({ name: 'review_episode', arguments: { session_id } })), /grip_force=12\.5 N.*, worked\)/);

const twice = await call('end_session', { session_id });
assert.ok(twice.isError && twice._meta['robotmem/error'].kind === 'conflict');
await assert.rejects(client.readResource({ uri: uri('memory', 999999) }), /there is no memory 999999/);
await client.close();
console.log(`${kind} over ${where.url ? 'HTTP' : 'stdio'} (${version}): ${tools.length} tools, ${progress.length} reports of progress`);
