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

// namesOf returns the fields by which a request names one memory, nil for any other request.
func namesOf(req any) (uid *string, id *int64) {
	switch r := req.(type) {
	case *MemoryRequest:
		return &r.UID, &r.MemoryID
	case *TimelineRequest:
		return &r.UID, &r.MemoryID
	case *ForgetRequest:
		return &r.UID, &r.MemoryID
	case *UpdateRequest:
		return &r.UID, &r.MemoryID
	case *SamplesRequest:
		return &r.UID, &r.MemoryID
	case *admin.PreviewRequest:
		return &r.UID, &r.MemoryID
	case *admin.PinRequest:
		return &r.UID, &r.MemoryID
	}

	return nil, nil
}

// ByUID returns the uid by which a request names a memory, empty for any other request. It fails with Invalid if
// that is no uid, or if the request names the memory by a number, too.
func ByUID(req any) (string, error) {
	uid, id := namesOf(req)
	switch {
	case uid == nil || *uid == "":
		return "", nil
	case !isUID.MatchString(*uid):
		return "", Errorf(Invalid, "memory_id", "must be the number of a memory or its uid, a UUID in lower case, not %q",
			abbreviate(*uid))
	case *id != 0:
		return "", Errorf(Invalid, "memory_id", "memory %d and the uid %s are given; name the memory once", *id, *uid)
	}

	return *uid, nil
}

// UseNumber names the memory of a request by its number instead of its uid.
func UseNumber(req any, number int64) {
	if uid, id := namesOf(req); uid != nil {
		*uid, *id = "", number
	}
}

// MemoryName is the text that memory_id takes: the number of a memory, or its uid if it has none here.
func MemoryName(id int64, uid string) string {
	if id == 0 && uid != "" {
		return uid
	}
	return strconv.FormatInt(id, 10)
}

// RequestJSON returns the JSON of a request, in which the uid of a memory is in the field of its number. It fails as
// [ByUID] does.
func RequestJSON(req any) ([]byte, error) {
	uid, err := ByUID(req)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(req)
	if err != nil || uid == "" {
		return data, err
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
	// Most fields have another name, and looking for a field takes long.
	if field != "memory_id" {
		return false
	}
	_, has := t.FieldByName("UID")

	return has
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
