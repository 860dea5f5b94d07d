package message_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// protoSample is a message in protobuf with its value as Google's library reads it: testdata/protobuf.py.
type protoSample struct {
	Type   string          `json:"type"`
	Schema string          `json:"schema"`
	Data   string          `json:"data"`
	Value  json.RawMessage `json:"value"`
}

func protoSamples(t testing.TB) []protoSample {
	t.Helper()
	data, err := os.ReadFile("testdata/protobuf.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []protoSample
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *protoSample) schema(t testing.TB) *message.Schema {
	t.Helper()
	schema, err := message.Parse(s.Type, "protobuf", unbase64(t, s.Schema))
	if err != nil {
		t.Fatalf("%s: %v", s.Type, err)
	}
	return schema
}

// protoPlain writes a value as encoding/json would read it. A number of 32 bits is that of the library.
func protoPlain(v *message.Value, like any) any {
	switch v.Kind {
	case message.Null:
		return nil
	case message.Struct:
		out := map[string]any{}
		object, _ := like.(map[string]any)
		for i, name := range v.Names {
			out[name] = protoPlain(&v.List[i], object[name])
		}
		return out
	case message.List:
		wanted, _ := like.([]any)
		out := []any{}
		for i := range v.List {
			var one any
			if i < len(wanted) {
				one = wanted[i]
			}
			out = append(out, protoPlain(&v.List[i], one))
		}
		slices.SortStableFunc(out, func(a, b any) int { // the order of a map is not kept
			x, _ := a.(map[string]any)
			y, _ := b.(map[string]any)
			k, _ := x["key"].(string)
			l, _ := y["key"].(string)
			return strings.Compare(k, l)
		})
		return out
	case message.Numbers:
		wanted, _ := like.([]any)
		out := []any{}
		for i, f := range v.Numbers {
			if i < len(wanted) {
				if _, isBool := wanted[i].(bool); isBool {
					out = append(out, f != 0)
					continue
				}
			}
			out = append(out, f)
		}
		return out
	}
	return plain(v, like)
}

func TestDecodesProtobuf(t *testing.T) {
	all := protoSamples(t)
	if len(all) < 40 {
		t.Fatalf("got %d samples", len(all))
	}
	for i, s := range all {
		var want any
		if err := json.Unmarshal(s.Value, &want); err != nil {
			t.Fatal(err)
		}
		data := unbase64(t, s.Data)
		v, err := s.schema(t).Decode(data)
		if err != nil {
			t.Errorf("%d, %s: %v", i, s.Type, err)
			continue
		}
		if diff := cmp.Diff(want, protoPlain(v, want)); diff != "" {
			t.Errorf("%d, %s: (-want +got)\n%s", i, s.Type, diff)
		}
		checkOffsets(t, v, data)
	}
}

// checkOffsets checks that bytes are a part of the message.
func checkOffsets(t testing.TB, v *message.Value, data []byte) {
	t.Helper()
	if v.Kind == message.Bytes && len(v.Data) > 0 && &data[v.Offset] != &v.Data[0] {
		t.Errorf("%d bytes are not at byte %d of the message", len(v.Data), v.Offset)
	}
	for i := range v.List {
		checkOffsets(t, &v.List[i], data)
	}
}

// What the library refuses of a cut message is refused, and never a panic.
func TestCutProtobuf(t *testing.T) {
	for _, s := range protoSamples(t) {
		schema, whole := s.schema(t), unbase64(t, s.Data)
		errors := 0
		for n := range whole {
			if v, err := schema.Decode(whole[:n]); err != nil {
				errors++
			} else if v.Kind != message.Struct {
				t.Fatalf("%s: got %v", s.Type, v)
			}
		}
		if len(whole) > 40 && errors < len(whole)/2 {
			t.Errorf("%s: %d of %d cut messages are refused", s.Type, errors, len(whole))
		}
	}
}

// descriptor is a FileDescriptorSet of one file.
func descriptor(t testing.TB, messages ...*descriptorpb.DescriptorProto) []byte {
	t.Helper()
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: new("a.proto"), Package: new("a"), Syntax: new("proto3"), MessageType: messages,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func field(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, repeated bool, of string) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	if repeated {
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	if of != "" {
		f.TypeName = &of
	}
	return f
}

func TestHostileProtobuf(t *testing.T) {
	self := descriptor(t, &descriptorpb.DescriptorProto{Name: new("B"), Field: []*descriptorpb.FieldDescriptorProto{
		field("next", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, true, ".a.B"),
		field("text", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING, false, ""),
		field("x", 3, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, true, ""),
	}})
	deep := ""
	for range 40 {
		deep = "\x0a" + string(rune(len(deep))) + deep
	}
	for name, test := range map[string]struct{ data, want string }{
		"deep":    {deep, "nested more than 32 deep"},
		"many":    {strings.Repeat("\x0a\x00", 1<<18), "more than 524288 values"},
		"text":    {"\x12\x02\xff\xfe", "text at byte 1: the text is not UTF-8"},
		"length":  {"\x12\xff\xff\xff\xff\x07", "text at byte 1: unexpected EOF"},
		"packed":  {"\x1a\x07\x00\x00\x00\x00\x00\x00\x00", "x at byte 1: unexpected EOF"},
		"number":  {"\x00\x01", "the field at byte 0"},
		"unknown": {"\x7a\x05a", "field 15 at byte 1: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := message.Parse("a.B", "protobuf", self)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := schema.Decode([]byte(test.data)); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), test.want) {
				t.Errorf("got %v, %v, want %q", v, err, test.want)
			}
		})
	}

	many := &descriptorpb.DescriptorProto{Name: new("B")}
	for range 70_000 {
		many.Field = append(many.Field, &descriptorpb.FieldDescriptorProto{})
	}
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"none":    {nil, "is missing"},
		"garbage": {[]byte("\x0a\xff"), "FileDescriptorSet"},
		"other":   {descriptor(t, &descriptorpb.DescriptorProto{Name: new("C")}), "lacks that type"},
		"many":    {descriptor(t, many), "more than 65536 parts"},
		"unknown": {descriptor(t, &descriptorpb.DescriptorProto{Name: new("B"), Field: []*descriptorpb.FieldDescriptorProto{field("x", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, false, ".a.C")}}), "a.C"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := message.Parse("a.B", "protobuf", test.text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTimestampOfProtobuf(t *testing.T) {
	for _, s := range protoSamples(t) {
		if s.Type != "foxglove.PoseInFrame" {
			continue
		}
		v, err := s.schema(t).Decode(unbase64(t, s.Data))
		if err != nil {
			t.Fatal(err)
		}
		if ns, ok := message.Stamp(v); !ok || ns/1e9 != 1_700_000_000 {
			t.Errorf("got %d, %v", ns, ok)
		}
		return
	}
	t.Error("no message with a timestamp")
}

func FuzzProtobuf(f *testing.F) {
	for _, s := range protoSamples(f) {
		f.Add(s.Type, unbase64(f, s.Schema), unbase64(f, s.Data))
	}
	f.Fuzz(func(t *testing.T, name string, text, data []byte) {
		schema, err := message.Parse(name, "protobuf", text)
		if err != nil {
			return
		}
		v, err := schema.Decode(data)
		if (err == nil) != (v != nil) {
			t.Fatalf("got %v, %v", v, err)
		}
	})
}
