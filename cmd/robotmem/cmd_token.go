package main

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/web"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token and print its secret, which is shown once and not kept."`
	List   tokenListCmd   `cmd:"" help:"List the tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Take a token away; a running node refuses it at once."`
}

type tokenCreateCmd struct {
	Name string `arg:"" name:"name" help:"What it is for; 1 to 64 letters, digits, dots, dashes and underscores. With --read-only it is for operations that change nothing."`
}

// tokenName keeps names readable in a log.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Run prints the secret and nothing else.
func (c *tokenCreateCmd) Run(a *app, g *globals) error {
	if !tokenName.MatchString(c.Name) {
		return invalid("name", "must be 1 to 64 letters, digits, dots, dashes and underscores, not %q", c.Name)
	}
	path, err := a.ownTokens()
	if err != nil {
		return err
	}
	secret := web.NewSecret()
	err = changeTokens(path, func(l *tokenList) error {
		if slices.ContainsFunc(l.Tokens, func(t tokenEntry) bool { return t.Name == c.Name }) {
			return &robotmem.Error{Kind: robotmem.Conflict, Field: "name", Err: fmt.Errorf("there is a token %q; take another name, or revoke it first", c.Name)}
		}
		hash := web.NewToken(c.Name, secret, g.ReadOnly).SHA256
		l.Tokens = append(l.Tokens, tokenEntry{Name: c.Name, ReadOnly: g.ReadOnly, SHA256: hex.EncodeToString(hash[:]), Created: time.Now().UTC().Truncate(time.Second)})
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "robotmem: keep this secret, it is not shown again; send it as Authorization: Bearer, or set ROBOTMEM_TOKEN\n")
	fmt.Fprintln(a.Stdout, secret)
	return nil
}

type tokenListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

func (c *tokenListCmd) Run(a *app) error {
	path, err := a.ownTokens()
	if err != nil {
		return err
	}
	list, err := readTokens(path)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(struct {
			Tokens []tokenEntry `json:"tokens"`
		}{append([]tokenEntry{}, list.Tokens...)})
	}
	out := &lines{w: a.Stdout}
	out.table("TOKEN\tMAY\tCREATED", len(list.Tokens), func(i int) string {
		t := list.Tokens[i]
		may := "read and write"
		if t.ReadOnly {
			may = "read"
		}
		return fmt.Sprintf("%s\t%s\t%s", t.Name, may, t.Created.Format(time.RFC3339))
	})
	return out.err
}

type tokenRevokeCmd struct {
	Name string `arg:"" name:"name" help:"Which, as list shows it."`
}

func (c *tokenRevokeCmd) Run(a *app) error {
	path, err := a.ownTokens()
	if err != nil {
		return err
	}
	return changeTokens(path, func(l *tokenList) error {
		before := len(l.Tokens)
		if l.Tokens = slices.DeleteFunc(l.Tokens, func(t tokenEntry) bool { return t.Name == c.Name }); len(l.Tokens) == before {
			return noToken(c.Name)
		}
		return nil
	})
}

// ownTokens is the file of this machine; those of a node elsewhere are made
// there.
func (a *app) ownTokens() (string, error) {
	if a.Config.URL != "" {
		return "", invalid("url", "tokens are kept on the machine of the node; leave out --url and ROBOTMEM_URL, or run this there")
	}
	return a.Config.tokensPath()
}
