package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shellScripts complete a line in each shell as the tab key does, and print the words. $1 is the line.
var shellScripts = map[string]string{
	"bash": `source <(robotmem completion bash)
line="$1"
read -ra COMP_WORDS <<<"${line//=/ = }"
[ "${line: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_robotmem 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `compdef() { : }
_describe() { local each; for each in "${(@P)3}"; do print -r -- "${${each%%[^\\]:*}}${${(M)each#*[^\\]:}[-2]}"; done }
_files() { print -r -- FILES }
source <(robotmem completion zsh)
words=(${(z)1}); [[ "$1" == *" " ]] && words+=("")
CURRENT=$#words
_robotmem`,
	"fish": `robotmem completion fish | source
complete -C "$argv[1]" | string replace -r '\t.*' ''
true`,
}

// Commands, flags, fixed values and what the memory holds are completed in the shells themselves.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := os.Executable() // it is robotmem under this name
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "robotmem"))
	}
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "ROBOTMEM_HOME="+filepath.Join(dir, "home"),
		"ROBOTMEM_EMBEDDER=none")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env, cmd.Dir = env, dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	run(filepath.Join(dir, "robotmem"), "learn", "the crate is heavy", "--collection", "kitchen")
	run(filepath.Join(dir, "robotmem"), "session", "start", "--session-id", "shift-7")
	if err := os.WriteFile(filepath.Join(dir, "facts.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	cases := []struct{ line, want string }{
		{"robotmem rec", "recall recent-failures"},
		{"robotmem session st", "start"},
		{"robotmem recall --collection k", "kitchen"},
		{"robotmem recall -c k", "kitchen"},
		{"robotmem recall -qc k", "kitchen"},
		{"robotmem recall grip --type per", "perception"},
		{"robotmem session get sh", "shift-7"},
		{"robotmem learn x --session-id sh", "shift-7"},
		{"robotmem pin 1 --no-p", "--no-pinned"},
		{"robotmem recall --qui", "--quiet"},
		{"robotmem help session e", "end"},
		{"robotmem completion z", "zsh"},
		{"robotmem stats --durability n", "normal"},
		{"robotmem setup vs", "vscode"},
		{"robotmem --db nothing.db recall -c k", ""},
	}
	for shell, script := range shellScripts {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil && shell != "bash" && os.Getenv("CI") == "" {
				t.Skipf("needs %s: apt-get install %[1]s", shell)
			} else if err != nil {
				t.Fatal(err)
			}
			complete := func(line string) string {
				if shell == "fish" {
					return strings.Join(strings.Fields(run(path, "-N", "-c", script, line)), " ")
				}
				return strings.Join(strings.Fields(run(path, "-c", script, shell, line)), " ")
			}
			for _, tt := range cases {
				if got := complete(tt.line); got != tt.want {
					t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
				}
			}
			// bash replaces the part after the =.
			want := "--type=perception"
			if shell == "bash" {
				want = "perception"
			}
			if got := complete("robotmem recall --type=per"); got != want {
				t.Errorf("--type=per: got %q, want %q", got, want)
			}
			want = "facts.jsonl"
			if shell == "zsh" {
				want = "FILES"
			}
			if got := complete("robotmem import fac"); got != want {
				t.Errorf("a file: got %q, want %q", got, want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "nothing.db")); err == nil {
		t.Error("completing has made a memory")
	}
}
