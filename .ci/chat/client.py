"""The official Python client of the chat API, through the proxy."""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=300)
asked = [{"role": "user", "content": "Which grip force holds the wet glass without a slip?"}]

whole = client.chat.completions.create(model="smollm2", messages=asked, max_tokens=16, extra_body={"memory_id": "python"})
hits = whole.model_extra["memory_hits"]
assert whole.choices[0].message.content, whole
assert any("12.5 N" in h["content"] for h in hits), hits
assert 0 < hits[0]["score"] <= 1 and hits[0]["role"] == "fact", hits

text, hits, usage = "", None, None
stream = client.chat.completions.create(
    model="smollm2", messages=asked, max_tokens=16, stream=True, stream_options={"include_usage": True}, extra_body={"memory_id": "python-stream"}
)
for chunk in stream:
    if hits is None:
        hits = chunk.model_extra["memory_hits"]
    usage = chunk.usage or usage
    for choice in chunk.choices:
        text += choice.delta.content or ""
assert text and usage and usage.completion_tokens > 0, (text, usage)
assert any("12.5 N" in h["content"] for h in hits), hits

# Somebody who leaves in the middle.
with client.chat.completions.create(model="smollm2", messages=asked, max_tokens=64, stream=True, extra_body={"memory_id": "python-leaves"}) as stream:
    next(iter(stream))

assert [m.id for m in client.models.list()] == ["smollm2:latest"]

try:
    client.chat.completions.create(model="no-such-model", messages=asked)
    raise AssertionError("a model that is not there has answered")
except openai.NotFoundError as e:
    assert "no-such-model" in str(e), e
try:
    client.chat.completions.create(model="smollm2", messages=asked, extra_body={"memory_top_k": 1000})
    raise AssertionError("memory_top_k of 1000 is taken")
except openai.BadRequestError as e:
    assert "memory_top_k must be 0 to 100" in str(e), e

client.chat.completions.create(
    model="smollm2", max_tokens=8, extra_body={"memory_id": "python"}, messages=[{"role": "user", "content": "Please remember that I prefer 18 N for the wet glasses of the lab."}]
)
print("openai for Python", openai.__version__, "talks through the proxy")
