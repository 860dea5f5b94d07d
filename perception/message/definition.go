package message

import (
	_ "embed"
	"strings"
	"sync"
)

// definitionText holds the public ROS 2 interfaces that robots record most,
// each as a line "= pkg/Type" and its fields: rosbag2 files of before 2023 name
// their types and do not define them. testdata/generate.py writes it.
//
//go:embed definitions.txt
var definitionText string

// ownTexts maps a type to its own fields.
var ownTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for block := range strings.SplitSeq(definitionText, "= ") {
		if name, text, ok := strings.Cut(block, "\n"); ok {
			texts[name] = text
		}
	}
	return texts
})

func ownText(name string) (string, bool) {
	text, ok := ownTexts()[name]
	return text, ok
}

// Definition returns the built-in definition of a type, such as
// sensor_msgs/msg/Imu, as ros2msg text with all the types it is made of.
func Definition(name string) (string, bool) {
	root := ShortName(name)
	text, ok := ownText(root)
	if !ok {
		return "", false
	}
	var b strings.Builder
	b.WriteString(text)
	p := &parser{types: map[string]*Type{}}
	if p.parse(root, text) != nil {
		return "", false
	}
	for _, t := range p.order[1:] {
		own, _ := ownText(t.Name)
		b.WriteString(strings.Repeat("=", 80) + "\nMSG: " + t.Name + "\n" + own)
	}
	return b.String(), true
}
