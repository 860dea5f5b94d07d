package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
)

// settingsGroup has the flags that every command takes. Only --help-all shows them.
const settingsGroup = "settings"

// helpAllFlag shows the help with the settings.
type helpAllFlag bool

// IgnoreDefault tells kong that the flag has no value before it is given.
func (helpAllFlag) IgnoreDefault() {}

// BeforeReset prints the help before kong demands the arguments of the command.
func (helpAllFlag) BeforeReset(k *kong.Context) error {
	showSettings(k.Model.Node)
	if err := k.PrintUsage(false); err != nil {
		return err
	}

	k.Exit(0)

	return nil
}

// showSettings takes back hideSettings.
func showSettings(root *kong.Node) {
	for _, f := range root.Flags {
		f.Hidden = false
	}
}

// hideSettings leaves the settings of every command out of the help, which says how to see them.
func hideSettings(root *kong.Node) {
	for _, f := range root.Flags {
		f.Hidden = f.Group != nil && f.Group.Key == settingsGroup
	}
}

// printHelp prints the help of what was selected.
func printHelp(options kong.HelpOptions, k *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, k); err != nil || !slices.ContainsFunc(k.Model.Flags, hidden) {
		return err
	}

	name := "robotmem"
	if n := k.Selected(); n != nil {
		name += " " + n.Path()
	}
	_, err := fmt.Fprintf(k.Stdout, "\nEvery command also takes settings, such as --db, --collection (-c), --url and --quiet (-q):\n"+
		"\"%s --help-all\" shows them.\n", name)

	return err
}

func hidden(f *kong.Flag) bool { return f.Hidden }

// helpCmd shows the help of a command, as its --help does.
type helpCmd struct {
	Command []string `arg:"" optional:"" name:"command" help:"The command, such as session start; none for a list of all."`
}

// Run prints the help.
func (c *helpCmd) Run(ctx context.Context, a *app) error {
	return a.execute(ctx, append(c.Command, "--help"))
}

// hintAtQuotes says what a shell has probably done to a command line that has too many words, "" if nothing is known.
func hintAtQuotes(args []string, k *kong.Context) string {
	n := k.Selected()
	if n == nil {
		return ""
	}

	words := args[min(len(args), len(strings.Fields(n.Path()))):]
	if files := slices.DeleteFunc(slices.Clone(words), func(s string) bool { return !exists(s) }); len(files) > 1 {
		return "; the shell has probably put the names of files in the place of a *: quote it, as in '*'"
	}
	if len(n.Positional) != 1 || n.Positional[0].IsCumulative() {
		return ""
	}

	if n.Positional[0].Name == "memory-id" {
		return "; the command takes one memory"
	}

	end := slices.IndexFunc(words, func(s string) bool { return strings.HasPrefix(s, "-") })
	if end < 0 {
		end = len(words)
	}
	if end < 2 {
		return "; " + n.Positional[0].Name + " is one argument: put all its words in quotes"
	}

	return fmt.Sprintf("; %s is one argument: robotmem %s %s", n.Positional[0].Name, n.Path(),
		shell.Quote(strings.Join(words[:end], " ")))
}
