package message

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// NewJSONDecoder returns a decoder of what robots write: names may come twice.
func NewJSONDecoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// decodeJSON reads one JSON value.
func decodeJSON(data []byte) (*Value, error) {
	dec := NewJSONDecoder(data)
	v, err := ReadJSON(dec)
	if _, end := dec.ReadToken(); err == nil && end != io.EOF {
		err = errors.New("data follows the value")
	}
	if err != nil {
		return nil, fmt.Errorf("JSON message at byte %d: %w", dec.InputOffset(), err)
	}

	return v, nil
}

// ReadJSON reads the next value. Its numbers are Float64; a list of only numbers is Numbers.
func ReadJSON(dec *jsontext.Decoder) (*Value, error) {
	v, values := &Value{}, 0
	err := v.readJSON(dec, &values, 0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends early")
	}
	return v, err
}

func (v *Value) readJSON(dec *jsontext.Decoder, values *int, depth int) error {
	// Every element counts, not the bytes: "[[],[],[]]" takes far more memory than its text.
	if *values++; *values > maxValues {
		return fmt.Errorf("the message holds more than %d values", maxValues)
	}
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d deep", maxDepth)
	}

	token, err := dec.ReadToken()
	if err != nil {
		return err
	}

	switch token.Kind() {
	case 'n':
		v.Kind = Null
	case 'f':
		v.Kind = Bool
	case 't':
		v.Kind, v.Float = Bool, 1
	case '0':
		v.Kind = Float64
		v.Float, err = token.Float()
	case '"':
		v.Kind, v.Text = String, token.String()
	case '{':
		v.Kind, v.Names, v.List = Struct, make([]string, 0, 4), make([]Value, 0, 4)

		for dec.PeekKind() != '}' {
			if token, err = dec.ReadToken(); err != nil {
				return err
			}
			v.Names = append(v.Names, token.String())
			if err := v.readElement(dec, values, depth); err != nil {
				return err
			}
		}
		_, err = dec.ReadToken()
	case '[':
		for v.Kind = List; dec.PeekKind() != ']'; {
			if err := v.readElement(dec, values, depth); err != nil {
				return err
			}
		}
		_, err = dec.ReadToken()
		v.joinNumbers()
	}

	return err
}

func (v *Value) readElement(dec *jsontext.Decoder, values *int, depth int) error {
	v.List = append(v.List, Value{})
	return v.List[len(v.List)-1].readJSON(dec, values, depth+1)
}

// joinNumbers makes Numbers of a list that holds nothing else.
func (v *Value) joinNumbers() {
	numbers := make([]float64, len(v.List))
	for i := range v.List {
		if v.List[i].Kind != Float64 {
			return
		}
		numbers[i] = v.List[i].Float
	}
	if len(numbers) > 0 {
		v.Kind, v.Numbers, v.List = Numbers, numbers, nil
	}
}
