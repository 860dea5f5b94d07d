package robotmemtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

var auditCases = []testCase{
	{"ChangesAreOnRecord", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)
		do(t, s.Update, &robotmem.UpdateRequest{MemoryID: id, NewContent: slip})
		do(t, s.Pin, &admin.PinRequest{MemoryID: id})
		do(t, s.Pin, &admin.PinRequest{MemoryID: id}) // changes nothing
		do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "measured wrongly"})
		do(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id})

		var got []string
		for _, e := range do(t, s.Audit, &admin.AuditRequest{MemoryID: id}).Entries {
			got = append(got, fmt.Sprintf("%s %s %.4s %.4s", e.Action, e.Reason, e.Before, e.After))
		}

		was, is := hashOf(grip), hashOf(slip)
		equal(t, "audit", got, []string{
			"restored   " + is, "forgotten measured wrongly " + is + " ", "pinned   ", "updated  " + was + " " + is,
		})
		if log := do(t, s.Audit, &admin.AuditRequest{Action: "pinned"}); len(log.Entries) != 1 ||
			log.Entries[0].MemoryID != id {
			t.Errorf("pinned: %+v", log.Entries)
		}

		refused(t, s.Audit, &admin.AuditRequest{Action: "stolen"}, robotmem.Invalid, "action")
	}},
	{"TiersChangeWithAReason", func(t *testing.T, s robotmem.Service) {
		id := learn(t, s, grip, nil)

		episode := func(outcome string) {
			session := do(t, s.StartSession, &robotmem.StartSessionRequest{}).SessionID
			do(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session, Outcome: outcome, UsedMemoryIDs: []int64{id}})
		}
		for range 4 {
			episode("success")
		}
		equal(t, "tier", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Tier, "proven")

		for range 12 {
			episode("failure")
		}
		equal(t, "tier", do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}).Tier, "suspect")

		var got []string

		for _, e := range do(t, s.Audit, &admin.AuditRequest{MemoryID: id}).Entries {
			if e.Action == "promoted" || e.Action == "demoted" {
				tiers, _, _ := strings.Cut(e.Reason, ",")
				got = append(got, e.Action+" "+tiers)
			}
		}
		equal(t, "audit", got, []string{
			"demoted mixed to suspect: used 9 times", "demoted proven to mixed: used 5 times",
			"promoted new to proven: used 3 times",
		})

		kept := do(t, s.Recall, &robotmem.RecallRequest{ContextFilter: object{"tier": "suspect"}, Collection: "*"})
		if len(kept.Memories) != 1 || kept.Memories[0].MemoryID != id {
			t.Errorf("filter by tier: got %+v", kept.Memories)
		}
	}},
	{"AuditPages", func(t *testing.T, s robotmem.Service) {
		for i := range 5 {
			id := learn(t, s, fmt.Sprintf("shelf %d is empty", i), nil)
			do(t, s.Forget, &robotmem.ForgetRequest{MemoryID: id, Reason: "filled"})
		}

		var got []int64

		for r := (admin.AuditRequest{Limit: 2}); ; {
			page := do(t, s.Audit, &r)
			for _, e := range page.Entries {
				got = append(got, e.MemoryID)
			}
			if r.Cursor = page.Next; r.Cursor == "" {
				break
			}
		}
		equal(t, "newest first", got, []int64{5, 4, 3, 2, 1})
		refused(t, s.Audit, &admin.AuditRequest{Cursor: "x"}, robotmem.Invalid, "cursor")
	}},
	{"MemoriesSayWhereTheyAreFrom", func(t *testing.T, s robotmem.Service) {
		session := do(t, s.StartSession,
			&robotmem.StartSessionRequest{Context: robotmem.Object{"robot": object{"id": "arm-7"}}}).SessionID
		own := learn(t, s, grip, robotmem.Object{"robot": object{"name": "arm-8\u202e\n"}})

		theirs := do(t, s.Learn, &robotmem.LearnRequest{Insight: slip, SessionID: session}).MemoryID
		for id, robot := range map[int64]string{own: "arm-8", theirs: "arm-7"} {
			m := do(t, s.Get, &robotmem.MemoryRequest{MemoryID: id})
			if m.Provenance == nil || m.Provenance.Robot != robot || m.Provenance.Tool == "" {
				t.Errorf("memory %d is from %+v, want robot %s and a tool", id, m.Provenance, robot)
			}
		}
	}},
	{"Purge", func(t *testing.T, s robotmem.Service) {
		id, other := learn(t, s, grip, nil), learn(t, s, slip, nil)
		res, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "asked for", Purge: true})
		if err != nil && strings.Contains(err.Error(), "not offered to models") {
			t.Skip(err)
		}
		if err != nil || res.Status != "purged" || res.Purged == nil || res.Content != "" {
			t.Fatalf("got %+v, %v", res, err)
		}

		refused(t, s.Get, &robotmem.MemoryRequest{MemoryID: id}, robotmem.NotFound, "memory_id", "purged at")
		refused(t, s.Restore, &robotmem.MemoryRequest{MemoryID: id}, robotmem.NotFound, "memory_id")
		refused(t, s.History, &robotmem.MemoryRequest{MemoryID: id}, robotmem.NotFound, "memory_id")

		for _, m := range do(t, s.Recall, &robotmem.RecallRequest{Query: grip + " " + slip}).Memories {
			if m.MemoryID != other {
				t.Errorf("recall finds %d", m.MemoryID)
			}
		}

		if next := learn(t, s, grip, nil); next <= other {
			t.Errorf("id %d was given again", next)
		}
	}},
}

// hashOf returns the first digits of a text's hash in the audit log.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:4]
}
