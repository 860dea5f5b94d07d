package message_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// sample is a message that the rosbags package wrote: testdata/generate.py.
type sample struct {
	Type  string          `json:"type"`
	LE    string          `json:"le"`
	BE    string          `json:"be"`
	Value json.RawMessage `json:"value"`
}

func samples(t testing.TB) []sample {
	t.Helper()
	data, err := os.ReadFile("testdata/messages.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func unbase64(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plain writes a value as encoding/json would read it. Like tells how to read
// one-byte arrays, which may be signed or bool.
func plain(v *message.Value, like any) any {
	switch v.Kind {
	case message.Struct:
		out := map[string]any{}
		object, _ := like.(map[string]any)
		for i, name := range v.Names {
			if i < len(v.List) {
				out[name] = plain(&v.List[i], object[name])
			}
		}
		return out
	case message.List, message.Numbers, message.Bytes:
		wanted, _ := like.([]any)
		out := []any{}
		for i := range v.List {
			var one any
			if i < len(wanted) {
				one = wanted[i]
			}
			out = append(out, plain(&v.List[i], one))
		}
		for _, f := range v.Numbers {
			out = append(out, f)
		}
		for i, b := range v.Data {
			switch want, _ := wanted[i].(float64); {
			case want < 0:
				out = append(out, float64(int8(b)))
			default:
				if _, isBool := wanted[i].(bool); isBool {
					out = append(out, b != 0)
				} else {
					out = append(out, float64(b))
				}
			}
		}
		return out
	case message.String:
		return v.Text
	case message.Bool:
		return v.Float != 0
	}
	return v.Float
}

func TestDecodesWhatRosbagsWrites(t *testing.T) {
	all := samples(t)
	if len(all) < 180 {
		t.Fatalf("got %d samples, want all of the common packages", len(all))
	}
	for _, s := range all {
		schema, err := message.Parse(s.Type, "ros2msg", nil)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(s.Value, &want); err != nil {
			t.Fatal(err)
		}
		for order, text := range map[string]string{"little": s.LE, "big": s.BE} {
			v, err := schema.Decode(unbase64(t, text))
			if err != nil {
				t.Errorf("%s, %s endian: %v", s.Type, order, err)
				continue
			}
			if diff := cmp.Diff(want, plain(v, want)); diff != "" {
				t.Errorf("%s, %s endian: (-want +got)\n%s", s.Type, order, diff)
			}
		}
	}
}

// A message that is cut anywhere is an error, never a panic or a shorter value.
func TestCutMessages(t *testing.T) {
	for _, s := range samples(t) {
		schema, err := message.Parse(s.Type, "ros2msg", nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := unbase64(t, s.LE)
		for n := range whole {
			v, err := schema.Decode(whole[:n])
			// A zero at the end may be the padding behind a string.
			if err == nil && n < len(whole)-3 {
				t.Fatalf("%s: %d of %d bytes were read as %v", s.Type, n, len(whole), v)
			}
		}
	}
}

func TestDefinitionsStandAlone(t *testing.T) {
	for _, name := range []string{"sensor_msgs/msg/Imu", "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage", "diagnostic_msgs/msg/DiagnosticArray", "rcl_interfaces/msg/Log"} {
		text, ok := message.Definition(name)
		if !ok || !strings.Contains(text, "MSG: builtin_interfaces/Time\n") {
			t.Errorf("%s: got %v, %q", name, ok, text)
		}
	}
	if _, ok := message.Definition("my_msgs/msg/Thing"); ok {
		t.Error("got a definition of a type that nobody knows")
	}
}

func TestParse(t *testing.T) {
	text := `# a comment
int32 LIMIT=5 # another
string NAME="a # b"
string<=10 label "x # y" 
my_msgs/msg/Part[2] parts
Part[<=3] more
Header header
float64 gain 0.5  # default
uint8[<=4] raw
================================================================================
MSG: my_msgs/Part
bool on
`
	schema, err := message.Parse("my_msgs/msg/Whole", "ros2msg", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, f := range schema.Root.Fields {
		got = append(got, f.Name)
	}
	if diff := cmp.Diff([]string{"label", "parts", "more", "header", "gain", "raw"}, got); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	for name, test := range map[string]struct{ encoding, text, want string }{
		"idl":         {"ros2idl", "module x {};", "is not decoded"},
		"flatbuffer":  {"flatbuffer", "\x0a", "is not decoded"},
		"no name":     {"ros2msg", "int32", "\"int32\" has no field name"},
		"unknown":     {"ros2msg", "Thing x", "type Thing is not defined"},
		"bracket":     {"ros2msg", "int32[ x", "closing bracket"},
		"length":      {"ros2msg", "int32[99999999999] x", "length is not between"},
		"no type":     {"ros2msg", "int+32 x", "is not a type"},
		"division":    {"ros2msg", "int32 x\n==========\nint32 y", "expected MSG:"},
		"too long":    {"ros2msg", strings.Repeat("#", 2<<20), "at most"},
		"many fields": {"ros2msg", strings.Repeat("int8 x\n", 20000), "more than 16384 fields"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := message.Parse("a/B", test.encoding, []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if wantKind := name == "idl" || name == "flatbuffer"; errors.Is(err, message.ErrEncoding) != wantKind {
				t.Errorf("got kind %v, want %v", !wantKind, wantKind)
			}
		})
	}
}

func TestHostileLengths(t *testing.T) {
	for name, test := range map[string]struct {
		text, data, want string
	}{
		"sequence":   {"float64[] x", "\x00\x01\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00", "length of 4294967295 where 4 bytes are left"},
		"string":     {"string x", "\x00\x01\x00\x00\xff\xff\xff\x7fab", "length of 2147483647"},
		"fixed":      {"uint8[200000000] x", "\x00\x01\x00\x00ab", "200000000 elements in 2 bytes"},
		"bound":      {"uint8[<=2] x", "\x00\x01\x00\x00\x03\x00\x00\x00abc", "at most 2"},
		"values":     {"string[] x", "\x00\x01\x00\x00\x00\x00\x20\x00" + strings.Repeat("\x00", 8<<20), "more than 524288 values"},
		"parameters": {"int8 x", "\x00\x03\x00\x00\x01", "0x0003"},
		"xcdr2":      {"int8 x", "\x00\x07\x00\x00\x01", "0x0007"},
		"itself":     {"a/B x\na/B y", "\x00\x01\x00\x00\x01", "nested more than 32 deep"},
		"unknown":    {"int8 x", "\x00\x55\x00\x00\x01", "0x0055"},
		"empty":      {"int8 x", "", "a CDR message of 0 bytes is too short"},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := message.Parse("a/B", "ros2msg", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := schema.Decode([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	schema, err := message.Parse("any", "jsonschema", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text := `{"a":{"b":[1,2.5]},"s":"x","on":true,"list":[{"k":1},"z"],"none":[]}`
	v, err := schema.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, plain(v, want)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := v.At("a", "c", "d").Kind; got != message.Invalid {
		t.Errorf("got kind %v of what is not there", got)
	}
	for _, bad := range []string{"", "{", `{"a":`, "[1,2", "{} {}", "{} x", strings.Repeat("[", 100) + strings.Repeat("]", 100), "nul"} {
		if _, err := schema.Decode([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzSchema(f *testing.F) {
	for _, text := range []string{"", "int32 x", "string<=3[<=2] s \"d\"", "Header h\n=========\nMSG: a/B\nbool b", "uint8 A=1\nbyte[4] raw"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		schema, err := message.Parse("a/msg/B", "ros2msg", []byte(text))
		if err != nil {
			return
		}
		if _, err := schema.Decode(append([]byte("\x00\x01\x00\x00"), text...)); err != nil && err.Error() == "" {
			t.Error("an error without a word")
		}
	})
}

func FuzzCDR(f *testing.F) {
	for i, s := range samples(f) {
		if i%2 == 0 {
			f.Add(s.Type, unbase64(f, s.LE))
		}
	}
	f.Add("", []byte(`{"a":[1,2],"b":null}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		schema, err := message.Parse(name, "ros2msg", nil)
		if err != nil {
			schema = &message.Schema{}
		}
		v, err := schema.Decode(data)
		if (err == nil) != (v != nil) {
			t.Fatalf("got %v, %v", v, err)
		}
	})
}
