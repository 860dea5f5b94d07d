package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// lived returns a node with every kind of record that a node can hold.
func lived(t *testing.T) *Engine {
	t.Helper()
	ctx, e := t.Context(), openTest(t, Options{})
	worth := hoard(t, e)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pinned := true
	fact, err := e.Learn(ctx, &robotmem.LearnRequest{
		Insight: "the lid turns at 3.50 Nm <b>&\u2028 数字 12.50", Context: exact(t, `{"params":{"torque":3.50,"big":12345678901234567890,"small":1e-7}}`),
		Collection: "lab", Tags: []string{"lid", "torque"}, Pinned: &pinned, Source: "a test",
	})
	must(err)
	_, err = e.Update(ctx, &robotmem.UpdateRequest{MemoryID: fact.MemoryID, NewContent: "the lid turns at 3.75 Nm"})
	must(err)
	_, err = e.Learn(ctx, &robotmem.LearnRequest{Insight: "the lid turns at 3.75 Nm", Collection: "lab", Context: exact(t, `{"params":{"torque":3.50,"big":12345678901234567890,"small":1e-7}}`)})
	must(err)
	score := 0.25
	s, err := e.StartSession(ctx, &robotmem.StartSessionRequest{Collection: "lab", Origin: "run 7", Context: exact(t, `{"task":{"name":"open"},"n":1.0}`)})
	must(err)
	for _, text := range []string{"the drawer sticks at the left rail", "the drawer sticks at the left rail again", "the drawer sticks at the old left rail"} {
		_, err := e.LearnBatch(ctx, &robotmem.LearnBatchRequest{KeepDuplicates: true, Items: []robotmem.LearnRequest{{Insight: text, SessionID: s.SessionID}}})
		must(err)
	}
	p, err := e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: "force at the wrist", PerceptionType: "tactile", SessionID: s.SessionID, Data: "t,fx\n0,1\n1,2\n", MediaType: "text/csv", Metadata: exact(t, `{"rate_hz":1000.0}`), Origin: "topic/1"})
	must(err)
	must(e.Store.Write(ctx, func(tx *store.Tx) error {
		return tx.CountStream(s.SessionID, "lab", recorder.SourceCount{Source: "wrist", Received: 9, Stored: 7, Dropped: 2, Bytes: 99})
	}))
	_, err = e.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: []int64{fact.MemoryID, p.MemoryID}})
	must(err)
	open, err := e.StartSession(ctx, &robotmem.StartSessionRequest{Collection: "lab"})
	must(err)
	for _, session := range []string{"", open.SessionID} {
		_, err = e.Learn(ctx, &robotmem.LearnRequest{Insight: "the hinge squeaks", Collection: "lab", SessionID: session})
		must(err)
	}
	_, err = e.Recall(ctx, &robotmem.RecallRequest{Query: "drawer", Collection: "lab", ForSession: open.SessionID})
	must(err)
	_, err = e.Restore(ctx, &robotmem.MemoryRequest{MemoryID: worth["forgotten"]})
	must(err)
	_, err = e.Forget(ctx, &robotmem.ForgetRequest{MemoryID: worth["forgotten"], Reason: "still a mistake"})
	must(err)
	res, err := e.Retain(ctx, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1_500_000}}, Apply: true})
	must(err)
	if res.Count == 0 {
		t.Fatal("nothing was evicted")
	}
	return e
}

// exact returns a context with its numbers as spelled in JSON.
func exact(t *testing.T, text string) robotmem.Object {
	t.Helper()
	var o robotmem.Object
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}

func hashes(t *testing.T, e *Engine) string {
	t.Helper()
	var list hashList
	if _, err := e.Export(t.Context(), &list, archive.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// hashList is a sink that lists the content hash of every record and payload, one a line.
type hashList struct{ bytes.Buffer }

func (h *hashList) Begin(*archive.Manifest) error { return nil }

func (h *hashList) Close() error { return nil }

func (h *hashList) Session(s *archive.Session) error { return h.line(s, "session "+s.SessionID) }

func (h *hashList) Memory(m *archive.Memory, b *archive.Bytes) error {
	if b != nil && b.First {
		fmt.Fprintf(h, "%s  payload %d\n", m.Payload.SHA256, m.Payload.Bytes)
	}
	return h.line(m, "memory "+m.UID)
}

func (h *hashList) Link(l *archive.Link) error {
	data, err := robotmem.EncodeJSON(l)
	fmt.Fprintf(h, "%s  link\n", data)
	return err
}

func (h *hashList) line(record interface{ Hash() (string, error) }, name string) error {
	sum, err := record.Hash()
	fmt.Fprintf(h, "%s  %s\n", sum, name)
	return err
}

func exported(t *testing.T, e *Engine, o archive.ExportOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := e.Export(t.Context(), archive.NewWriter(&b, false), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func imported(t *testing.T, e *Engine, data []byte, o archive.ImportOptions) (*archive.ImportReport, error) {
	t.Helper()
	r, err := archive.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return e.Import(t.Context(), r, o)
}

// InStep fails the test unless the indexes equal the tables.
func inStep(t *testing.T, e *Engine) {
	t.Helper()
	res, err := e.Doctor(t.Context(), &admin.DoctorRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Checks {
		if c.Status != "ok" && c.Name != "likeness" && c.Name != "embedder" && c.Name != "zero-hit rate" {
			t.Errorf("doctor: %s is %s: %s", c.Name, c.Status, c.Detail)
		}
	}
}

func TestArchiveLosesNothing(t *testing.T) {
	t.Parallel()
	a, b := lived(t), openTest(t, Options{})
	want := hashes(t, a)
	for _, part := range []string{"  session ", "  memory ", "  payload ", "  link\n"} {
		if !strings.Contains(want, part) {
			t.Fatalf("the node holds no%s", part)
		}
	}
	data := exported(t, a, archive.ExportOptions{})
	for _, state := range []string{`"status":"superseded"`, `"status":"invalidated"`, `"evictions":[`, `"versions":[`, `"user_tags":[`, `"streams":[`, `"origin":"run 7"`, `"origin":"topic/1"`, `12345678901234567890`, `"torque":3.50`, `"used":true`, `"sightings":2`, `"seen":"`} {
		if !bytes.Contains(data, []byte(state)) {
			t.Errorf("the archive holds no %s", state)
		}
	}
	res, err := imported(t, b, data, archive.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Memories.Created == 0 || res.Payloads.Missing != 0 || res.Links.Dangling != 0 {
		t.Errorf("report %+v", res)
	}
	if diff := cmp.Diff(want, hashes(t, b)); diff != "" {
		t.Errorf("the copy differs (-original +copy):\n%s", diff)
	}
	inStep(t, b)
	again, err := imported(t, b, data, archive.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Memories.Created+again.Memories.Updated+again.Memories.Kept != 0 || again.Sessions.Created+again.Sessions.Updated != 0 || again.Payloads.Stored != 0 {
		t.Errorf("the second import stored something: %+v", again)
	}
	if diff := cmp.Diff(want, hashes(t, b)); diff != "" {
		t.Errorf("the second import changed something:\n%s", diff)
	}
	if diff := cmp.Diff(strings.Split(string(data), "\n")[1:3], strings.Split(string(exported(t, b, archive.ExportOptions{})), "\n")[1:3]); diff == "" {
		t.Error("two archives of different moments have the same manifest")
	}
}

func TestArchiveIntoAUsedNode(t *testing.T) {
	t.Parallel()
	ctx, a, b := t.Context(), lived(t), openTest(t, Options{})
	if _, err := b.Learn(ctx, &robotmem.LearnRequest{Insight: "this node knows the door at 40 cm"}); err != nil {
		t.Fatal(err)
	}
	if _, err := imported(t, b, exported(t, a, archive.ExportOptions{}), archive.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := a.List(ctx, &robotmem.ListRequest{Collection: "lab", Type: "fact", Limit: 100})
	if err != nil || len(list.Memories) < 2 {
		t.Fatal(err, len(list.Memories))
	}
	newer, older := list.Memories[0], list.Memories[len(list.Memories)-1]
	idIn := func(e *Engine, uid string) (id int64) {
		t.Helper()
		if err := e.Store.Read(ctx, func(c *store.Conn) (err error) { id, err = c.IDOf(uid); return err }); err != nil || id == 0 {
			t.Fatal(uid, id, err)
		}
		return id
	}
	update := func(e *Engine, uid, text string) {
		t.Helper()
		if _, err := e.Update(ctx, &robotmem.UpdateRequest{MemoryID: idIn(e, uid), NewContent: text}); err != nil {
			t.Fatal(err)
		}
	}
	update(b, newer.UID, "what b said before at 1 N")
	update(a, newer.UID, "what a says now at 7 N")
	update(a, older.UID, "what a said before at 2 N")
	update(b, older.UID, "what b says now at 9 N")
	res, err := imported(t, b, exported(t, a, archive.ExportOptions{}), archive.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Memories.Updated != 1 || res.Memories.Kept != 1 || res.Memories.Created != 0 {
		t.Errorf("report %+v", res.Memories)
	}
	for uid, want := range map[string]string{newer.UID: "what a says now at 7 N", older.UID: "what b says now at 9 N"} {
		m, err := b.Get(ctx, &robotmem.MemoryRequest{MemoryID: idIn(b, uid)})
		if err != nil || m.Content != want {
			t.Errorf("%s says %q (%v), want %q", uid, m.Content, err, want)
		}
	}
	h, err := b.History(ctx, &robotmem.MemoryRequest{MemoryID: idIn(b, newer.UID)})
	if err != nil || !slices.ContainsFunc(h.Versions, func(v robotmem.Version) bool { return v.Content == "what b said before at 1 N" }) {
		t.Errorf("what this node said is not in the history: %+v (%v)", h, err)
	}
	if _, ids := recalled(t, b, &robotmem.RecallRequest{Query: "a says now 7 N", Collection: "lab", N: 1}); !slices.Equal(ids, []int64{idIn(b, newer.UID)}) {
		t.Errorf("recall finds %v", ids)
	}
	inStep(t, b)
}

func TestArchiveNarrowedAndMapped(t *testing.T) {
	t.Parallel()
	a, b := lived(t), openTest(t, Options{})
	data := exported(t, a, archive.ExportOptions{Collection: "lab"})
	if bytes.Contains(data, []byte(`"collection":"default"`)) {
		t.Error("another collection is in it")
	}
	if _, err := imported(t, b, data, archive.ImportOptions{Collection: "attic"}); err != nil {
		t.Fatal(err)
	}
	res, err := b.Collections(t.Context(), &admin.CollectionsRequest{})
	if err != nil || len(res.Collections) != 1 || res.Collections[0].Collection != "attic" {
		t.Errorf("collections %+v (%v)", res, err)
	}
	inStep(t, b)
	sessions, err := a.Sessions(t.Context(), &robotmem.SessionsRequest{Collection: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions.Sessions {
		one := exported(t, a, archive.ExportOptions{Session: s.SessionID})
		if n := bytes.Count(one, []byte(`{"session_id":"`)); n < 1 || bytes.Contains(one, []byte("the lid turns")) {
			t.Errorf("session %s: %d episodes, or the memories of another", s.SessionID, n)
		}
	}
	if _, err := a.Export(t.Context(), &hashList{}, archive.ExportOptions{Session: "01a1feaa-a80c-7a1b-9c31-251ec8f2a842"}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("an unknown session: %v", err)
	}
}

func TestArchiveDryRunStoresNothing(t *testing.T) {
	t.Parallel()
	a, b := lived(t), openTest(t, Options{})
	data := exported(t, a, archive.ExportOptions{})
	dry, err := imported(t, b, data, archive.ImportOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := hashes(t, b); got != "" {
		t.Errorf("a dry run stored\n%s", got)
	}
	if _, err := os.Stat(b.Store.Payloads().Dir); err == nil {
		t.Error("a dry run wrote payloads")
	}
	wet, err := imported(t, b, data, archive.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if dry.Memories != wet.Memories || dry.Sessions != wet.Sessions || dry.Payloads.Stored != wet.Payloads.Stored || dry.Payloads.Bytes != wet.Payloads.Bytes {
		t.Errorf("foreseen %+v, stored %+v", dry, wet)
	}
}

// An archive cut at any byte stores complete parts only and reports the cut, and an
// import of the complete archive then gives the result of a single import.
func TestArchiveCutAnywhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	a := lived(t)
	data, want := exported(t, a, archive.ExportOptions{}), hashes(t, a)
	whole := strings.Split(want, "\n")
	places := rounds.Of(6, 12)
	for i := range places {
		b := openTest(t, Options{}, fast)
		cut := len(data) * i / places
		_, err := imported(t, b, data[:cut], archive.ImportOptions{})
		if err == nil || robotmem.KindOf(err) != robotmem.Corrupt && robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("cut at %d: %v", cut, err)
		}
		inStep(t, b)
		for line := range strings.Lines(hashes(t, b)) {
			// What waits for its successor differs until the links come.
			if sum, name, _ := strings.Cut(strings.TrimSpace(line), "  "); strings.HasPrefix(name, "payload") && !slices.Contains(whole, sum+"  "+name) {
				t.Errorf("cut at %d: %s is nothing of the original", cut, line)
			}
		}
		if _, err := imported(t, b, data, archive.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, hashes(t, b)); diff != "" {
			t.Errorf("cut at %d and completed:\n%s", cut, diff)
		}
	}
}

// A flipped byte in any significant place is found before its part is stored.
func TestArchiveDamagedAnywhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	a := lived(t)
	data, want := exported(t, a, archive.ExportOptions{}), hashes(t, a)
	places := rounds.Of(16, 40)
	for i := range places {
		at := len(data) * (2*i + 1) / (2 * places)
		bad := slices.Clone(data)
		bad[at] ^= 0x20
		b := openTest(t, Options{}, fast)
		_, err := imported(t, b, bad, archive.ImportOptions{})
		if err == nil && hashes(t, b) != want {
			t.Errorf("a flipped bit at %d went unseen", at)
		}
		if err != nil && robotmem.KindOf(err) == robotmem.Internal {
			t.Errorf("a flipped bit at %d: %v", at, err)
		}
	}
}

func TestArchiveIsOfOneMoment(t *testing.T) {
	t.Parallel()
	ctx, a := t.Context(), lived(t)
	before := hashes(t, a)
	var late *robotmem.LearnResponse
	slow := &lateSink{then: func() {
		var err error
		if late, err = a.Learn(ctx, &robotmem.LearnRequest{Insight: "learnt while the export was written, 5 N"}); err != nil {
			t.Error(err)
		}
	}}
	if _, err := a.Export(ctx, slow, archive.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	if late == nil || slow.String() != before {
		t.Error("the export is not of the moment that it began at")
	}
}

type lateSink struct {
	hashList
	then func()
}

func (s *lateSink) Begin(*archive.Manifest) error {
	s.then()
	return nil
}

func TestArchiveOfALostPayload(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	res := savePayload(t, e, noise(1, 300_000), func(*robotmem.SavePerceptionRequest) {})
	keep := savePayload(t, e, noise(2, 300_000), func(*robotmem.SavePerceptionRequest) {})
	var sum [32]byte
	if err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		p, err := c.Payload(res.SHA256)
		if err == nil {
			sum = p.Sum
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.Store.Payloads().Remove(sum); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	report, err := e.Export(t.Context(), archive.NewWriter(&b, true), archive.ExportOptions{})
	if err != nil || report.Lost != 1 || report.Evicted != 0 {
		t.Fatalf("report %+v (%v)", report, err)
	}
	other := openTest(t, Options{})
	got, err := imported(t, other, b.Bytes(), archive.ImportOptions{})
	if err != nil || got.Memories.Created != 2 || got.Payloads.Stored != 1 {
		t.Fatalf("report %+v (%v)", got, err)
	}
	data, err := other.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: 2})
	if err != nil || data.SHA256 != keep.SHA256 {
		t.Errorf("the other payload: %v", err)
	}
	if _, err := other.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: 1}); !errors.Is(err, robotmem.NotFound) || !strings.Contains(err.Error(), store.ReasonLostBefore) {
		t.Errorf("the lost payload: %v", err)
	}
	if got.Payloads.Missing != 1 {
		t.Errorf("%d payloads are missing, want 1", got.Payloads.Missing)
	}
	sound(t, other)
	if again, err := imported(t, other, b.Bytes(), archive.ImportOptions{}); err != nil || again.Memories.Same != 2 {
		t.Errorf("the second time: %+v (%v)", again, err)
	}
	// An archive with the bytes restores the payload of a node that has lost it.
	whole := openTest(t, Options{})
	savePayload(t, whole, noise(1, 300_000), func(*robotmem.SavePerceptionRequest) {})
	if _, err := imported(t, whole, b.Bytes(), archive.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := imported(t, other, exported(t, whole, archive.ExportOptions{}), archive.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: 1}); err != nil {
		t.Errorf("the payload was not brought back: %v", err)
	}
	sound(t, other)
}

// entries returns the files of an archive, to build changed ones from them.
type entryOf struct {
	tar.Header
	data []byte
}

func takeApart(t *testing.T, data []byte) (out []entryOf) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, entryOf{*h, body})
	}
}

func putTogether(t *testing.T, entries []entryOf) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.Typeflag == tar.TypeReg {
			e.Size = int64(len(e.data))
		}
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchiveRefusesTheHostile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	good := takeApart(t, exported(t, lived(t), archive.ExportOptions{}))
	file := func(name string, data string) entryOf {
		return entryOf{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}, []byte(data)}
	}
	manifest := good[0]
	for name, test := range map[string]struct {
		entries []entryOf
		want    string
	}{
		"no manifest":                  {good[1:], "begins with"},
		"a path upwards":               {[]entryOf{manifest, file("../../etc/passwd", "x")}, "no name of a part"},
		"an absolute path":             {[]entryOf{manifest, file("/etc/passwd", "x")}, "no name of a part"},
		"a payload upwards":            {[]entryOf{manifest, file("payloads/../"+strings.Repeat("a", 64), "x")}, "no name of a part"},
		"a link":                       {[]entryOf{manifest, {tar.Header{Typeflag: tar.TypeSymlink, Name: "payloads/aa/" + strings.Repeat("a", 64), Linkname: "/etc/passwd"}, nil}}, "is a link"},
		"a hard link":                  {[]entryOf{manifest, {tar.Header{Typeflag: tar.TypeLink, Name: "manifest.json", Linkname: "/etc/passwd"}, nil}}, "is a link"},
		"a device":                     {[]entryOf{manifest, {tar.Header{Typeflag: tar.TypeChar, Name: "manifest.json"}, nil}}, "is a link, a folder or a device"},
		"two manifests":                {[]entryOf{manifest, manifest}, "no name of a part"},
		"a part left out":              {slices.Concat(good[:1], good[2:]), "part 1 is missing"},
		"a payload nobody names first": {[]entryOf{manifest, good[slices.IndexFunc(good, func(e entryOf) bool { return strings.HasPrefix(e.Name, "payloads/") })]}, "before any memory"},
		"another file's manifest":      {[]entryOf{file("manifest.json", `{"format":"other","version":1}`)}, "of something else"},
		"a newer format":               {[]entryOf{file("manifest.json", `{"format":"robotmem-archive","version":9}`)}, "install a newer robotmem"},
		"a manifest without end":       {[]entryOf{file("manifest.json", strings.Repeat(" ", 1<<20))}, "limit"},
		"sums that do not fit":         {append(slices.Clone(good[:len(good)-1]), file("SHA256SUMS", "x\n")), "not those of its SHA256SUMS"},
		"more after the end":           {append(slices.Clone(good), file("SHA256SUMS", "x\n")), "more after its SHA256SUMS"},
		"a line that is no JSON":       {[]entryOf{manifest, part("sessions", 1, "{")}, "line 1"},
		"a session of no name":         {[]entryOf{manifest, part("sessions", 1, `{"session_id":".."}`)}, "session_id: must be 1 to 128 characters"},
		"a session of an empty name":   {[]entryOf{manifest, part("sessions", 1, `{"session_id":"","collection":"lab"}`)}, "session_id: is required"},
		"a memory of no uid":           {[]entryOf{manifest, part("memories", 1, `{"uid":"1"}`)}, "memories/000001: line 1: uid: must be a UUID"},
		"more lines than told":         {[]entryOf{manifest, part("sessions", 1, strings.Repeat(`{"session_id":"x"}`+"\n", 499))}, "more sessions than its manifest says"},
		"more lines than a part has":   {[]entryOf{manifest, part("memories", 1, strings.Repeat("{}\n", 501))}, "more than 500 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			e := openTest(t, Options{})
			_, err := imported(t, e, putTogether(t, test.entries), archive.ImportOptions{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if k := robotmem.KindOf(err); k == robotmem.Internal || k == robotmem.Unavailable {
				t.Errorf("kind %s", k)
			}
			// What is wrong at the end is found after the parts were, which were right.
			late := strings.Contains(test.want, "SHA256SUMS")
			if got := hashes(t, e); strings.Contains(got, "memory") && !late {
				t.Errorf("it stored\n%s", got)
			}
		})
	}
}

func part(kind string, number int, lines string) entryOf {
	name := fmt.Sprintf("%s/%06d-%x.jsonl", kind, number, sha256.Sum256([]byte(lines)))
	return entryOf{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}, []byte(lines)}
}

// Fields of a newer node without a column here are left out.
func TestArchiveWithUnknownColumns(t *testing.T) {
	t.Parallel()
	a, b := openTest(t, Options{}), openTest(t, Options{})
	_, err := a.Learn(robotmem.WithCaller(t.Context(), robotmem.Caller{Tool: "mcp", Who: "ann"}), &robotmem.LearnRequest{Insight: "the tool weighs 2 kg"})
	if err != nil {
		t.Fatal(err)
	}
	entries := takeApart(t, exported(t, a, archive.ExportOptions{}))
	at := slices.IndexFunc(entries, func(e entryOf) bool { return strings.HasPrefix(e.Name, "memories/") })
	line := strings.Replace(string(entries[at].data), `"who":"ann"`, `"who":"ann","robot_tool":"gripper"`, 1)
	entries[at] = part("memories", 1, line)
	var sums strings.Builder
	end := &entries[len(entries)-1]
	for _, e := range entries[:len(entries)-1] {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(e.data), e.Name)
	}
	end.data = []byte(sums.String())
	if _, err := imported(t, b, putTogether(t, entries), archive.ImportOptions{}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(hashes(t, a), hashes(t, b)); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveStopsWithItsContext(t *testing.T) {
	t.Parallel()
	a, b := lived(t), openTest(t, Options{})
	data, want := exported(t, a, archive.ExportOptions{}), hashes(t, a)
	for n := range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := archive.NewReader(&cancelling{Reader: bytes.NewReader(data), after: len(data) * n / 30, cancel: cancel})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Import(ctx, r, archive.ImportOptions{}); err == nil {
			t.Log("it was done before")
		}
		cancel()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := imported(t, b, data, archive.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, hashes(t, b)); diff != "" {
		t.Error(diff)
	}
	inStep(t, b)
	if orphans := strayPayloads(t, b); orphans != 0 {
		t.Errorf("%d payloads belong to nothing", orphans)
	}
}

func strayPayloads(t *testing.T, e *Engine) int {
	t.Helper()
	n := 0
	err := e.Store.Read(t.Context(), func(c *store.Conn) error {
		orphans, stray, err := e.maintenance.Orphans(c)
		n = len(orphans) + len(stray)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// cancelling cancels a context after so many bytes were read.
type cancelling struct {
	io.Reader
	after  int
	cancel func()
}

func (c *cancelling) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p[:min(len(p), 64<<10)])
	if c.after -= n; c.after < 0 {
		c.cancel()
	}
	return n, err
}

// An older archive does not bring back a purged memory or its payload.
func TestArchiveBringsNothingPurgedBack(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	res := savePayload(t, e, noise(7, 300_000), nil)
	data := exported(t, e, archive.ExportOptions{})
	if _, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: res.MemoryID, Reason: "private", Purge: true}); err != nil {
		t.Fatal(err)
	}
	got, err := imported(t, e, data, archive.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (archive.ImportCount{Purged: 1}); got.Memories != want || got.Payloads.Stored != 0 {
		t.Errorf("report %+v", got)
	}
	if got := hashes(t, e); got != "" {
		t.Errorf("it is back:\n%s", got)
	}
}

// sound fails the test unless doctor reports no problem.
func sound(t *testing.T, e *Engine) {
	t.Helper()
	inStep(t, e)
}

// An evicted payload is imported again with a newer state of its memory from another
// node.
func TestArchiveBringsAnEvictedPayloadBack(t *testing.T) {
	t.Parallel()
	a, b := openTest(t, Options{}), openTest(t, Options{})
	res := savePayload(t, a, noise(3, 300_000), func(*robotmem.SavePerceptionRequest) {})
	if _, err := imported(t, b, exported(t, a, archive.ExportOptions{}), archive.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	old := exported(t, b, archive.ExportOptions{})
	if got, err := a.Retain(t.Context(), &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true}); err != nil || got.Count != 1 {
		t.Fatalf("retain: %+v (%v)", got, err)
	}
	// A state that is not newer does not undo the eviction.
	if got, err := imported(t, a, old, archive.ImportOptions{}); err != nil || got.Payloads.Stored != 0 {
		t.Errorf("an older archive: %+v (%v)", got, err)
	}
	if _, err := b.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "the force at the wrist, looked at again"}); err != nil {
		t.Fatal(err)
	}
	got, err := imported(t, a, exported(t, b, archive.ExportOptions{}), archive.ImportOptions{})
	if err != nil || got.Memories.Updated != 1 || got.Payloads.Stored != 1 || got.Payloads.Missing != 0 {
		t.Fatalf("report %+v (%v)", got, err)
	}
	if data, err := a.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: res.MemoryID}); err != nil || data.SHA256 != res.SHA256 {
		t.Errorf("data: %v", err)
	}
	sound(t, a)
}

// A memory that is purged during the import does not get its payload back.
func TestArchivePayloadOfAMemoryPurgedMeanwhile(t *testing.T) {
	t.Parallel()
	a, b := openTest(t, Options{}), openTest(t, Options{})
	savePayload(t, b, noise(4, 300_000), func(*robotmem.SavePerceptionRequest) {})
	if _, err := imported(t, a, exported(t, b, archive.ExportOptions{}), archive.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Retain(t.Context(), &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "the force at the wrist, looked at again"}); err != nil {
		t.Fatal(err)
	}
	data := exported(t, b, archive.ExportOptions{})
	r, err := archive.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	purge := func() {
		if _, err := a.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 1, Reason: "private", Purge: true}); err != nil {
			t.Error(err)
		}
	}
	got, err := a.Import(t.Context(), &afterPayload{Source: r, f: purge}, archive.ImportOptions{})
	if err != nil || got.Memories.Purged != 1 || got.Payloads.Stored != 0 {
		t.Errorf("report %+v (%v)", got, err)
	}
	if n := strayPayloads(t, a); n != 0 {
		t.Errorf("%d files of payloads stay", n)
	}
	sound(t, a)
}

// afterPayload calls a function after a payload was read.
type afterPayload struct {
	archive.Source
	came bool
	f    func()
}

func (s *afterPayload) Next() (*archive.Entry, error) {
	if s.came {
		s.f()
		s.came = false
	}
	entry, err := s.Source.Next()
	s.came = err == nil && entry.Payload != nil
	return entry, err
}

// A memory without provenance in the source gets the importing caller's, and provenance
// of the source is cleaned like that of callers.
func TestImportNamesWhoImported(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	at := "2026-01-02T03:04:05.000000000Z"
	fact := func(n int, extra archive.Extra) archive.Memory {
		return archive.Memory{
			UID: fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), Type: "fact", Collection: "lab", Content: fmt.Sprintf("fact %d", n), Category: "observation",
			Context: []byte(`{"robot":{"id":"arm 1"}}`), Confidence: 1, Status: "active", Sightings: 1, Version: 1,
			ValidFrom: at, ObservedAt: at, CreatedAt: at, UpdatedAt: at, Extra: extra,
		}
	}
	named := archive.Extra{Who: "eve\u202e\nroot" + strings.Repeat("x", 100), Tool: "cli"}
	ctx := robotmem.WithCaller(t.Context(), robotmem.Caller{Who: "ann", Tool: robotmem.ToolCLI})
	for _, want := range []archive.ImportCount{{Created: 2}, {Same: 2}} {
		src := &fixedSource{memories: []archive.Memory{fact(1, archive.Extra{}), fact(2, named)}}
		if got, err := e.Import(ctx, src, archive.ImportOptions{}); err != nil || got.Memories != want {
			t.Fatalf("report %+v (%v), want %+v", got, err, want)
		}
	}
	for id, want := range map[int64]robotmem.Provenance{1: {Who: "ann", Tool: "import", Robot: "arm 1"}, 2: {Who: "eve root" + strings.Repeat("x", 56), Tool: "cli"}} {
		m, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
		if err != nil || m.Provenance == nil {
			t.Fatalf("memory %d: %+v (%v)", id, m, err)
		}
		if diff := cmp.Diff(want, *m.Provenance); diff != "" {
			t.Errorf("memory %d (-want +got):\n%s", id, diff)
		}
	}
	log, err := e.Audit(t.Context(), &admin.AuditRequest{Action: store.ActionImported})
	if err != nil || len(log.Entries) != 1 || log.Entries[0].Who != "ann" || !strings.Contains(log.Entries[0].Reason, "memories: 2 new") {
		t.Errorf("the audit log: %+v (%v)", log, err)
	}
}

// fixedSource is a source with the given memories.
type fixedSource struct{ memories []archive.Memory }

func (s *fixedSource) Next() (*archive.Entry, error) {
	if s.memories == nil {
		return nil, io.EOF
	}
	found := s.memories
	s.memories = nil
	return &archive.Entry{Memories: found}, nil
}

// smallDisk takes some bytes and is then full.
type smallDisk struct{ free int }

func (d *smallDisk) Write(p []byte) (int, error) {
	if d.free -= len(p); d.free < 0 {
		return 0, &os.PathError{Op: "write", Path: "/mnt/secret.tar", Err: syscall.ENOSPC}
	}
	return len(p), nil
}

// An archive that does not fit on its disk is an error wherever the disk ends, and says what to do.
func TestExportToAFullDisk(t *testing.T) {
	t.Parallel()
	e := lived(t)
	size := len(exported(t, e, archive.ExportOptions{}))
	for part := range 8 {
		_, err := e.Export(t.Context(), archive.NewWriter(&smallDisk{free: size * part / 8}, false), archive.ExportOptions{})
		if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "export again") || strings.Contains(err.Error(), "secret") {
			t.Errorf("after %d eighths: %v", part, err)
		}
	}
	if _, err := e.Export(t.Context(), archive.NewWriter(&smallDisk{free: 2 * size}, false), archive.ExportOptions{}); err != nil {
		t.Errorf("with space: %v", err)
	}
}
