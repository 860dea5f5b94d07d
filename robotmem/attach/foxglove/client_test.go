package foxglove_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

const hello = `{"op":"serverInfo","name":"raw","capabilities":["parameters","parametersSubscribe","clientPublish"]}`

// raw serves WebSockets that do what the test says, and returns the address.
func raw(t *testing.T, do func(ctx context.Context, c *websocket.Conn)) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{foxglove.SubprotocolWebSocket}})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		do(ctx, c)
	}))
	t.Cleanup(func() {
		cancel()
		s.Close()
	})

	return "ws" + strings.TrimPrefix(s.URL, "http")
}

// script sends messages after hello: a string as text, bytes as they are. It then reads until the client leaves.
func script(t *testing.T, messages ...any) string {
	return raw(t, func(ctx context.Context, c *websocket.Conn) {
		for _, m := range append([]any{hello}, messages...) {
			var err error
			switch m := m.(type) {
			case string:
				err = c.Write(ctx, websocket.MessageText, []byte(m))
			case []byte:
				err = c.Write(ctx, websocket.MessageBinary, m)
			}
			if err != nil {
				return
			}
		}
		for {
			if _, _, err := c.Read(ctx); err != nil {
				return
			}
		}
	})
}

// data is a message of a subscription.
func data(subscription uint32, ns uint64, b []byte) []byte {
	frame := binary.LittleEndian.AppendUint32([]byte{1}, subscription)
	frame = binary.LittleEndian.AppendUint64(frame, ns)

	return append(frame, b...)
}

// clock ends a script: when it arrives, all before it has.
var clock = binary.LittleEndian.AppendUint64([]byte{2}, 7)

const advertiseA = `{"op":"advertise","channels":[{"id":1,"topic":"/a","encoding":"json","schemaName":"","schema":""}]}`

func TestMalformedMessagesAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		message any
		want    foxglove.Reason
	}{
		"no JSON":                {"{", foxglove.BadJSON},
		"an array":               {"[1]", foxglove.BadJSON},
		"empty text":             {"", foxglove.BadJSON},
		"deep JSON":              {strings.Repeat(`{"op":`, 20_000), foxglove.BadJSON},
		"an op of no text":       {`{"op":7}`, foxglove.BadJSON},
		"no op":                  {`{}`, foxglove.UnknownOp},
		"an unknown op":          {`{"op":"dance"}`, foxglove.UnknownOp},
		"a bad serverInfo":       {`{"op":"serverInfo","name":{}}`, foxglove.BadJSON},
		"channels of no list":    {`{"op":"advertise","channels":7}`, foxglove.BadJSON},
		"a channel of no object": {`{"op":"advertise","channels":["x"]}`, foxglove.BadChannel},
		"no id":                  {`{"op":"advertise","channels":[{"topic":"/x"}]}`, foxglove.BadChannel},
		"an id below 0":          {`{"op":"advertise","channels":[{"id":-1,"topic":"/x"}]}`, foxglove.BadChannel},
		"no topic":               {`{"op":"advertise","channels":[{"id":9}]}`, foxglove.BadChannel},
		"no base64":              {`{"op":"advertise","channels":[{"id":9,"topic":"/x","encoding":"protobuf","schema":"@"}]}`, foxglove.BadSchema},
		"an unknown end":         {`{"op":"unadvertise","channelIds":[9]}`, foxglove.UnknownChannel},
		"an end of no id":        {`{"op":"unadvertise","channelIds":["x"]}`, foxglove.BadChannel},
		"ends of no list":        {`{"op":"unadvertise","channelIds":{}}`, foxglove.BadJSON},
		"a bad status":           {`{"op":"status","level":"x"}`, foxglove.BadJSON},
		"a bad parameter":        {`{"op":"parameterValues","parameters":[{"value":1}]}`, foxglove.BadParameter},
		"parameters of no list":  {`{"op":"parameterValues","parameters":1}`, foxglove.BadJSON},
		"empty binary":           {[]byte{}, foxglove.Truncated},
		"an unknown opcode":      {[]byte{200, 1, 2}, foxglove.UnknownOpcode},
		"cut data":               {data(0, 1, nil)[:12], foxglove.Truncated},
		"cut time":               {clock[:8], foxglove.Truncated},
		"cut playback":           {[]byte{5, 0, 1}, foxglove.Truncated},
		"bad playback":           {append([]byte{5, 9}, make([]byte, 17)...), foxglove.BadPlayback},
		"an unknown subscriber":  {data(7, 1, nil), foxglove.UnknownSubscription},
		"a large unknown text":   {`{"op":"` + strings.Repeat("x", 17<<20) + `"}`, foxglove.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, script(t, advertiseA, c.message, data(0, 3, []byte("after")), clock), foxglove.Options{})
			if got := client.await("message"); string(got.data) != "after" || got.time != 3 || got.channel.Topic != "/a" {
				t.Errorf("got %+v", got)
			}
			client.await("time")
			got := client.Problems()
			if len(got) != 1 || got[c.want].Count != 1 || got[c.want].Last == "" || len(got[c.want].Last) > 210 {
				t.Errorf("got %v, want one of %s", got, c.want)
			}
		})
	}
}

// Messages of kinds that are not used are no problems.
func TestOtherMessagesOfTheProtocol(t *testing.T) {
	c := connect(t, script(t,
		`{"op":"advertiseServices","services":[]}`, `{"op":"unadvertiseServices","serviceIds":[]}`, `{"op":"serviceCallFailure"}`,
		`{"op":"connectionGraphUpdate"}`, []byte{3, 1}, []byte{4, 1}, `{"op":"advertise"}`, `{"op":"unadvertise","channelIds":null}`, clock), foxglove.Options{})
	c.await("time")
	if got := c.Problems(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestMessagesOverTheLimitAreReadPast(t *testing.T) {
	most := make([]byte, 100_000-13)
	c := connect(t, script(t, advertiseA, data(0, 1, most), data(0, 2, append(most, 0)), data(0, 3, make([]byte, 5<<20)), data(0, 4, nil), clock),
		foxglove.Options{MaxMessage: 100_000})
	for _, want := range []uint64{1, 4} {
		if got := c.await("message"); got.time != want {
			t.Errorf("got message %d, want %d", got.time, want)
		}
	}
	c.await("time")
	if got := c.Problems()[foxglove.TooLarge]; got.Count != 2 || got.Last != "a message of 5242893 bytes is over the limit of 100000" {
		t.Errorf("got %v", got)
	}
}

func TestAMessageOf100MB(t *testing.T) {
	big := make([]byte, 100_000_000)
	big[0], big[len(big)-1] = 1, 2
	c := connect(t, script(t, advertiseA, data(0, 1, big), data(0, 2, []byte("x"))), foxglove.Options{})
	if got := c.await("message").data; len(got) != len(big) || got[0] != 1 || got[len(got)-1] != 2 {
		t.Errorf("got %d bytes", len(got))
	}
	if got := c.await("message").data; string(got) != "x" {
		t.Errorf("got %q", got)
	}
}

// The bytes are the handler's: those of later messages are elsewhere.
func TestMessagesBelongToTheHandler(t *testing.T) {
	messages := []any{advertiseA}
	for n := range 1000 {
		messages = append(messages, data(0, uint64(n), fmt.Append(nil, n)))
	}
	c := connect(t, script(t, append(messages, data(0, 1000, nil))...), foxglove.Options{})
	var all []event
	for len(all) < 1001 {
		all = append(all, c.await("message"))
	}
	for n, e := range all[:1000] {
		if string(e.data) != fmt.Sprint(n) {
			t.Fatalf("message %d: got %q", n, e.data)
		}
		_ = append(e.data, "does no harm"...)
	}
	if all[1000].data == nil || len(all[1000].data) != 0 {
		t.Errorf("got %v of an empty message", all[1000].data)
	}
}

// manyChannels advertises n channels from an id on.
func manyChannels(from, n int, schema string) string {
	var b strings.Builder
	b.WriteString(`{"op":"advertise","channels":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id":%d,"topic":"/t%d","encoding":"json","schemaName":"s","schemaEncoding":"jsonschema","schema":%q}`, from+i, from+i, schema)
	}

	return b.String() + "]}"
}

func TestManyChannels(t *testing.T) {
	c := connect(t, script(t, manyChannels(0, 1000, "{}"), manyChannels(1000, 9000, "{}"), data(9_999, 1, nil), manyChannels(10_000, 10_001, "{}"), manyChannels(30_000, 1_000, "{}"), clock), foxglove.Options{})
	if got := c.await("message").channel.Topic; got != "/t9999" {
		t.Errorf("got a message of %s", got)
	}
	c.await("time")
	if got := c.Problems()[foxglove.TooManyChannels]; got.Count != 2 { // one of each message, of which no more is read
		t.Errorf("got %v", got)
	}
}

func TestSchemasAreBounded(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	c := connect(t, script(t, manyChannels(0, 60, large), manyChannels(60, 10, large), `{"op":"unadvertise","channelIds":[0,1,2,3,4,5,6]}`, manyChannels(60, 10, large), clock), foxglove.Options{})
	c.await("time")
	if got := c.Problems()[foxglove.SchemasTooLarge]; got.Count != 7 {
		t.Errorf("got %d, %.100s, want 7", got.Count, got.Last)
	}
}

// Servers of the older protocol send no encoding of the schema.
func TestEncodingsOfSchemasAreDerived(t *testing.T) {
	c := connect(t, script(t, `{"op":"advertise","channels":[
		{"id":1,"topic":"/cdr","encoding":"cdr","schemaName":"a","schema":"string data"},
		{"id":2,"topic":"/ros1","encoding":"ros1","schemaName":"a","schema":"string data"},
		{"id":3,"topic":"/json","encoding":"json","schemaName":"a","schema":"{}"},
		{"id":4,"topic":"/protobuf","encoding":"protobuf","schemaName":"a","schema":"AP8="},
		{"id":5,"topic":"/flatbuffer","encoding":"flatbuffer","schemaName":"a","schema":"AP8"},
		{"id":6,"topic":"/none","encoding":"json","schemaName":"","schema":"","schemaEncoding":null},
		{"id":7,"topic":"/idl","encoding":"cdr","schemaName":"a","schema":"module x","schemaEncoding":"ros2idl","extra":{}}]}`), foxglove.Options{})
	for _, want := range []struct{ topic, encoding, schema string }{
		{"/cdr", "ros2msg", "string data"}, {"/ros1", "ros1msg", "string data"}, {"/json", "jsonschema", "{}"},
		{"/protobuf", "protobuf", "\x00\xff"}, {"/flatbuffer", "flatbuffer", "\x00\xff"}, {"/none", "", ""}, {"/idl", "ros2idl", "module x"},
	} {
		got := c.await("advertised").channel
		if got.Topic != want.topic || got.SchemaEncoding != want.encoding || string(got.SchemaData) != want.schema {
			t.Errorf("got %+v, want %v", got.Channel, want)
		}
	}
}

func TestIDsAreUsedAgain(t *testing.T) {
	said := make(chan string, 10)
	server := raw(t, func(ctx context.Context, c *websocket.Conn) {
		write := func(m string) { c.Write(ctx, websocket.MessageText, []byte(m)) }
		read := func() {
			_, m, _ := c.Read(ctx)
			said <- string(m)
		}
		b := strings.ReplaceAll(advertiseA, "/a", "/b")

		write(hello)
		write(advertiseA)
		read()
		// Replaced without an end.
		write(b)
		read()
		read()
		c.Write(ctx, websocket.MessageBinary, data(0, 1, []byte("late")))
		c.Write(ctx, websocket.MessageBinary, data(1, 2, []byte("b")))
		// Ended, and begun again.
		write(`{"op":"unadvertise","channelIds":[1]}`)
		read()
		write(advertiseA)
		read()
		c.Write(ctx, websocket.MessageBinary, data(2, 3, []byte("a")))
		// Twice in one message: the later is meant.
		write(`{"op":"advertise","channels":[{"id":5,"topic":"/c","encoding":"json"},{"id":5,"topic":"/d","encoding":"json"}]}`)
		read()
		c.Write(ctx, websocket.MessageBinary, data(3, 4, []byte("d")))
		c.Read(ctx)
	})

	c := connect(t, server, foxglove.Options{})
	var got []string
	for messages := 0; messages < 4; {
		e := next(t, c.events)
		if e.channel != nil {
			got = append(got, fmt.Sprint(e.kind, " ", e.channel.Topic, " ", string(e.data)))
		}
		if e.kind == "message" {
			messages++
		}
	}
	want := []string{
		"advertised /a ", "unadvertised /a ", "advertised /b ", "message /a late", "message /b b", "unadvertised /b ", "advertised /a ",
		"message /a a", "advertised /d ", "message /d d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got = nil
	for range 6 {
		got = append(got, next(t, said))
	}
	want = []string{
		`{"op":"subscribe","subscriptions":[{"id":0,"channelId":1}]}`,
		`{"op":"unsubscribe","subscriptionIds":[0]}`,
		`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1}]}`,
		`{"op":"unsubscribe","subscriptionIds":[1]}`,
		`{"op":"subscribe","subscriptions":[{"id":2,"channelId":1}]}`,
		`{"op":"subscribe","subscriptions":[{"id":3,"channelId":5}]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got := c.Problems(); len(got) != 0 {
		t.Errorf("got the problems %v", got)
	}
}

// What is remembered of channels that have ended is bounded.
func TestMessagesLongAfterTheEnd(t *testing.T) {
	ids := make([]string, 2000)
	for n := range ids {
		ids[n] = fmt.Sprint(n)
	}
	c := connect(t, script(t, manyChannels(0, 2000, "{}"), `{"op":"unadvertise","channelIds":[`+strings.Join(ids, ",")+`]}`,
		data(0, 1, nil), data(2000-1025, 2, nil), data(2000-1024, 3, nil), data(1999, 4, nil), data(2000, 5, nil), clock), foxglove.Options{})
	for _, want := range []uint64{3, 4} {
		if got := c.await("message"); got.time != want {
			t.Errorf("got message %d, want %d", got.time, want)
		}
	}
	c.await("time")
	if got := c.Problems(); got[foxglove.LateMessage].Count != 2 || got[foxglove.UnknownSubscription].Count != 1 {
		t.Errorf("got the problems %v", got)
	}
}

// The SDK advertises a channel before it takes subscriptions to it.
func TestASubscriptionThatCameTooEarlyIsRepeated(t *testing.T) {
	said := make(chan string, 10)
	server := raw(t, func(ctx context.Context, c *websocket.Conn) {
		c.Write(ctx, websocket.MessageText, []byte(hello))
		c.Write(ctx, websocket.MessageText, []byte(advertiseA))
		for {
			_, m, err := c.Read(ctx)
			if err != nil {
				return
			}
			said <- string(m)
			c.Write(ctx, websocket.MessageText, []byte(`{"op":"status","level":2,"message":"Unknown channel ID: 1"}`))
			c.Write(ctx, websocket.MessageText, []byte(`{"op":"status","level":1,"message":"Unknown channel ID: 1"}`))
		}
	})
	c := connect(t, server, foxglove.Options{})
	for range 1 + 6 {
		if got := next(t, said); got != `{"op":"subscribe","subscriptions":[{"id":0,"channelId":1}]}` {
			t.Errorf("got %s", got)
		}
	}
	// Not for ever: in the end the handler is told.
	for {
		if got := c.await("status").value.(*foxglove.Status); got.Level == foxglove.LevelError {
			break
		}
	}
	if len(said) != 0 {
		t.Errorf("got %s", <-said)
	}
}

func TestOnlyWantedChannelsAreSubscribedTo(t *testing.T) {
	said := make(chan string, 1)
	server := raw(t, func(ctx context.Context, c *websocket.Conn) {
		c.Write(ctx, websocket.MessageText, []byte(hello))
		c.Write(ctx, websocket.MessageText, []byte(manyChannels(1, 3, "")))
		_, m, _ := c.Read(ctx)
		said <- string(m)
		c.Read(ctx)
	})
	connect(t, server, foxglove.Options{Subscribe: func(c *foxglove.Channel) bool { return c.Topic != "/t2" }})
	if got := next(t, said); got != `{"op":"subscribe","subscriptions":[{"id":0,"channelId":1},{"id":1,"channelId":3}]}` {
		t.Errorf("got %s", got)
	}
}

// A server that writes all it has before it reads does not wait for ever.
func TestAServerThatReadsLate(t *testing.T) {
	server := raw(t, func(ctx context.Context, c *websocket.Conn) {
		c.Write(ctx, websocket.MessageText, []byte(hello))
		for range 60 {
			if err := c.Write(ctx, websocket.MessageText, []byte(manyChannels(0, 5000, ""))); err != nil {
				t.Error(err)
			}
		}
		c.Write(ctx, websocket.MessageBinary, clock)
		for {
			if _, _, err := c.Read(ctx); err != nil {
				return
			}
		}
	})
	told := make(chan uint64, 1)
	c, err := foxglove.Dial(t.Context(), server, foxglove.Options{Subscribe: everything, Handler: foxglove.Handler{Time: func(ns uint64) { told <- ns }}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	next(t, told)
	c.Close()
	if err := next(t, ended); err != foxglove.ErrClosed {
		t.Errorf("got %v", err)
	}
}

func TestRunSaysWhyTheConnectionEnded(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(context.Context, *websocket.Conn)
		want string
	}{
		"goodbye": {func(ctx context.Context, c *websocket.Conn) {
			c.Write(ctx, websocket.MessageText, []byte(hello))
			c.Close(websocket.StatusGoingAway, "the robot goes to bed")
		}, `closed the connection: "the robot goes to bed" (StatusGoingAway)`},
		"lost": {func(ctx context.Context, c *websocket.Conn) { c.Write(ctx, websocket.MessageText, []byte(hello)) }, "is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, raw(t, c.do), foxglove.Options{})
			if err := next(t, client.ended); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A server that sends what is no frame of WebSocket.
func TestBytesThatAreNoFrames(t *testing.T) {
	for name, garbage := range map[string]string{
		"an unknown frame":  "\x8f\x01x",
		"a reserved bit":    "\xf1\x01x",
		"a cut frame":       "\x82\x7e\x10\x00abc",
		"a length below 0":  "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
		"an endless length": "\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xffabc",
		"a lost part":       "\x80\x01x",
		"a masked frame":    "\x82\x81\x00\x00\x00\x00\x02",
		"a long ping":       "\x89\x7e\x10\x00",
		"HTTP":              "HTTP/1.1 200 OK\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var conn net.Conn
				kept := hijacker{w, &conn}
				c, err := websocket.Accept(kept, r, &websocket.AcceptOptions{Subprotocols: []string{foxglove.SubprotocolSDK}})
				if err != nil {
					t.Error(err)
					return
				}
				c.Write(r.Context(), websocket.MessageText, []byte(hello))
				conn.Write([]byte(garbage))
				conn.Close()
			}))
			defer s.Close()

			c := connect(t, "ws"+strings.TrimPrefix(s.URL, "http"), foxglove.Options{})
			if err := next(t, c.ended); err == nil || !strings.Contains(err.Error(), "is lost") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// hijacker keeps the connection of a request.
type hijacker struct {
	http.ResponseWriter
	conn *net.Conn
}

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	*h.conn = conn

	return conn, buffers, err
}

func TestCloseWithoutRun(t *testing.T) {
	c, err := foxglove.Dial(t.Context(), script(t), foxglove.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := c.Run(t.Context()); err != foxglove.ErrClosed {
		t.Errorf("got %v", err)
	}
}

func TestTheEndOfTheContext(t *testing.T) {
	c, err := foxglove.Dial(t.Context(), script(t), foxglove.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	waiting := make(chan error, 1)
	go func() {
		_, err := c.GetParameters(t.Context(), "x")
		waiting <- err
	}()
	cancel()
	if err := next(t, ended); err != context.Canceled {
		t.Errorf("Run: got %v", err)
	}
	if err := next(t, waiting); !errors.Is(err, foxglove.ErrClosed) {
		t.Errorf("GetParameters: got %v", err)
	}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("again: got %v", err)
	}
	if _, err := c.GetParameters(t.Context()); !errors.Is(err, foxglove.ErrClosed) {
		t.Errorf("GetParameters afterwards: got %v", err)
	}
}

func TestAnAnswerThatDoesNotCome(t *testing.T) {
	c := connect(t, script(t), foxglove.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.GetParameters(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
}

func TestDialSaysWhatToDo(t *testing.T) {
	status := func(code int, text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if code >= 300 && code < 400 {
				w.Header().Set("Location", text)
			}
			http.Error(w, text, code)
		}))
		t.Cleanup(s.Close)

		return "ws" + strings.TrimPrefix(s.URL, "http")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	secret := httptest.NewTLSServer(http.NotFoundHandler())
	defer secret.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			c.CloseNow()
		}
	}))
	defer other.Close()

	for name, c := range map[string]struct{ address, want string }{
		"nothing listens":   {"ws://" + free, "nothing listens at ws://" + free + ": start foxglove_bridge"},
		"no scheme":         {"robot:8765", "write ws://robot:8765"},
		"no port":           {"robot", "write ws://robot"},
		"another scheme":    {"http://robot:8765", "write ws://HOST:8765"},
		"no address":        {"", "write ws://"},
		"no host":           {"ws://", "write ws://HOST:8765"},
		"an unknown host":   {"ws://no-such-host.invalid:8765", "there is no host"},
		"a page":            {status(200, "hello"), "is not a WebSocket server: it answers with"},
		"another path":      {status(404, "none"), "Correct the port (8765 is usual) or the path"},
		"another protocol":  {status(400, "Missing expected sec-websocket-protocol header"), "update foxglove_bridge"},
		"a token":           {status(401, "who are you"), "send its token in a header"},
		"a redirect":        {status(302, "ws://elsewhere"), `redirects to "ws://elsewhere", which is not followed`},
		"rosbridge":         {"ws" + strings.TrimPrefix(other.URL, "http"), "start foxglove_bridge instead"},
		"TLS is wanted":     {"ws" + strings.TrimPrefix(secret.URL, "https"), "wss://"},
		"TLS is not there":  {"wss" + strings.TrimPrefix(other.URL, "http"), "does not speak TLS: write ws://"},
		"an unknown signer": {"wss" + strings.TrimPrefix(secret.URL, "https"), "is not trusted"},
		"a bad serverInfo": {raw(t, func(ctx context.Context, c *websocket.Conn) {
			c.Write(ctx, websocket.MessageText, []byte(`{"op":"serverInfo","capabilities":7}`))
			c.Read(ctx)
		}), "sends a serverInfo that is not of the protocol"},
		"no serverInfo": {raw(t, func(ctx context.Context, c *websocket.Conn) { c.Close(websocket.StatusNormalClosure, "") }), "closed the connection"},
		"others before it": {raw(t, func(ctx context.Context, c *websocket.Conn) {
			for range 20 {
				c.Write(ctx, websocket.MessageBinary, clock)
			}
			c.Read(ctx)
		}), "has not sent serverInfo"},
		"a password is kept": {"ws://me:secret@" + free, "me:xxxxx@"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := foxglove.Dial(t.Context(), c.address, foxglove.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = foxglove.Dial(ctx, "ws://"+l.Addr().String(), foxglove.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
}

// What comes before serverInfo is not lost.
func TestMessagesBeforeServerInfo(t *testing.T) {
	server := raw(t, func(ctx context.Context, c *websocket.Conn) {
		c.Write(ctx, websocket.MessageText, []byte(`{"op":"status","level":0,"message":"hello"}`))
		c.Write(ctx, websocket.MessageText, []byte(hello))
		c.Read(ctx)
	})
	c := connect(t, server, foxglove.Options{})
	c.await("info")
	c.await("status")
}

func TestHeadersAndCertificates(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		foxglove.NewServer(foxglove.ServerOptions{Name: "x"}).ServeHTTP(w, r)
	}))
	defer s.Close()
	pool := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := connect(t, "wss"+strings.TrimPrefix(s.URL, "https"), foxglove.Options{
		TLS: &tls.Config{RootCAs: pool}, Header: http.Header{"Authorization": {"Bearer x"}},
	})
	if next(t, got) != "Bearer x" || c.Info().Name != "x" {
		t.Errorf("got %+v", c.Info())
	}
	c.Close()
}
