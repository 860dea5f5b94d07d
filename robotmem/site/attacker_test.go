package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
)

// face is a way to call an operation with the token of a robot. It returns the answer, and whether it was refused.
type face struct {
	name string
	call func(t *testing.T, op *robotmem.Op, request string) (answer string, refused bool)
}

func (u *underAttack) faces(token string) []face {
	return []face{
		{"REST", func(t *testing.T, op *robotmem.Op, request string) (string, bool) {
			return u.callREST(t, token, op, request)
		}},
		{"MCP", func(t *testing.T, op *robotmem.Op, request string) (string, bool) {
			status, answer := send(t, token, "POST", u.url+"/mcp", fmt.Sprintf(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, op.Name, request))
			return answer, status != 200 || strings.Contains(answer, `"isError":true`) || strings.Contains(answer, `"error":`)
		}},
	}
}

// callREST calls an operation with its fields in the path, the query and the body.
func (u *underAttack) callREST(t *testing.T, token string, op *robotmem.Op, request string) (answer string, refused bool) {
	t.Helper()
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(request), &fields); err != nil {
		t.Fatal(request, err)
	}
	path, query := op.Path(), url.Values{}
	for name, value := range fields {
		text := string(value)
		_ = json.Unmarshal(value, &text) // a number or an object stays as it is
		if strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
			delete(fields, name)
		} else if op.Method() == http.MethodGet {
			query.Set(name, text)
		}
	}
	body := ""
	if op.Method() != http.MethodGet {
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		body = string(data)
	} else if len(query) > 0 {
		path += "?" + query.Encode()
	}
	status, answer := send(t, token, op.Method(), u.url+path, body)
	if status >= 500 {
		t.Errorf("%s %s: %d %s", op.Name, request, status, answer)
	}

	return answer, status >= 400
}

// targets are what the requests of the table name.
type targets struct {
	fact, trace, gone    any // numbers or uids
	session, openSession string
}

// request fills a request of the table. What is the attacker's own stays.
func (u *underAttack) request(form string, of targets) string {
	form = strings.TrimLeft(form, "=+")
	for verb, id := range map[string]any{"%[1]d": of.fact, "%[2]d": of.trace, "%[4]d": of.gone} {
		text, err := json.Marshal(id)
		if err != nil {
			panic(err)
		}
		// A key of an object has its own quotes.
		form = strings.ReplaceAll(form, `"`+verb+`"`, fmt.Sprintf("%q", fmt.Sprint(id)))
		form = strings.ReplaceAll(form, verb, string(text))
	}
	return fmt.Sprintf(form+"%[8]s", 0, 0, of.session, 0, of.openSession, u.openSession[0], u.crowd.fact[0], "")
}

var (
	spentTime  = regexp.MustCompile(`(query_ms\\?":) ?[0-9.]+|"request_id":"[^"]*"|"took[a-z_]*":[0-9.]+`)
	anonymized = "?"
)

// anonymous takes away from an answer what differs between two calls of one kind.
func (of targets) anonymous(answer string) string {
	answer = spentTime.ReplaceAllString(answer, "$1"+anonymized)
	for _, id := range []any{of.session, of.openSession, of.fact, of.trace, of.gone} {
		answer = regexp.MustCompile(`\b`+regexp.QuoteMeta(fmt.Sprint(id))+`\b`).ReplaceAllString(answer, anonymized)
	}
	return answer
}

// An attacker with the token of a robot calls every operation with what it has heard of: numbers, uids and episodes of
// another collection and of another tenant. It changes nothing, and is answered as if there were no such thing.
func TestAnAttackerReachesNothing(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	o := u.populate(t)
	token := u.token(t, "north", TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}})
	uidOf := func(id int64) string {
		m, err := u.guard.Get(u.b, &robotmem.MemoryRequest{MemoryID: id})
		if err != nil {
			t.Fatal(err)
		}
		return m.UID
	}

	absentIDs := targets{900_001, 900_002, 900_003, uuid.NewString(), "xenophonium-open"}
	absentUIDs := targets{uuid.Must(uuid.NewV7()).String(), uuid.Must(uuid.NewV7()).String(), uuid.Must(uuid.NewV7()).String(), uuid.NewString(), "xenophonium-open"}
	pairs := []struct {
		name       string
		of, absent targets
	}{
		{"numbers of another collection", targets{u.crowd.fact[1], u.crowd.trace[1], u.gone[1], u.session[1], u.openSession[1]}, absentIDs},
		{"uids of another collection", targets{uidOf(u.crowd.fact[1]), uidOf(u.crowd.trace[1]), uidOf(u.gone[1]), u.session[1], u.openSession[1]}, absentUIDs},
		{"uids of another tenant", targets{o.south, o.south, o.south, o.southSession, o.southSession}, absentUIDs},
	}

	tools := map[string]bool{}
	_, list := send(t, token, "POST", u.url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, op := range robotmem.Ops() {
		tools[op.Name] = strings.Contains(list, `"name":"`+op.Name+`"`)
	}
	if !tools["learn"] || !tools["recall"] {
		t.Fatal(list)
	}

	before := u.settled(t)
	for _, face := range u.faces(token) {
		for _, op := range robotmem.Ops() {
			if face.name == "MCP" && !tools[op.Name] {
				continue
			}
			tried := 0
			for _, form := range reach[op.Name] {
				names := strings.Contains(form, "%[1]d") || strings.Contains(form, "%[2]d") || strings.Contains(form, "%[3]q") ||
					strings.Contains(form, "%[4]d") || strings.Contains(form, "%[5]q")
				// A right of the robot that names nothing of others is tested elsewhere, and has effects.
				if strings.HasPrefix(form, "=") && (!names || !op.Hints.ReadOnly) || strings.Contains(form, "%064[1]d") {
					continue
				}
				for _, pair := range pairs {
					// An id of another tenant is free here.
					if op.Name == "start_session" && pair.name == "uids of another tenant" {
						continue
					}
					request := u.request(form, pair.of)
					answer, no := face.call(t, op, request)
					tried++
					if !no && !strings.HasPrefix(form, "=") && !strings.HasPrefix(pair.name, "uids of another tenant") {
						t.Errorf("%s: %s: %s %s: answered %s", face.name, pair.name, op.Name, request, answer)
					}
					for _, word := range []string{secret, marker + " ", "s-robot", "b-robot"} {
						if strings.Contains(answer, word) && !strings.Contains(request, strings.TrimSpace(word)) {
							t.Errorf("%s: %s: %s %s: the answer says %q: %s", face.name, pair.name, op.Name, request, word, answer)
						}
					}

					// An episode that is to begin may take any id that is free, so it must say which is not.
					if !names || op.Name == "start_session" {
						continue
					}
					other, _ := face.call(t, op, u.request(form, pair.absent))
					if got, want := pair.of.anonymous(answer), pair.absent.anonymous(other); got != want {
						t.Errorf("%s: %s: %s %s tells from an absent one:\n%s\n%s", face.name, pair.name, op.Name, request, got, want)
					}
				}
			}
			if tried == 0 {
				continue
			}
			if now := u.rows(t); len(now.without(op.Hints.ReadOnly).differs(before.without(op.Hints.ReadOnly))) > 0 {
				t.Errorf("%s: %s had an effect:\n%s", face.name, op.Name, strings.Join(now.differs(before), "\n"))
				before = now
			}
		}
	}
}

// without leaves out what counts the questions of a robot, which are its right.
func (r rows) without(reads bool) rows {
	if !reads {
		return r
	}
	out := rows{}
	for table, all := range r {
		if table != "counters" && table != "recall_hours" && table != "zero_hits" {
			out[table] = all
		}
	}
	return out
}

// A mate reads what is in its collection. It neither changes nor takes over what another robot has there.
func TestAMateChangesNothing(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	o := u.populate(t)
	token := u.token(t, "north", TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}})
	requests := map[string][]string{
		"forget":          {fmt.Sprintf(`{"memory_id":%q,"reason":"x"}`, o.mate), fmt.Sprintf(`{"memory_id":%q,"reason":"x","purge":true}`, o.mateSent)},
		"update":          {fmt.Sprintf(`{"memory_id":%q,"new_content":"mine"}`, o.mate), fmt.Sprintf(`{"memory_id":%q,"new_content":"mine"}`, o.mateSent)},
		"pin":             {fmt.Sprintf(`{"memory_id":%q}`, o.mate)},
		"restore":         {fmt.Sprintf(`{"memory_id":%q}`, o.mate)},
		"learn":           {fmt.Sprintf(`{"insight":"x y z","collection":"a","session_id":%q}`, o.mateSession), fmt.Sprintf(`{"insight":"x y z","collection":"a","session_id":%q}`, o.freeSession)},
		"learn_batch":     {fmt.Sprintf(`{"items":[{"insight":"x y z","collection":"a"},{"insight":"x y z","collection":"a","session_id":%q}]}`, o.mateSession)},
		"save_perception": {fmt.Sprintf(`{"description":"a force","data":"t,f","collection":"a","session_id":%q}`, o.mateSession)},
		"start_session":   {fmt.Sprintf(`{"session_id":%q,"collection":"a"}`, o.mateSession), fmt.Sprintf(`{"session_id":%q,"collection":"a"}`, o.freeSession), fmt.Sprintf(`{"session_id":%q,"collection":"a2"}`, o.mateSession)},
		"end_session":     {fmt.Sprintf(`{"session_id":%q,"outcome":"failure"}`, o.mateSession), fmt.Sprintf(`{"session_id":%q,"outcome":"failure"}`, o.freeSession)},
		"recall":          {fmt.Sprintf(`{"query":"mate","collection":"a","for_session":%q}`, o.mateSession)},
		"save_document":   {fmt.Sprintf(`{"name":"mate.pdf","sha256":"%064d","passages":[{"text":"mine"}],"collection":"a"}`, 8)},
		"remove_document": {`{"name":"mate.pdf","collection":"a"}`},
		"doctor":          {`{}`},
		"repair":          {`{}`},
		"retain":          {`{"budgets":[{"collection":"a","max_bytes":1}],"apply":true}`},
	}
	before := u.settled(t)
	for _, face := range u.faces(token) {
		for _, op := range robotmem.Ops() {
			for _, request := range requests[op.Name] {
				if answer, no := face.call(t, op, request); !no {
					t.Errorf("%s: %s %s: answered %s", face.name, op.Name, request, answer)
				}
				before = u.unchanged(t, before)
			}
		}
	}
	if m, err := u.guard.Get(u.a, &robotmem.MemoryRequest{MemoryID: u.crowd.fact[0]}); err != nil || m.Status != "active" {
		t.Error(m, err)
	}
}

// allocated runs f and returns what the process has allocated meanwhile, in MiB.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return (b.TotalAlloc - a.TotalAlloc) >> 20
}

// What is malformed, too large or out of range is refused, without effect, without an error of the site, and without
// taking more memory than some copies of the largest request.
func TestFloodsAreRefused(t *testing.T) {
	u := newAttack(t)
	token := u.token(t, "north", TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}})
	head := fmt.Sprintf(`{"protocol":%d,"replica":%q,"robot":%q,`, fleet.Protocol, u.replica(ownRobot), ownRobot)
	memory := func(change func(map[string]any)) string {
		m := u.told("a", "a fact of a flood "+uuid.NewString())
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{}
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		change(fields)
		if data, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		return head + `"upto":1,"memories":[` + string(data) + "]}"
	}
	set := func(name string, value any) string {
		return memory(func(m map[string]any) {
			if at, field, ok := strings.Cut(name, "."); ok {
				m[at] = map[string]any{field: value}
			} else {
				m[name] = value
			}
		})
	}
	raw := func(field, value string) string {
		return strings.Replace(set(field, "~"), `"~"`, value, 1)
	}
	times := func(text string, n int) string { return strings.Repeat(text, n) }
	list := func(name, item string, n int) string {
		return head + `"` + name + `":[` + strings.TrimSuffix(times(item+",", n), ",") + "]}"
	}
	cursors := &strings.Builder{}
	for i := range 100_000 {
		fmt.Fprintf(cursors, `"feed-%d":{"n":1},`, i)
	}

	const deep, many = 100_000, 50_000
	for _, f := range []struct {
		name, call, body string
		gzip             bool
	}{
		{"a body that unpacks to a gigabyte", "push", head + `"link":"` + times("A", 200<<20) + `"}`, true},
		{"a hello that unpacks to a gigabyte", "hello", head + `"version":"` + times("A", 200<<20) + `"}`, true},
		{"a body that is no gzip", "push", "nothing", true},
		{"a body over the limit", "push", head + `"link":"` + times("A", 2<<20) + `"}`, false},
		{"many memories", "push", list("memories", "{}", 6*many), true},
		{"many uids to purge", "push", list("purged", `"`+uuid.NewString()+`"`, many), true},
		{"many links", "push", list("links", `{"memory":"x"}`, many), true},
		{"many credits", "push", list("credits", `{"uid":"x"}`, many), true},
		{"many episodes", "push", list("sessions", `{}`, 6*many), true},
		{"many past states", "push", list("past", `{}`, many), true},
		{"many collections", "pull", list("subscribe", `"a"`, many), true},
		{"many cursors", "pull", head + `"cursors":{` + strings.TrimSuffix(cursors.String(), ",") + "}}", true},
		{"deep JSON", "push", head + `"memories":[` + times("[", deep) + times("]", deep) + "]}", false},
		{"a deep context", "push", raw("context", times(`{"a":`, deep)+"1"+times("}", deep)), false},
		{"a deep context within the limits of JSON", "push", raw("context", times(`{"a":`, 5000)+"1"+times("}", 5000)), false},
		{"null", "push", "null", false},
		{"a list", "push", "[]", false},
		{"a number", "hello", "7", false},
		{"nothing", "hello", "", false},
		{"another protocol", "hello", strings.Replace(head, fmt.Sprintf(`"protocol":%d`, fleet.Protocol), `"protocol":-1`, 1) + `"x":1}`, false},
		{"an unknown field", "hello", head + `"admin":true}`, false},
		{"NaN", "push", raw("confidence", "NaN"), false},
		{"infinity", "push", raw("confidence", "1e999"), false},
		{"a negative confidence", "push", set("confidence", -0.5), false},
		{"a confidence over 1", "push", set("decay_rate", 7), false},
		{"a number that is no integer", "push", raw("counter", "1.5"), false},
		{"a counter of 40 digits", "push", raw("counter", times("9", 40)), false},
		{"an upto of 40 digits", "push", head + `"upto":` + times("9", 40) + "}", false},
		{"negative sightings", "push", set("sightings", -1), false},
		{"a negative version", "push", set("version", -1), false},
		{"negative uses", "push", set("extra.uses", -5), false},
		{"endless uses", "push", set("extra.successes", 1e308), false},
		{"more successes than uses", "push", set("extra.successes", 5), false},
		{"the year 9999", "push", set("observed_at", "9999-12-31T23:59:59Z"), false},
		{"the year 10000", "push", set("updated_at", "10000-01-01T00:00:00Z"), false},
		{"the year 0", "push", set("observed_at", "0000-01-01T00:00:00Z"), false},
		{"a time that is none", "push", set("created_at", "yesterday"), false},
		{"a change of the year 9999", "push", set("updated_at", "9999-12-31T23:59:59Z"), false},
		{"no uid", "push", set("uid", ""), false},
		{"a uid that is none", "push", set("uid", "' OR 1=1 --"), false},
		{"no text", "push", set("content", " \n"), false},
		{"a text with a null", "push", set("content", "a\x00b"), false},
		{"a text over the limit", "push", set("content", times("a", 20_000)), false},
		{"a type of nothing", "push", set("type", "rule"), false},
		{"a status of nothing", "push", set("status", "purged"), false},
		{"a sum that is none", "push", set("payload", map[string]any{"sha256": "../../etc/passwd", "bytes": 3}), false},
		{"a negative payload", "push", set("payload", map[string]any{"sha256": sumOf("x"), "bytes": -3}), false},
		{"a tag with a null", "push", set("user_tags", []string{"a\x00b"}), false},
		{"credit beyond 1", "push", head + `"credits":[{"uid":"x","session_id":"y","helped":2}]}`, false},
		{"a replica without a name", "hello", strings.Replace(head, u.replica(ownRobot), "", 1) + `"version":"1"}`, false},
		{"a replica with a null", "hello", strings.Replace(head, u.replica(ownRobot), `a\u0000b`, 1) + `"version":"1"}`, false},
		{"a replica with a long name", "hello", strings.Replace(head, u.replica(ownRobot), noise(100_000), 1) + `"version":"1"}`, false},
		{"a replica of another form", "hello", strings.Replace(head, u.replica(ownRobot), `../a b`, 1) + `"version":"1"}`, false},
		{"a version with a null", "hello", head + `"version":"a\u0000b"}`, false},
		{"a payload without a line", "payload", times("x", 3<<20), false},
		{"a payload of nothing", "payload", "\n\n\n", false},
		{"a payload of two memories", "payload", head + `"memories":[{},{}]}` + "\nabc", false},
		{"a payload of 4 EiB", "payload", memory(func(m map[string]any) {
			m["type"], m["payload"] = "perception", map[string]any{"sha256": sumOf("abc"), "bytes": int64(1) << 62}
		}) + "\nabc", false},
		{"a payload of other bytes", "payload", memory(func(m map[string]any) {
			m["type"], m["payload"] = "perception", map[string]any{"sha256": sumOf("abc"), "bytes": 3}
		}) + "\nxyz", false},
		{"a payload with more bytes than it says", "payload", memory(func(m map[string]any) {
			m["type"], m["payload"] = "perception", map[string]any{"sha256": sumOf("abcdef"), "bytes": 3}
		}) + "\nabcdef", false},
	} {
		t.Run(f.name, func(t *testing.T) {
			before := u.settled(t)
			body, encoding := []byte(f.body), ""
			if f.gzip {
				encoding = "gzip"
				if f.body != "nothing" {
					body = gzipped(t, body)
				}
			}

			var (
				status int
				answer string
			)
			taken := allocated(func() { status, answer = u.postBytes(t, token, f.call, body, encoding) })
			named := status == 200 && strings.Contains(answer, `"refused":[{`) && !strings.Contains(answer, `"created":1`)
			if status != 400 && status != 403 && status != 409 && status != 413 && !named {
				t.Errorf("answered %d %.500s", status, answer)
			}
			if taken > 200 {
				t.Errorf("a request of %d bytes takes %d MiB", len(body), taken)
			}
			if strings.Contains(answer, "SQLSTATE") || strings.Contains(answer, "goroutine") || bytes.Contains([]byte(answer), []byte("/tmp/")) {
				t.Errorf("the answer says how the site works: %.500s", answer)
			}
			u.unchanged(t, before)
		})
	}
}
