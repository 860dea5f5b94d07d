"""One episode through a client that openapi-python-client made from the OpenAPI document."""

import sys

from robotmem_client import Client
from robotmem_client.api.episodes import end_session, start_session
from robotmem_client.api.learning import learn
from robotmem_client.api.memories import forget, get, list_
from robotmem_client.api.recalling import recall
from robotmem_client.models import (
    EndSessionRequest, LearnRequest, LearnRequestContext, LearnResponse, ListResponse, Memory, Problem,
    RecallRequest, RecallRequestContextFilter, RecallRequestDetail, RecallResponse, SpatialSort, StartSessionRequest,
)


def must(answer, want):
    if not isinstance(answer, want):
        raise SystemExit(f"want {want.__name__}, got {answer}")
    return answer


def context(kind, **sections):
    made = kind()
    made.additional_properties = sections
    return made


with Client(base_url=sys.argv[1], raise_on_unexpected_status=True) as node:
    session = start_session.sync(client=node, body=StartSessionRequest(collection="py"))
    lived = LearnRequest(
        insight="grip_force=12.5 N holds the wet glass", session_id=session.session_id,
        context=context(LearnRequestContext, task={"success": True}, spatial={"position": [0.4, 0.1]}),
    )
    learnt = must(learn.sync(client=node, body=lived), LearnResponse)
    assert learnt.status == "created", learnt
    found = must(recall.sync(client=node, body=RecallRequest(
        query="wet glass", collection="py", context_filter=context(RecallRequestContextFilter, **{"task.success": True}),
        spatial_sort=SpatialSort(field="spatial.position", target=[0.4, 0.2]),
    )), RecallResponse)
    assert [m.memory_id for m in found.memories] == [learnt.memory_id], found
    assert abs(found.memories[0].distance - 0.1) < 1e-9, found
    assert "12.5 N" in recall.sync(client=node, body=RecallRequest(query="wet glass", detail=RecallRequestDetail.COMPACT, collection="py")).memories[0].line
    assert must(get.sync(learnt.memory_id, client=node), Memory).content == lived.insight
    assert must(list_.sync(client=node, collection="py", limit=10), ListResponse).total == 1
    ended = end_session.sync(session.session_id, client=node, body=EndSessionRequest(outcome_score=0.5))
    assert ended.summary.facts == 1 and ended.summary.outcome_score == 0.5, ended
    refused = must(forget.sync(4711, client=node, reason="never was"), Problem)
    assert refused.kind == "not_found" and refused.field == "memory_id", refused
    print("python:", ended.summary.text)
