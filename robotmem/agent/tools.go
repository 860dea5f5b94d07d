package agent

import (
	"encoding/json"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importers"
)

// readers are tools that change nothing, by the names of all clients, in lower case.
var readers = words1(`
	read glob grep ls notebookread webfetch websearch todowrite todoread bashoutput taskoutput exitplanmode
	askuserquestion toolsearch listmcpresourcestool readmcpresourcetool task agent skill killshell lsp
	read_file read_many_files list_directory glob search_file_content grep_search google_web_search web_fetch
	write_todos get_internal_docs ask_user update_plan view_image
	readfile listdir codebasesearch filesearch semanticsearch fetch
	file_search text_search semantic_search list_dir get_errors list_code_usages fetch_webpage think manage_todo_list`)

// lookers are programs that change nothing, as long as their output goes nowhere.
var lookers = words1(`
	ls cat head tail less more grep rg egrep fgrep ag find fd tree pwd whoami which type file stat wc du df echo printf
	date env printenv ps top id uname hostname jq yq diff cmp sort uniq cut tr awk column nl tac realpath dirname
	basename true false cd test [ sleep man help history nvidia-smi free uptime lsof xxd hexdump strings`)

// lookingVerbs are the first arguments of programs with which they change nothing.
var lookingVerbs = map[string]map[string]bool{
	"git":     words1("status log diff show branch remote blame describe rev-parse ls-files grep shortlog config reflog"),
	"go":      words1("list env doc version vet"),
	"docker":  words1("ps images logs inspect version info"),
	"kubectl": words1("get describe logs version"),
	"npm":     words1("ls list view outdated"),
	"pip":     words1("list show freeze"),
	"ros2":    words1("topic node service action interface pkg doctor"),
	"sed":     words1("-n"),
	"robotmem": words1("recall list get stats doctor help version paths places collections history timeline sessions session " +
		"aggregate advise incidents preview samples"),
}

func words1(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// readOnly reports whether a use of a tool has changed nothing. The tools of this memory store their own.
func readOnly(t *ToolUse) bool {
	name := strings.ToLower(t.Name)
	if readers[name] || strings.HasPrefix(name, "mcp__robotmem") || strings.HasPrefix(name, "mcp_robotmem") {
		return true
	}
	if t.Command == "" {
		return false
	}

	parts := commandParts(t.Command)

	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part []string) bool { return !looks(part) })
}

// separators part the commands of a line of the shell.
var separators = regexp.MustCompile(`&&|\|\||[|;&\n]`)

// commandParts returns the words of each command of a line of the shell. Quotes are not read, which errs on the side
// of a command that changes something.
func commandParts(command string) (parts [][]string) {
	command = strings.NewReplacer("2>&1", "", "2>/dev/null", "", ">/dev/null", "").Replace(command)
	for _, part := range separators.Split(command, -1) {
		words := strings.Fields(part)
		// Variables before a program are its environment.
		for len(words) > 0 && regexpAssignment.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			parts = append(parts, words)
		}
	}

	return parts
}

var regexpAssignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// looks reports whether a command changes nothing.
func looks(words []string) bool {
	if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, ">") || strings.HasPrefix(word, "$(") }) {
		return false
	}

	program := path.Base(words[0])
	if verbs, ok := lookingVerbs[program]; ok {
		return len(words) > 1 && verbs[words[1]]
	}
	if program == "find" && slices.ContainsFunc(words, func(word string) bool {
		return word == "-delete" || strings.HasPrefix(word, "-exec")
	}) {
		return false
	}

	return lookers[program]
}

// patched returns the files of a patch as Codex writes it.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		for _, verb := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), verb); ok {
				files = append(files, file)
			}
		}
	}

	return files
}

// exitStatus matches the status of a command in the text that a client gives for its output.
var exitStatus = regexp.MustCompile(`(?m)^\s*(?:Exit Code|Exit code|exit status|Process exited with code)[: ]+(-?\d{1,5})\b`)

func exitIn(output string) *int {
	m := exitStatus.FindStringSubmatch(ends(output, 4<<10))
	if m == nil {
		return nil
	}
	status, err := strconv.Atoi(m[1])
	if err != nil {
		return nil
	}

	return &status
}

// ends returns a text of at most so many bytes, or its head and its tail with the number of bytes between them.
func ends(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*2/5, limit*3/5
	between := len(text) - head - tail

	return strings.ToValidUTF8(text[:head], "") + "\n… " + strconv.Itoa(between) + " bytes …\n" +
		strings.ToValidUTF8(text[len(text)-tail:], "")
}

// lastWords returns the last text of the agent in a transcript of Claude Code, for versions that do not give it
// to the hook: lines of JSON with {"type": "assistant", "message": {"content": [{"type": "text", "text": …}]}}.
func lastWords(transcript string) string {
	const tail = 512 << 10

	if transcript == "" || !strings.HasSuffix(transcript, ".jsonl") {
		return ""
	}
	f, info, err := importers.Open(transcript)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tail), tail))
	if err != nil {
		return ""
	}

	lines := strings.Split(string(data), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		var line struct {
			Type    string
			Message struct{ Content any }
		}
		if json.Unmarshal([]byte(lines[i]), &line) != nil {
			continue
		}
		if line.Type == "user" {
			return ""
		}
		if text := words(line.Message.Content); line.Type == "assistant" && text != "" {
			return text
		}
	}

	return ""
}
