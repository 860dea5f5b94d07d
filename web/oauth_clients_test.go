package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
	"github.com/robotmem/robotmem-go/web/oauth"
)

// sdk is the OAuth client of an official MCP SDK, in a program that testdata/oauth has.
type sdk struct {
	tools   string // the folder of its environment, beside the checkout's other tools
	install string // the command that makes it
	command func(tools string) []string
}

var sdks = map[string]sdk{
	"python": {
		"mcp-auth", ".ci/venv bin/mcp-auth mcp==2.3.0",
		func(tools string) []string {
			return []string{filepath.Join(tools, "bin", "python"), filepath.Join("testdata", "oauth", "client.py")}
		},
	},
	"typescript":   {"mcp-clients", ".ci/mcp-clients/install", typescript("sdk")},
	"typescript 2": {"mcp-clients", ".ci/mcp-clients/install", typescript("client")},
}

func typescript(kind string) func(string) []string {
	return func(tools string) []string { return []string{"node", filepath.Join(tools, "oauth.mjs"), kind} }
}

// The SDKs discover the node, register, get a person's consent, call tools, refresh, and are refused after a revocation.
func TestOfficialClientsLogIn(t *testing.T) {
	for name, kind := range sdks {
		t.Run(name, func(t *testing.T) {
			tools, err := filepath.Abs(filepath.Join("..", "bin", kind.tools))
			if err != nil {
				t.Fatal(err)
			}
			command := kind.command(tools)
			_, missing := exec.LookPath(command[0])
			if _, err := os.Stat(command[1]); missing != nil || err != nil {
				if os.Getenv("ROBOTMEM_OAUTH_CLIENTS") != "" {
					t.Fatalf("the client is missing: %s", kind.install)
				}
				t.Skipf("the client is missing; install it with %s", kind.install)
			}
			logInWith(t, command)
		})
	}
}

func logInWith(t *testing.T, command []string) {
	const life = 2 * time.Second
	n := newOAuthNode(t, oauth.Options{AccessLife: life}, web.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append(command[1:], n.URL+"/mcp", fmt.Sprint(life.Seconds()))
	c := exec.CommandContext(ctx, command[0], args...)
	c.Stderr = &strings.Builder{}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		said[word] = rest
		switch word {
		case "authorize":
			_, _ = io.WriteString(in, newPerson(t).allow(rest, n.ada).String()+"\n")
		case "revoke":
			n.revoke("ada")
			_, _ = io.WriteString(in, "revoked\n")
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, c.Stderr)
	}

	if said["learnt"] != "1" || said["recalled"] == "1" || said["recalled"] == "" {
		t.Errorf("tokens were stored %q times before the first call and %q times after the expiry, want 1 and more", said["learnt"], said["recalled"])
	}
	if _, accepted := said["accepted"]; accepted || said["refused"] == "" && said["ended"] == "" {
		t.Errorf("after the revocation: %v", said)
	}
	found, err := n.node.Recall(ctx, &robotmem.RecallRequest{Query: "wet glass"})
	if err != nil || len(found.Memories) != 1 {
		t.Errorf("the memory has %v, %v", found, err)
	}
	if t.Failed() {
		t.Logf("said %v\n%s", said, c.Stderr)
	}
}
