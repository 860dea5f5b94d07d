package message

// Value is a decoded message or a part of one. Which of the fields counts, Kind
// says.
type Value struct {
	Kind Kind
	// Int holds Bool (0 or 1) and integers; of a Uint64 the same 64 bits.
	Int int64
	// Float holds any number, integers too.
	Float float64
	Text  string
	// Data is an array of one-byte elements, a part of the message itself, not a
	// copy; Offset is where in the message it begins.
	Data    []byte
	Offset  int
	Numbers []float64
	// List holds a list's elements or, beside Names, a structure's fields.
	List  []Value
	Names []string
}

// Field returns a structure's field, nil when there is none. A nil value has no
// fields.
func (v *Value) Field(name string) *Value {
	if v == nil || v.Kind != Struct {
		return nil
	}
	for i, n := range v.Names {
		if n == name && i < len(v.List) {
			return &v.List[i]
		}
	}
	return nil
}

// At follows names from field to field. It returns an empty value where the way
// ends, so that its fields can be read.
func (v *Value) At(names ...string) *Value {
	for _, name := range names {
		v = v.Field(name)
	}
	if v == nil {
		return &Value{}
	}
	return v
}

// IsNumber says that Float holds the value.
func (v *Value) IsNumber() bool {
	return v != nil && Bool <= v.Kind && v.Kind <= Float64
}

// Time returns a ROS time of seconds and a fraction field in nanoseconds since 1970. It
// reports false if the value is no time or not after 1970.
func Time(v *Value, fraction string) (ns uint64, ok bool) {
	const maxSeconds = 1 << 33 // the year 2242
	sec, nanosec := v.Field("sec"), v.Field(fraction)
	if !sec.IsNumber() || !nanosec.IsNumber() || sec.Int <= 0 || sec.Int > maxSeconds || nanosec.Int < 0 || nanosec.Int >= 1e9 {
		return 0, false
	}
	return uint64(sec.Int)*1e9 + uint64(nanosec.Int), true
}
