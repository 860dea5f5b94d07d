package main

import (
	"fmt"

	"github.com/robotmem/robotmem-go/web"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token and print its secret, which is shown once and not kept. It is for all nodes that serve the file of --db."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of the file."`
	Revoke tokenRevokeCmd `cmd:"" help:"Take a token away; a running node refuses it at once."`
}

type tokenCreateCmd struct {
	Name string `arg:"" name:"name" help:"What it is for; 1 to 64 letters, digits, dots, dashes and underscores. With --read-only it is for operations that change nothing."`
}

// Run prints the secret and nothing else on the standard output.
func (c *tokenCreateCmd) Run(a *app, g *globals) error {
	f, err := a.ownTokens()
	if err != nil {
		return err
	}
	secret, err := f.Create(c.Name, g.ReadOnly)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "robotmem: nodes that serve %s require a token from now on, also running ones\n", f.db)
	fmt.Fprintf(a.Stderr, "robotmem: keep this secret, it is not shown again; send it as Authorization: Bearer, or set ROBOTMEM_TOKEN\n")
	fmt.Fprintln(a.Stdout, secret)
	return nil
}

type tokenListCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run lists the tokens without their secrets.
func (c *tokenListCmd) Run(a *app) error {
	f, err := a.ownTokens()
	if err != nil {
		return err
	}
	list, err := f.List()
	if err != nil {
		return err
	}
	answer := struct {
		Tokens []web.Token `json:"tokens"`
	}{append([]web.Token{}, list...)}
	return a.show(c.JSON, answer, func(w *lines) {
		table(w, "TOKEN\tMAY\tCREATED\tLAST USED", list, func(t web.Token) []any {
			may, used := "read and write", any("never")
			if t.ReadOnly {
				may = "read"
			}
			if !t.LastUsed.IsZero() {
				used = t.LastUsed
			}
			return []any{t.Name, may, t.Created, used}
		})
	})
}

type tokenRevokeCmd struct {
	Name string `arg:"" name:"name" help:"Which, as list shows it."`
}

// Run removes the token.
func (c *tokenRevokeCmd) Run(a *app) error {
	f, err := a.ownTokens()
	if err != nil {
		return err
	}
	if err := f.Revoke(c.Name); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "robotmem: nodes that serve %s refuse it from now on\n", f.db)
	return nil
}

// ownTokens are the tokens of a file of this machine.
func (a *app) ownTokens() (*tokenFile, error) {
	if a.Config.URL != "" {
		return nil, invalid("url", "tokens are kept on the machine of the node; leave out --url and ROBOTMEM_URL, or run this there")
	}
	return a.Config.tokens()
}
