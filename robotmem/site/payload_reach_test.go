package site

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/fleet"
)

// foreignBytes is the payload of collection b.
const foreignBytes = "t," + marker + "-" + secret + "\n0,1.5\n0.1,9.8\n0.2,3"

// A tenant gets no bytes of another one by naming their SHA-256, whatever its token.
func TestASumGivesNoBytesOfAnotherTenant(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	thief := u.token(t, "south", TokenSpec{Name: "root", Role: "admin"})
	before := u.settled(t)

	for i, send := range []func(fleet.NumberedMemory) (int, string){
		func(m fleet.NumberedMemory) (int, string) { return u.post(t, thief, "push", u.push("spy", m)) },
		func(m fleet.NumberedMemory) (int, string) { return u.payload(t, thief, u.push("spy", m), "") },
	} {
		m := u.sensed("b", fmt.Sprintf("a force of mine %d", i), sumOf(foreignBytes), len(foreignBytes))
		status, answer := send(m)
		t.Logf("%d: answered %d %s", i, status, answer)
		for _, id := range []string{m.UID, fmt.Sprint(u.trace[1])} {
			if status, data := u.bytesOf(t, thief, id); status < 300 || strings.Contains(data, secret) {
				t.Errorf("%d: %s: %d %q", i, id, status, data)
			}
		}
	}
	for _, row := range u.settled(t).differs(before) {
		if strings.Contains(row, secret) || strings.HasPrefix(row, "- memories") {
			t.Errorf("it changed %s", row)
		}
	}
}

// A robot gets no bytes of a collection that it may not read by naming their SHA-256 in a memory of its own.
func TestASumGivesNoBytes(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	thief := u.token(t, "north", TokenSpec{Name: "thief", Role: "robot", Robot: ownRobot, Collections: []string{"a", "a2"}})
	foreign := foreignBytes
	sum := sumOf(foreign)
	if _, data := u.bytesOf(t, u.token(t, "north", TokenSpec{Name: "eye", Role: "operator"}), fmt.Sprint(u.trace[1])); data != foreign {
		t.Fatalf("the payload of b is %q", data)
	}

	check := func(name string, m *fleet.NumberedMemory, push func() (int, string)) {
		t.Run(name, func(t *testing.T) {
			_, answer := push()
			if strings.Contains(answer, secret) {
				t.Errorf("the answer has the bytes: %s", answer)
			}
			_, found := send(t, thief, "GET", u.url+"/api/memory/"+m.UID, "")
			var got struct {
				MemoryID int64 `json:"memory_id"`
			}
			_ = json.Unmarshal([]byte(found), &got)
			for _, path := range []string{"data", "samples", "preview"} {
				status, data := u.read(t, thief, fmt.Sprintf("/api/memory/%d/%s", got.MemoryID, path))
				if status < 300 || strings.Contains(data, secret) {
					t.Errorf("%s of the memory of the thief: %d %q (memory %s, answered %s)", path, status, data, found, answer)
				}
			}
		})
	}

	for i, lost := range []bool{false, true} {
		m := u.sensed("a", fmt.Sprintf("a force of mine %d", i), sum, len(foreign))
		m.Payload.Lost = lost
		check(fmt.Sprintf("a push, lost %v", lost), &m, func() (int, string) {
			return u.post(t, thief, "push", u.push(ownRobot, m))
		})
	}

	// The bytes are announced and not sent.
	for name, data := range map[string]string{"no bytes": "", "other bytes": strings.Repeat("x", len(foreign)), "fewer bytes": foreign[:4]} {
		m := u.sensed("a", "announced with "+name, sum, len(foreign))
		check("a payload with "+name, &m, func() (int, string) { return u.payload(t, thief, u.push(ownRobot, m), data) })
	}
	m := u.sensed("a", "announced with no size", sum, 0)
	check("a payload of no size", &m, func() (int, string) { return u.payload(t, thief, u.push(ownRobot, m), "") })
}

// The answer to a push does not say whether a payload is there that the robot may not read.
func TestASumIsNoQuestion(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	thief := u.token(t, "north", TokenSpec{Name: "thief", Role: "robot", Robot: ownRobot, Collections: []string{"a", "a2"}})
	foreign := foreignBytes

	wanted := func(sum string) bool {
		t.Helper()
		status, answer := u.post(t, thief, "push", u.push(ownRobot, u.sensed("a", "a force "+sum[:8], sum, len(foreign))))
		var ack fleet.PushResponse
		if err := json.Unmarshal([]byte(answer), &ack); err != nil || status != 200 {
			t.Fatal(status, answer, err)
		}
		return len(ack.Wanted) == 1
	}
	there, absent := wanted(sumOf(foreign)), wanted(sumOf("bytes that nobody has stored"))
	if there != absent {
		t.Errorf("the site asks for bytes that it has: %v, for those that it has not: %v", there, absent)
	}

	// Who has the bytes may send them, and reads them then.
	m := u.sensed("a", "a force that I have sensed, too", sumOf(foreign), len(foreign))
	if status, answer := u.post(t, thief, "push", u.push(ownRobot, m)); status != 200 {
		t.Fatal(status, answer)
	}
	if status, answer := u.payload(t, thief, u.push(ownRobot, m), foreign); status != 200 {
		t.Fatal(status, answer)
	}
	_, found := send(t, thief, "GET", u.url+"/api/memory/"+m.UID, "")
	var got struct {
		MemoryID int64 `json:"memory_id"`
	}
	_ = json.Unmarshal([]byte(found), &got)
	if status, data := u.bytesOf(t, thief, fmt.Sprint(got.MemoryID)); status != 200 || data != foreign {
		t.Errorf("the bytes that it has sent: %d %q", status, data)
	}
}
