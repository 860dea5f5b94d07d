package classify_test

import (
	"fmt"
	"log"

	taxonomy "github.com/robotmem/robotmem-go"
	"github.com/robotmem/robotmem-go/classify"
)

func Example() {
	rules, err := classify.Parse(taxonomy.YAML)
	if err != nil {
		log.Fatal(err) // taxonomy: line 12: tag "grasp": unknown parent "manip"
	}
	got := rules.Classify("grip_force=12.5N works best because sensor was calibrated", 0)
	fmt.Println(got.Category)
	fmt.Println(got.Tags)
	fmt.Println(got.Confidence)
	fmt.Println(got.ScopeEntities)
	// Output:
	// root_cause
	// [calibration force grasp observation root_cause sensor]
	// 0.85
	// [grip_force]
}

func ExampleParse() {
	_, err := classify.Parse([]byte(`tags:
  - {tag: domain, display_name: Domain}
  - {tag: grasp, display_name: Grasp, parent: manip}
categories: []
confidence: {}
scope: []
`))
	fmt.Println(err)
	// Output: taxonomy: line 3: tag "grasp": unknown parent "manip"
}
