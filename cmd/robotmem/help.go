package main

import (
	_ "embed"
	"strings"
)

// exampleText has the examples in the help of each command, below a line "= " and its path.
//
//go:embed examples.txt
var exampleText string

func examples(path string) string {
	_, lines, found := strings.Cut("\n"+exampleText, "\n= "+path+"\n")
	if !found {
		return ""
	}
	lines, _, _ = strings.Cut(strings.TrimSuffix(lines, "\n"), "\n= ")
	return "Examples:\n\n  " + strings.ReplaceAll(lines, "\n", "\n  ")
}
