package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads one JSON value. Its numbers are Float64; a list of only numbers is Numbers.
func decodeJSON(data []byte) (*Value, error) {
	d := jsonDecoder{dec: json.NewDecoder(bytes.NewReader(data))}
	v := &Value{}
	if err := d.value(v, 0); err != nil {
		return nil, fmt.Errorf("JSON message at byte %d: %w", d.dec.InputOffset(), err)
	}
	if _, err := d.dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("JSON message at byte %d: data follows the value", d.dec.InputOffset())
	}
	return v, nil
}

type jsonDecoder struct {
	dec    *json.Decoder
	values int
}

func (d *jsonDecoder) value(v *Value, depth int) error {
	if d.values++; d.values > maxValues {
		return fmt.Errorf("the message holds more than %d values", maxValues)
	}
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d deep", maxDepth)
	}
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case nil:
		v.Kind = Null
	case bool:
		v.Kind = Bool
		if t {
			v.Int, v.Float = 1, 1
		}
	case float64:
		v.Kind, v.Float, v.Int = Float64, t, int64(t)
	case string:
		v.Kind, v.Text = String, t
	case json.Delim:
		if t == '{' {
			err = d.object(v, depth)
		} else {
			err = d.list(v, depth)
		}
		if err == nil {
			_, err = d.dec.Token()
		}
	}
	if err == io.EOF {
		err = errors.New("it ends early")
	}
	return err
}

func (d *jsonDecoder) object(v *Value, depth int) error {
	v.Kind = Struct
	for d.dec.More() {
		key, err := d.dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		v.Names = append(v.Names, name)
		v.List = append(v.List, Value{})
		if err := d.value(&v.List[len(v.List)-1], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (d *jsonDecoder) list(v *Value, depth int) error {
	v.Kind = List
	numbers := true
	for d.dec.More() {
		v.List = append(v.List, Value{})
		element := &v.List[len(v.List)-1]
		if err := d.value(element, depth+1); err != nil {
			return err
		}
		numbers = numbers && element.Kind == Float64
	}
	if numbers && len(v.List) > 0 {
		v.Kind, v.Numbers = Numbers, make([]float64, len(v.List))
		for i := range v.List {
			v.Numbers[i] = v.List[i].Float
		}
		v.List = nil
	}
	return nil
}
