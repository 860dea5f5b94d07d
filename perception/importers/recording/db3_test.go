package recording_test

import (
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
)

// The releases before Iron store no definitions. Topics of one type that is not built in are kept as bytes.
func TestTopicsOfOneTypeWithoutDefinitions(t *testing.T) {
	path := db3Of(t, []int64{1_700_000_000e9}, [][]byte{vecMessage(1)})
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Exec(`DROP TABLE message_definitions;
		INSERT INTO topics VALUES (2, '/u', 'own/msg/Vec', 'cdr', '');
		INSERT INTO messages(topic_id, timestamp, data) SELECT 2, timestamp, data FROM messages;`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	report := importAll(t, open(t, path), recording.Options{}, newStore())
	if report.Messages != 2 || report.Undecoded != 2 {
		t.Errorf("got %d messages, %d of them not decoded, want 2 and 2", report.Messages, report.Undecoded)
	}
}

// The goals of a robot are known without definitions in the file.
func TestGoalsWithoutDefinitions(t *testing.T) {
	for _, name := range []string{
		"action_msgs/msg/GoalStatusArray", "rcl_interfaces/msg/ParameterEvent", "rosgraph_msgs/msg/Clock",
	} {
		c := &recording.Channel{SchemaName: name, SchemaEncoding: "ros2msg", MessageEncoding: "cdr"}
		if _, err := c.Schema(); err != nil {
			t.Error(err)
		}
	}
}
