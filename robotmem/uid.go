package robotmem

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// A memory has a number in each file and one uid in all of them. The field memory_id of a request takes
// both: a memory of the site has no number in the file of the robot that has recalled it.

// ByUID returns the uid by which a request names a memory, and its field for the number. uid is empty for any
// other request.
func ByUID(req any) (uid string, id *int64) {
	switch r := req.(type) {
	case *MemoryRequest:
		return r.UID, &r.MemoryID
	case *TimelineRequest:
		return r.UID, &r.MemoryID
	case *ForgetRequest:
		return r.UID, &r.MemoryID
	case *UpdateRequest:
		return r.UID, &r.MemoryID
	case *SamplesRequest:
		return r.UID, &r.MemoryID
	case *admin.PreviewRequest:
		return r.UID, &r.MemoryID
	case *admin.PinRequest:
		return r.UID, &r.MemoryID
	}

	return "", nil
}

// CheckUID fails with Invalid if a request names a memory by something else than a uid.
func CheckUID(req any) error {
	if uid, _ := ByUID(req); uid != "" && !isUID.MatchString(uid) {
		return Errorf(Invalid, "memory_id", "must be the number of a memory or its uid, a UUID in lower case, not %q",
			abbreviate(uid))
	}
	return nil
}

// RequestJSON returns the JSON of a request. It fails with Invalid if the request names a memory twice, or by
// something else than a uid.
func RequestJSON(req any) ([]byte, error) {
	data, err := json.Marshal(req)
	uid, id := ByUID(req)
	if err != nil || uid == "" {
		return data, err
	}
	if err := CheckUID(req); err != nil {
		return nil, err
	}
	if *id != 0 {
		return nil, Errorf(Invalid, "memory_id", "memory %d and the uid %s are given; name the memory once", *id, uid)
	}

	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["memory_id"] = json.RawMessage(strconv.Quote(uid))

	return json.Marshal(fields)
}

// isUID matches the form of a uid.
var isUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// takesUID reports whether a field of a request takes the uid of a memory instead of its number.
func takesUID(t reflect.Type, field string) bool {
	_, has := t.FieldByName("UID")
	return has && field == "memory_id"
}

// readUID reads a uid in the place of a number.
func readUID(v reflect.Value, field string, raw View) bool {
	var uid string
	if raw[0] != '"' || !takesUID(v.Type(), field) || jsonv2.Unmarshal(raw, &uid) != nil || !isUID.MatchString(uid) {
		return false
	}
	v.FieldByName("UID").SetString(uid)

	return true
}
