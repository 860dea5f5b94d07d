package complete

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

// Shells are those with a script.
var Shells = []string{"bash", "zsh", "fish"}

//go:embed bash.sh
var bash string

//go:embed zsh.sh
var zsh string

//go:embed fish.fish
var fish string

// Script is the script of a shell, which asks the program at each completion; "" for a shell that has none.
func Script(shell string) string {
	return map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[shell]
}

// Answer writes the candidates for the words that a script passes, a line each, with their help after a tab. The line
// ":files" asks the shell to complete names of files itself.
func Answer(out io.Writer, shell string, words []string, line func(words []string) ([]Candidate, bool)) {
	words, assigned := joinAssigned(shell, words)
	found, files := line(words)

	for _, c := range found {
		text := c.Text
		if assigned {
			// bash replaces what comes after the =.
			_, text, _ = strings.Cut(text, "=")
		}
		help, _, _ := strings.Cut(c.Help, "\n")
		fmt.Fprintf(out, "%s\t%s\n", text, help)
	}

	if files {
		fmt.Fprintln(out, ":files")
	}
}

// joinAssigned joins "--flag", "=" and "value", into which bash divides --flag=value. assigned says that the last word
// was made so.
func joinAssigned(shell string, words []string) (joined []string, assigned bool) {
	if shell != "bash" {
		return words, false
	}

	for i, word := range words {
		last := len(joined) - 1

		after := i > 0 && words[i-1] == "=" && last >= 0 && strings.HasSuffix(joined[last], "=")
		switch {
		case word == "=" && last >= 0 && strings.HasPrefix(joined[last], "--"), after:
			joined[last] += word
			assigned = i == len(words)-1
		default:
			joined = append(joined, word)
		}
	}

	return joined, assigned
}
