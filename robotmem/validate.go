package robotmem

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"
	"golang.org/x/text/unicode/norm"
)

// Requests carry their rules in struct tags, so that validation, the MCP schema,
// the OpenAPI entry and the help text agree: validate:"…" with the rules of
// validator/v10 and those below, default:"…", doc:"…".

var collectionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// tagName does not limit the length: with {1,64} the compiled pattern would take a megabyte.
var tagName = regexp.MustCompile(`^[\p{L}\p{N}._-]+$`)

const maxTag, maxSessionID = 64, 128 // characters

// Times are stored as 64-bit nanoseconds since 1970, which cover these years.
const minYear, maxYear = 1678, 2261

var validate = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(jsonName)
	rules := map[string]validator.Func{
		"utf8": func(f validator.FieldLevel) bool { return utf8.ValidString(f.Field().String()) },
		"maxbytes": func(f validator.FieldLevel) bool {
			limit, err := strconv.Atoi(f.Param())
			return err == nil && len(f.Field().String()) <= limit
		},
		"collection":  func(f validator.FieldLevel) bool { return collectionName.MatchString(f.Field().String()) },
		"collections": func(f validator.FieldLevel) bool { return ValidCollections(f.Field().String()) },
		"session": func(f validator.FieldLevel) bool {
			id := f.Field().String()
			return utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxSessionID && strings.TrimSpace(id) == id &&
				!strings.ContainsFunc(id, unicode.IsControl) && id != "." && id != ".." // which a path of a URL cannot hold
		},
		"source": func(f validator.FieldLevel) bool { return !ReservedSource(f.Field().String()) },
		"tag": func(f validator.FieldLevel) bool {
			tag := f.Field().String()
			return utf8.RuneCountInString(tag) <= maxTag && tagName.MatchString(tag)
		},
		"finite": func(f validator.FieldLevel) bool {
			return !math.IsNaN(f.Field().Float()) && !math.IsInf(f.Field().Float(), 0)
		},
		"instant": func(f validator.FieldLevel) bool {
			t, ok := f.Field().Interface().(time.Time)
			return ok && t.UTC().Year() >= minYear && t.UTC().Year() <= maxYear
		},
	}
	v.RegisterAlias("uid", "uuid")

	for name, fn := range rules {
		if err := v.RegisterValidation(name, fn); err != nil {
			panic(err)
		}
	}

	return v
})

// lookalikes are the lower-case letters of Cyrillic and Greek that look like those of the reserved sources.
var lookalikes = strings.NewReplacer(
	"о", "o", "ο", "o", "р", "p", "ρ", "p", "е", "e", "г", "r", "а", "a", "α", "a", "т", "t", "τ", "t",
	"ѵ", "v", "ν", "v", "і", "i", "ι", "i", "ӏ", "i", "ԁ", "d",
)

// ReservedSource reports whether a source names the operator or verification, which no caller can
// claim. Letter case, the width of letters, letters of other scripts that look the same, and all characters except
// letters and slashes make no difference.
func ReservedSource(name string) bool {
	name = lookalikes.Replace(strings.ToLower(norm.NFKC.String(name)))
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r != '/' && !unicode.IsLetter(r) }), "")

	return strings.EqualFold(name, "operator") || strings.EqualFold(name, "verified")
}

// Validate trims texts, sets defaults and checks the validate tags of req, a pointer
// to a request struct. Every Service method calls it first. It fails with Invalid or
// TooLarge and names the field.
func Validate(opName string, req any) error {
	if t, ok := req.(interface{ trim() }); ok {
		t.trim()
	}

	// Defaults come before the rules, because a limit such as min=1 also applies to a field that was not given.
	setDefaults(reflect.ValueOf(req).Elem())

	var err error
	if s, ok := req.(interface{ optionalFields() []string }); ok && s.optionalFields() != nil {
		err = validate().StructExcept(req, s.optionalFields()...)
	} else {
		err = validate().Struct(req)
	}

	var fields validator.ValidationErrors
	switch {
	case err == nil:
		// Rules over several fields need each field to be valid.
		if c, ok := req.(interface{ check() error }); ok {
			return inOp(opName, c.check())
		}
		return nil
	case !errors.As(err, &fields):
		return &Error{Op: opName, Kind: Internal, Err: err}
	}

	// One error is enough: a caller who mends the first finds the next one.
	f := fields[0]
	_, name, _ := strings.Cut(f.Namespace(), ".")
	kind := Invalid
	if f.Tag() == "maxbytes" {
		kind = TooLarge
	}

	return &Error{Op: opName, Kind: kind, Field: name, Err: errors.New(ruleText(f, reflect.TypeOf(req).Elem()))}
}

func setDefaults(v reflect.Value) {
	for i := range v.NumField() {
		f, sf := v.Field(i), v.Type().Field(i)
		if d := sf.Tag.Get("default"); d != "" && f.IsZero() {
			if err := jsonv2.Unmarshal(defaultJSON(sf.Type, d), f.Addr().Interface()); err != nil {
				panic("robotmem: bad default tag " + d)
			}
		}

		isStruct := f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().Kind() == reflect.Struct
		if isStruct && jsonName(sf) != "" && f.Elem().Type() != reflect.TypeFor[time.Time]() {
			// Copy the caller's struct instead of modifying it.
			c := reflect.New(f.Elem().Type())
			c.Elem().Set(f.Elem())
			setDefaults(c.Elem())
			f.Set(c)
		}
	}
}

// defaultJSON returns the JSON of a default tag, in which a text has no quotes.
func defaultJSON(t reflect.Type, s string) json.RawMessage {
	if t.Kind() == reflect.String {
		s = strconv.Quote(s)
	}
	return json.RawMessage(s)
}

// ruleText returns the error text of a rule: the allowed values and the given one.
func ruleText(f validator.FieldError, root reflect.Type) string {
	given := abbreviate(fmt.Sprintf("%v", f.Value()))
	field := fieldAt(root, f.StructNamespace())

	switch f.Tag() {
	case "required", "required_without":
		return strings.TrimSuffix("is required: "+field.Tag.Get("doc"), ": ")
	case "utf8":
		return "is not valid UTF-8; store bytes with save_perception"
	case "maxbytes":
		return fmt.Sprintf("is %d bytes; the limit is %s bytes; split it, or store long data with save_perception",
			len(fmt.Sprint(f.Value())), f.Param())
	case "collection":
		return fmt.Sprintf("must be 1 to 64 of A-Z a-z 0-9 . _ -, not %q", given)
	case "collections":
		return fmt.Sprintf("must be 1 to 64 of A-Z a-z 0-9 . _ -, several of them with commas, or * for all, not %q",
			given)
	case "tag":
		return fmt.Sprintf("must be 1 to 64 letters, digits, . _ or -, not %q", given)
	case "finite":
		return "must be a finite number, not " + given
	case "instant":
		return fmt.Sprintf("must be a time between the years %d and %d", minYear, maxYear)
	case "source":
		return fmt.Sprintf("must not be %q: operator and verified are reserved; "+
			"name what reported it, such as a sensor, a program or a robot", given)
	case "session":
		return fmt.Sprintf("must be 1 to %d characters without control characters and "+
			"without a space at either end, not %q", maxSessionID, given)
	case "uid":
		return fmt.Sprintf("must be a UUID in lower case, not %q", given)
	case "oneof":
		return fmt.Sprintf("must be one of %s, not %q", strings.ReplaceAll(f.Param(), " ", ", "), given)
	case "min", "max":
		// The text names both limits. A namespace with an index, such as Target[0], belongs to an item of a list.
		rules, items := rulesOf(field.Tag.Get("validate"))
		if strings.HasSuffix(f.StructNamespace(), "]") {
			rules = items
		}
		return limitText(f, given, rules["min"], rules["max"])
	}

	return "breaks the rule " + f.Tag()
}

func limitText(f validator.FieldError, given, least, most string) string {
	unit := ""

	switch f.Kind() {
	case reflect.String:
		unit, given = " characters", strconv.Itoa(utf8.RuneCountInString(fmt.Sprint(f.Value())))
	case reflect.Slice:
		unit, given = " items", strconv.Itoa(reflect.ValueOf(f.Value()).Len())
	}

	switch {
	case least != "" && most != "":
		return fmt.Sprintf("must be between %s and %s%s, not %s", least, most, unit, given)
	case least != "":
		return fmt.Sprintf("must be at least %s%s, not %s", least, unit, given)
	}

	return fmt.Sprintf("must be at most %s%s, not %s", most, unit, given)
}

// rulesOf splits a validate tag into the rules of the field and those of its items (after dive).
func rulesOf(tag string) (field, items map[string]string) {
	field, items = map[string]string{}, map[string]string{}
	into := field

	for r := range strings.SplitSeq(tag, ",") {
		if r == "dive" {
			into = items
			continue
		}
		k, v, _ := strings.Cut(r, "=")
		if k != "" {
			into[k] = v
		}
	}

	return field, items
}

// fieldAt returns the field with validator's name, such as RecallRequest.SpatialSort.Target[0].
func fieldAt(t reflect.Type, namespace string) (f reflect.StructField) {
	for _, part := range strings.Split(namespace, ".")[1:] {
		name, _, _ := strings.Cut(part, "[")

		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		f, _ = t.FieldByName(name)
		t = f.Type
	}

	return f
}
