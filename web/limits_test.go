package web_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

// The page of the API names the depth at which a node refuses a request.
func TestTheNestingLimitIsAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/http.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := func(row string) int {
		t.Helper()
		found := regexp.MustCompile(`(?m)^\| nesting of ` + row + `.*\| (\d+) levels \|$`).FindSubmatch(page)
		if found == nil {
			t.Fatalf("no row about the nesting of %s", row)
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	object, request := documented("a context"), documented("the whole request")
	_, url := serveNode(t, web.Options{})
	learn := func(members string) (int, string) {
		t.Helper()
		res, body := askBody(t, "POST", url+robotmem.OpByName("learn").Path(), `{"insight":"the gripper slipped",`+members+`}`, "Content-Type: application/json")
		return res.StatusCode, body
	}
	recall := func(members string) (int, string) {
		t.Helper()
		res, body := askBody(t, "POST", url+robotmem.OpByName("recall").Path(), `{"query":"gripper",`+members+`}`, "Content-Type: application/json")
		return res.StatusCode, body
	}
	perception := func(members string) (int, string) {
		t.Helper()
		res, body := askBody(t, "POST", url+robotmem.OpByName("save_perception").Path(), `{"description":"a trace","perception_type":"tactile","data":"x",`+members+`}`, "Content-Type: application/json")
		return res.StatusCode, body
	}
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }

	for name, ask := range map[string]func(string) (int, string){"context": learn, "context_filter": recall, "metadata": perception} {
		if status, body := ask(fmt.Sprintf("%q:%s", name, nested(object))); status >= 400 {
			t.Errorf("%s of %d levels: %d %s", name, object, status, body)
		}
		for _, depth := range []int{object + 1, request - 1} {
			if status, body := ask(fmt.Sprintf("%q:%s", name, nested(depth))); status != http.StatusBadRequest || !strings.Contains(body, fmt.Sprintf("more than %d deep", object)) {
				t.Errorf("%s of %d levels: %d %s", name, depth, status, body)
			}
		}
		if status, body := ask(fmt.Sprintf("%q:%s", name, nested(request))); status != http.StatusBadRequest || !strings.Contains(body, fmt.Sprintf("more than %d deep", request)) {
			t.Errorf("%s, %d levels with those of the request: %d %s", name, request+1, status, body)
		}
	}
}
