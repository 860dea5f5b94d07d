package clients

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testFields = Entry{"command": "/opt/robotmem", "args": []string{"mcp"}}

// entryLines is testFields as setup writes them, at some indentation.
func entryLines(indent string) string {
	return strings.ReplaceAll(`"robotmem": {
  "args": [
    "mcp"
  ],
  "command": "/opt/robotmem"
}`, "\n", "\n"+indent)
}

func TestJSONSettingsKeepEveryOtherByte(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "{\n  \"mcpServers\": {\n    " + entryLines("    ") + "\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"mcpServers\": {\n    " + entryLines("    ") + "\n  }\n}"},
		{"other settings", "{\n  \"theme\": \"dark\" // mine\n}\n",
			"{\n  \"theme\": \"dark\", // mine\n  \"mcpServers\": {\n    " + entryLines("    ") + "\n  }\n}\n"},
		{"a trailing comma", "{\n  \"b\": 1.50,\n  \"a\": 1e3,\n}\n",
			"{\n  \"b\": 1.50,\n  \"a\": 1e3,\n  \"mcpServers\": {\n    " + entryLines("    ") + "\n  },\n}\n"},
		{"other servers", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}\n    // last\n  },\n  \"z\": null\n}\n",
			"{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"},\n    // last\n    " + entryLines("    ") + "\n  },\n  \"z\": null\n}\n"},
		{"no servers yet", "{\n  \"mcpServers\": {},\n  \"z\": [ ]\n}\n",
			"{\n  \"mcpServers\": {\n    " + entryLines("    ") + "\n  },\n  \"z\": [ ]\n}\n"},
		{"an entry with the user's own keys", "{\n  \"mcpServers\": {\n    \"robotmem\": {\n      \"args\": [],\n      \"timeout\": 5_ ,\n      \"command\": \"old\"\n    }\n  }\n}\n", ""},
		{"an older entry", "{\n  \"mcpServers\": {\n    \"robotmem\": {\"url\": \"http://old\"}, // ours\n    \"x\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    " + entryLines("    ") + ", // ours\n    \"x\": {}\n  }\n}\n"},
		{"one line", `{"z":1}`, "{\"z\":1,\n  \"mcpServers\": {\n    " + entryLines("    ") + "\n  }\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonConfig("mcpServers").set([]byte(tt.before), testFields)
			if tt.after == "" {
				if err == nil {
					t.Errorf("took a file that is not JSON:\n%s", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Error(diff)
			}
			checkEdit(t, jsonConfig("mcpServers"), tt.before, got)
		})
	}
}

// checkEdit demands that an edit holds the entry, keeps the rest, changes
// nothing when made again, and can be taken out.
func checkEdit(t *testing.T, f configFormat, before string, after []byte) {
	t.Helper()
	entry, _, err := f.parts(after)
	if err != nil || entry == nil {
		t.Fatalf("no entry, %v in:\n%s", err, after)
	}
	if !entry.equal(testFields) {
		t.Errorf("the entry is %v, want %v", entry, testFields)
	}
	checkOthers(t, f, before, after)
	again, err := f.set(after, testFields)
	if err != nil || string(again) != string(after) {
		t.Errorf("a second time: %v\n%s", err, cmp.Diff(string(after), string(again)))
	}
	without, err := f.set(after, nil)
	if err != nil {
		t.Fatal(err)
	}
	if entry, _, err := f.parts(without); entry != nil || err != nil {
		t.Errorf("the entry is still there, %v, in:\n%s", err, without)
	}
	checkOthers(t, f, before, without)
}

// checkOthers demands that an edit changes nothing but the entry.
func checkOthers(t *testing.T, f configFormat, before string, after []byte) {
	t.Helper()
	_, want, werr := f.parts([]byte(before))
	_, got, err := f.parts(after)
	if diff := cmp.Diff(want, got); diff != "" || err != nil || werr != nil {
		t.Errorf("%v, %v, %s in:\n%s", err, werr, diff, after)
	}
}

func TestJSONSettingsKeepLineEnds(t *testing.T) {
	before := "{\r\n\t\"a\": 1\r\n}\r\n"
	got, err := jsonConfig("servers").set([]byte(before), testFields)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\r\n\t\"a\": 1,\n  \"servers\": {\n    " + entryLines("    ") + "\n  }\n}\r\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	checkEdit(t, jsonConfig("servers"), before, got)
}

func TestAnEntryKeepsTheUsersOwnKeys(t *testing.T) {
	for _, tt := range []struct {
		name   string
		f      configFormat
		before string
		want   string
	}{
		{"json", jsonConfig("mcpServers"), `{"mcpServers": {"robotmem": {"command": "old", "timeout": 600}}}`, `"timeout": 600`},
		{"toml", tomlConfig("mcp_servers"), "[mcp_servers.robotmem]\n# slow disk\nstartup_timeout_sec = 20.0 # s\ncommand = \"old\"\n", "startup_timeout_sec = 20.0\n"},
	} {
		present, _, err := tt.f.parts([]byte(tt.before))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tt.f.set([]byte(tt.before), testFields.merged(present))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), tt.want) || strings.Contains(string(got), "old") {
			t.Errorf("%s: got\n%s", tt.name, got)
		}
	}
}

const tomlEntry = "[mcp_servers.robotmem]\nargs = ['mcp']\ncommand = '/opt/robotmem'\n"

func TestTOMLSettingsKeepEveryOtherByte(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", tomlEntry},
		{"other settings", "model = 'x' # mine\n\n[tui]\nnotes = '''\n[mcp_servers]\n'''", "model = 'x' # mine\n\n[tui]\nnotes = '''\n[mcp_servers]\n'''\n\n" + tomlEntry},
		{"other servers", "[mcp_servers.x]\ncommand = \"x\"\n\n# of z\n[z]\na=1\n", "[mcp_servers.x]\ncommand = \"x\"\n\n# of z\n[z]\na=1\n\n" + tomlEntry},
		{"an older entry between others", "[a]\nb = 1\n[mcp_servers.robotmem] # ours\nurl = \"http://old\"\nhttp_headers = { Authorization = \"Bearer t\" }\n\n# of z\n[z]\n",
			"[a]\nb = 1\n" + tomlEntry + "\n# of z\n[z]\n"},
		{"an older entry with a table of variables", "[mcp_servers.robotmem]\ncommand = \"old\"\nargs = [\n  \"mcp\", # it\n]\n[mcp_servers.robotmem.env]\nX = \"1\"\n[z]\n",
			tomlEntry + "[z]\n"},
		{"a header at the end", "[mcp_servers.robotmem]", tomlEntry},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tomlConfig("mcp_servers").set([]byte(tt.before), testFields)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Error(diff)
			}
			checkEdit(t, tomlConfig("mcp_servers"), tt.before, got)
		})
	}
}

func TestRemoveLeavesTheFileAsItWas(t *testing.T) {
	for _, tt := range []struct {
		f      configFormat
		before string
	}{
		{jsonConfig("mcpServers"), "{\n  // it\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n"},
		{tomlConfig("mcp_servers"), "[z]\na = 1\n"},
	} {
		with, err := tt.f.set([]byte(tt.before), testFields)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tt.f.set(with, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.before, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSettingsThatCannotBeEditedAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    configFormat
		data string
		want string
	}{
		{"broken", jsonConfig("mcpServers"), "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3"},
		{"an unfinished file", jsonConfig("mcpServers"), "{\n", "line 2"},
		{"a list", jsonConfig("mcpServers"), "// x\n[]", "must be an object"},
		{"servers in a list", jsonConfig("mcpServers"), "{\"mcpServers\": []}", `"mcpServers" must be an object`},
		{"an entry that is text", jsonConfig("mcpServers"), "{\"mcpServers\": {\n\"robotmem\": \"x\"}}", "robotmem must be an object"},
		{"two lists of servers", jsonConfig("mcpServers"), "{\"mcpServers\": {},\n\"mcpServers\": {}}", "cannot be edited safely"},
		{"broken TOML", tomlConfig("mcp_servers"), "a = 1\nb = \n", "line 2"},
		{"TOML in one line", tomlConfig("mcp_servers"), "\nmcp_servers = { x = { command = 'x' } }\n", "cannot be edited safely"},
		{"an entry in one line", tomlConfig("mcp_servers"), "[mcp_servers]\nrobotmem = { command = 'x' }\n", "cannot be edited safely"},
		{"quoted names", tomlConfig("mcp_servers"), "[\"mcp_servers\".'robotmem']\ncommand = \"old\"\n", "cannot be edited safely"},
		{"our table in a text", tomlConfig("mcp_servers"), "notes = '''\n[mcp_servers.robotmem]\n'''\n", "cannot be edited safely"},
		{"a list of tables", tomlConfig("mcp_servers"), "[[mcp_servers]]\na = 1\n", "cannot be edited safely"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := tt.f.parts([]byte(tt.data))
			if err == nil {
				_, err = tt.f.set([]byte(tt.data), testFields)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// FuzzSettings: whatever the file, an edit that is made keeps the rest.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"mcpServers":{"robotmem":{"command":"x"},"y":{}},}`, "{//c\n\"a\":/*b*/[1,],}", "[mcp_servers.robotmem]\ncommand='x'\n[z]\n", "a.b=1\r\n[mcp_servers.x]", "[mcp_servers]\nx={}\n[mcp_servers.robotmem.env]\nA='1'\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []configFormat{jsonConfig("mcpServers"), tomlConfig("mcp_servers")} {
			if _, _, err := format.parts(data); err != nil {
				continue
			}
			after, err := format.set(data, testFields)
			if err != nil {
				continue
			}
			checkOthers(t, format, string(data), after)
			if entry, _, err := format.parts(after); entry == nil || err != nil {
				t.Errorf("no entry, %v, in %q made of %q", err, after, data)
			}
			if _, err := format.set(after, nil); err != nil {
				t.Errorf("cannot be taken out of %q: %v", after, err)
			}
		}
	})
}
