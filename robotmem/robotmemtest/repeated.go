package robotmemtest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A call with a request_id that is repeated, because its answer was lost, is answered again.
var repeatedCases = []testCase{
	{"ALearnIsAnsweredAgain", func(t *testing.T, s robotmem.Service) {
		learn(t, s, "the arm holds 3 kg", nil)
		req := &robotmem.LearnRequest{Insight: "the arm holds 4 kg", RequestID: "call 1/ä", Tags: []string{"arm"}}
		first := do(t, s.Learn, req)
		if first.Status != "created" || len(first.Conflicts) == 0 {
			t.Fatalf("got %+v, want a new fact that conflicts", first)
		}
		learn(t, s, "another fact", nil)
		equal(t, "the answer to the same call", do(t, s.Learn, req), first)

		m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: first.MemoryID})
		equal(t, "sightings", m.Sightings, 1)
		equal(t, "memories", recalled(t, s, &robotmem.RecallRequest{Query: "arm holds kg", N: 9, ContextFilter: nil}),
			[]int64{first.MemoryID, first.MemoryID - 1})

		// Without a name it is another sighting.
		plain := do(t, s.Learn, &robotmem.LearnRequest{Insight: req.Insight, Tags: req.Tags})
		equal(t, "status without a name", plain.Status, "duplicate")
	}},
	{"ADuplicateIsAnsweredAgain", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, "the door opens inwards", nil)
		req := &robotmem.LearnRequest{Insight: "the door opens inwards", RequestID: "7"}
		first := do(t, s.Learn, req)
		equal(t, "status", first.Status, "duplicate")
		equal(t, "the answer to the same call", do(t, s.Learn, req), first)
		equal(t, "sightings", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Sightings, 2)
	}},
	{"AnotherCallNeedsAnotherName", func(t *testing.T, s robotmem.Service) {
		req := robotmem.LearnRequest{Insight: "the door opens inwards", RequestID: "7"}
		do(t, s.Learn, &req)
		other := req
		other.Insight = "the door opens outwards"
		refused(t, s.Learn, &other, robotmem.Conflict, "request_id", "another call")
		other = req
		other.Tags = []string{"door"}
		refused(t, s.Learn, &other, robotmem.Conflict, "request_id", "another call")
		refused(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: req.Insight, RequestID: "7"},
			robotmem.Conflict, "request_id", "another call")
		other.RequestID = strings.Repeat("7", 129)
		refused(t, s.Learn, &other, robotmem.Invalid, "request_id", "128")
		equal(t, "memories", len(recalled(t, s, &robotmem.RecallRequest{Query: "door opens", N: 9})), 1)
	}},
	{"AForgottenMemoryStaysForgotten", func(t *testing.T, s robotmem.Service) {
		req := &robotmem.LearnRequest{Insight: "the door opens inwards", RequestID: "7"}
		first := do(t, s.Learn, req)
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: first.MemoryID, Reason: "it does not"})
		equal(t, "the answer to the same call", do(t, s.Learn, req), first)
		equal(t, "memories", len(recalled(t, s, &robotmem.RecallRequest{Query: "door opens", N: 9})), 0)
	}},
	{"TheEpisodeMayHaveEnded", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "default")
		req := &robotmem.LearnRequest{Insight: "the door opens inwards", SessionID: session, RequestID: "7"}
		first := do(t, s.Learn, req)
		end(t, s, session)
		equal(t, "the answer to the same call", do(t, s.Learn, req), first)
	}},
	{"ItemsOfABatch", func(t *testing.T, s robotmem.Service) {
		req := &robotmem.LearnBatchRequest{KeepDuplicates: true, Items: []robotmem.LearnRequest{
			{Insight: "cell 1 is empty", RequestID: "a"}, {Insight: "cell 1 is empty", RequestID: "b"}, {
				Insight: "cell 1 is full", RequestID: "a",
			},
		}}
		for range 2 {
			res := do(t, s.LearnBatch, req).Results
			if res[0].Error != nil || res[1].Error != nil || res[0].MemoryID == res[1].MemoryID {
				t.Fatalf("got %+v, want two memories", res)
			}
			if res[2].Error == nil || res[2].Error.Kind != robotmem.Conflict || res[2].Error.Field != "request_id" {
				t.Errorf("got %+v for another item with the name of the first", res[2])
			}
		}
		equal(t, "memories", len(recalled(t, s, &robotmem.RecallRequest{Query: "cell", N: 9})), 2)
	}},
	{"APerceptionIsAnsweredAgain", func(t *testing.T, s robotmem.Service) {
		req := robotmem.SavePerceptionRequest{Description: "a grey square", DataBase64: grey(8, 8), RequestID: "7"}
		first := do(t, s.SavePerception, &req)
		equal(t, "the answer to the same call", do(t, s.SavePerception, &req), first)
		other := req
		other.DataBase64 = grey(9, 9)
		refused(t, s.SavePerception, &other, robotmem.Conflict, "request_id", "another call")
		do(t, s.SavePerception, &robotmem.SavePerceptionRequest{Description: "a grey square", DataBase64: grey(8, 8)})
		equal(t, "perceptions", len(recalled(t, s, &robotmem.RecallRequest{Query: "grey square", N: 9})), 2)
	}},
	{"AStreamIsAnsweredAgain", streaming(func(t *testing.T, s streamer) {
		data := noise(3 << 20) // a file of its own
		req := &robotmem.SavePerceptionRequest{Description: "noise of a motor", RequestID: "7"}
		first := saveFrom(t, s, req, bytes.NewReader(data))
		equal(t, "the answer to the same call", saveFrom(t, s, req, bytes.NewReader(data)), first)
		readsFrom(t, openData(t, s, first.MemoryID), "the payload", 0, 0, data)
		equal(t, "perceptions", len(recalled(t, s, &robotmem.RecallRequest{Query: "noise of a motor", N: 9})), 1)
	})},
}
