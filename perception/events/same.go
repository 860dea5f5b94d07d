package events

import (
	"regexp"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// Messages that differ in what was measured are counted together. Those that differ in what they are about are not:
// wheel 1 is not wheel 2. So a number is left out unless it belongs to a name. Fields that hold names keep theirs, and
// in other texts a small number that is glued to a word (motor_driver_1, can-0x11) or stands behind one (joint 3) is
// taken for a part of the name, unless the words around it say that something was counted or measured.

// nameFields are the fields whose texts are names.
var nameFields = []string{
	"name", "node", "node_name", "hardware_id", "device", "device_id", "id", "frame_id", "child_frame_id", "serial_number",
}

var numbers = regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}` + // a UUID
	`|\b0[xX][0-9a-fA-F]+\b|\b[0-9a-fA-F]{8,}\b|[-+]?\d+(?:[.,:]\d+)*(?:[eE][-+]?\d+)?`)

var (
	// unitAfter is the unit of the number before it.
	unitAfter = regexp.MustCompile(`^ ?(?:%|‰|°|[mukMGµ]?(?:Hz|V|A|W|N|J|Pa|F|Ohm|B)\b|[kM]?Wh\b|m?Ah\b|[kMGT]i?[bB]\b|(?:[munµ]|min)?s\b|[mckµu]?m\b|` +
		`m/s|rad|deg|rpm\b|bar\b|psi\b|Nm\b|[mk]?g\b|C\b|K\b|h\b|hz\b|dB|px\b|ppm\b|bytes?\b|times?\b|` +
		`(?:milli|micro|nano)?sec(?:ond)?s?\b|minutes?\b|hours?\b|days?\b|met(?:er|re)s?\b|degrees?\b|percent\b|volts?\b|amps?\b)`)
	wordBefore = regexp.MustCompile(`([A-Za-z]+)(?: |#| #| no\.? ?|\[)$`)
	address    = regexp.MustCompile(`^\d{1,3}(?:\.\d{1,3}){3}`)
)

// countedAfter are the words behind which a number is counted or measured, beside those that end in -ed and -ing.
var countedAfter = strings.Fields(`a about above after age all and angle are at attempt be before below between by
	capacity charge consumption cost count counter current cycle delay depth distance duration effort every
	exceeds expected fails for force found frame frequency from got had has have height humidity in interval is iteration
	last latency least left length level load lost max maximum message min minimum more most msg no of off offset only
	over packet per percentage period pitch position power pressure progress range rate ratio read remaining repeat retry roll
	score sent seq sequence size slope speed stamp step temp temperature than tick time timeout timestamp to took torque
	total try under until usage value velocity via voltage was weight with within wrote x y yaw z`)

// maxNameDigits is how many digits a number has at most that belongs to a name.
const maxNameDigits = 3

// maxGluedDigits is that of a number that is glued to a word.
const maxGluedDigits = 4

// span is a part of a text.
type span struct{ from, to int }

// sameness returns two texts by which messages are the same: one that keeps the numbers of names, and one that keeps
// only those of the parts that are given, which are names.
func sameness(s string, names []span) (same, form string) {
	var a, b strings.Builder

	at := 0

	for _, m := range numbers.FindAllStringIndex(s, -1) {
		number := s[m[0]:m[1]]
		kept := slices.ContainsFunc(names, func(n span) bool { return m[0] >= n.from && m[0] < n.to })
		a.WriteString(s[at:m[0]])
		b.WriteString(s[at:m[0]])
		at = m[1]

		switch {
		case kept:
			a.WriteString(number)
			b.WriteString(number)
		case isNamed(s[:m[0]], number, s[m[1]:]):
			a.WriteString(number)
			b.WriteByte('#')
		default:
			// The address of a device is a name, and its port may be of one connection.
			a.WriteString(address.FindString(number) + "#")
			b.WriteByte('#')
		}
	}
	a.WriteString(s[at:])
	b.WriteString(s[at:])

	return strings.ToLower(a.String()), strings.ToLower(b.String())
}

// isNamed reports whether a number belongs to a name, by what stands before and after it.
func isNamed(before, number, after string) bool {
	digits := strings.TrimLeft(number, "+-")
	glued := before != "" && (isLetter(before[len(before)-1]) || strings.HasSuffix(before, "_"))
	// The sign of can-0x11 and of rack-3 is a hyphen.
	if before != "" && digits != number && isLetter(before[len(before)-1]) {
		glued = true
	}
	if len(before) > 1 && strings.ContainsRune("-/.", rune(before[len(before)-1])) && isLetter(before[len(before)-2]) {
		glued = true
	}

	hex := strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X")
	if hex {
		digits = digits[2:]
	}

	for _, c := range digits {
		if !hex && (c < '0' || c > '9') {
			return false
		}
	}

	switch {
	case glued || hex:
		return len(digits) <= maxGluedDigits && !(len(after) > 0 && !hex && isUnitGlued(after))
	case len(digits) > maxNameDigits || digits != number || unitAfter.MatchString(after):
		return false
	case after != "" && isLetter(after[0]):
		return false // 4c1b, 2nd
	}

	word := wordBefore.FindStringSubmatch(before)
	if word == nil {
		return false
	}
	w := strings.ToLower(word[1])

	return !strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "ing") && !slices.Contains(countedAfter, w)
}

// isUnitGlued reports whether a number that is glued to a word is also glued to a unit: took12ms.
func isUnitGlued(after string) bool { return after[0] != ' ' && unitAfter.MatchString(after) }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isName reports whether the texts of a field are names.
func (p part) isName() bool {
	last := len(p.path.names) - 1
	return last >= 0 && slices.Contains(nameFields, p.path.names[last])
}

// same returns the texts by which messages of a template are the same, see [sameness].
func (t template) same(s *scope) (same, form string) {
	var (
		b     strings.Builder
		names []span
	)

	for _, p := range t {
		from := b.Len()

		switch {
		case p.field == "":
			b.WriteString(p.text)
		case p.field == "topic":
			b.WriteString(s.topic)
			names = append(names, span{from, b.Len()})
		case p.field == "value" && s.value != "":
			b.WriteByte('#')
		case p.isName():
			b.WriteString(s.named(p))
			names = append(names, span{from, b.Len()})
		default:
			v := s.of(p.path)
			if v.IsNumber() && v.Kind != message.Bool && p.names[textOf(v)] == "" {
				b.WriteByte('#')
				continue
			}
			b.WriteString(s.named(p))
		}
	}

	return sameness(b.String(), names)
}
