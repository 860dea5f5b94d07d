package main

import (
	"fmt"
)

// setupState is how one client stands.
type setupState struct {
	Client    string `json:"client"`
	Title     string `json:"title"`
	Installed bool   `json:"installed"`
	File      string `json:"file"`
	// SetUp is what the client starts or asks, "" if robotmem is not in File.
	SetUp   string `json:"set_up,omitempty"`
	Problem string `json:"problem,omitempty"` // with File
	Project string `json:"project_file,omitempty"`
}

// list shows every client.
func (c *setupCmd) list(a *app, m machinePaths) error {
	var states []setupState
	for i := range setupClients {
		client := &setupClients[i]
		s := setupState{Client: client.name, Title: client.title, Installed: client.installed(m), File: client.user(m)}
		if client.project != "" {
			s.Project = client.project
		}
		s.SetUp, s.Problem = client.present(s.File)
		states = append(states, s)
	}
	if c.JSON {
		return a.PrintJSON(struct {
			Clients []setupState `json:"clients"`
		}{states})
	}
	w := &lines{w: a.Stdout}
	w.line("%-15s %-10s %s", "CLIENT", "INSTALLED", "FILE")
	for _, s := range states {
		installed := "no"
		if s.Installed {
			installed = "yes"
		}
		w.line("%-15s %-10s %s", s.Client, installed, s.File)
		switch {
		case s.Problem != "":
			w.line("%-26s cannot be read: %s", "", s.Problem)
		case s.SetUp != "":
			w.line("%-26s set up: %s", "", s.SetUp)
		}
	}
	return w.err
}

// present says what the file has for robotmem, or what is wrong with the file.
func (c *setupClient) present(path string) (setUp, problem string) {
	s, err := readSettings(path)
	if err != nil {
		return "", err.Error()
	}
	entry, found, err := c.format.entry(s.data)
	if err != nil {
		return "", err.Error()
	}
	if !found {
		return "", ""
	}
	if command, ok := entry["command"].(string); ok {
		args, _ := entry["args"].([]any)
		for _, a := range args {
			command += " " + shellQuote(fmt.Sprint(a))
		}
		return command, ""
	}
	if address, ok := entry[c.entry.url].(string); ok {
		return address, ""
	}
	return "", "its robotmem has neither a command nor an address"
}
