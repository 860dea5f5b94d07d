package main

import (
	"strings"
	"testing"
)

// A proxy of a read-only memory does not say that it stores turns.
func TestWhatAProxyStores(t *testing.T) {
	for _, llm := range []string{"", "none", "ollama:m"} {
		if text := whatIsStored(true, llm); !strings.Contains(text, "no turn is stored") {
			t.Errorf("%q: %q", llm, text)
		}
	}
	if text := whatIsStored(false, "none"); !strings.Contains(text, "name a model") {
		t.Error(text)
	}
	if text := whatIsStored(false, "ollama:m"); text != "" {
		t.Error(text)
	}
}
