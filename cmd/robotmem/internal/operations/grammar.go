// Package operations makes commands of operations: the grammar from the fields of their requests, and requests from what was
// parsed.
package operations

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/rows"
	"github.com/robotmem/robotmem-go/robotmem"
)

// The commands of single operations are made from robotmem.Ops. Fields of a request become
// flags, those with cli:"arg" positional arguments. The operation itself decodes the texts, so
// that errors have the same words as over MCP and REST.

// Commands are the commands of operations by their paths, such as "session start".
type Commands map[string]*Command

// Command is the command of one operation.
type Command struct {
	Op     *robotmem.Op
	fields []opField
	target reflect.Value // the parsed struct

	InShort bool // --where alone gives the filter
}

// opField is one field of the request, in the struct under the same index.
type opField struct {
	name string // "min_confidence"
	in   reflect.StructField
}

// extras are flags that are not fields of the request, by command. They follow the fields.
var extras = map[string]reflect.Type{
	"save-perception": reflect.TypeFor[struct {
		File *string `name:"file" placeholder:"PATH" help:"A file on this machine to save; its bytes are sent along, wherever the memory is. - is stdin."`
	}](),
	"forget": reflect.TypeFor[struct {
		Yes *bool `name:"yes" help:"Needed with --purge, which cannot be undone."`
	}](),
}

// shared are flags that are not fields of the request, of all commands that can use them.
type shared struct {
	Where  []string `name:"where" sep:"none" placeholder:"CONDITION" help:"A filter in short: params.grip_force<15N, task.success=true, object in glass,cup; also != <= > >= and ~ (within 10 %). Repeatable: all must hold, and --context-filter too. Quote it."`
	Format *string  `name:"format" enum:"text,csv,tsv" placeholder:"csv|tsv" help:"Print the rows as CSV or TSV, with every field: times in UTC, objects as JSON."`
}

// sharedField is a flag of shared.
func sharedField(name string) reflect.StructField {
	f, _ := reflect.TypeFor[shared]().FieldByName(name)
	return f
}

// several reports whether the command takes several memories or episodes and handles one after the other.
func (c *Command) several() bool {
	switch c.Op.Name {
	case "get", "forget", "restore", "pin", "history", "timeline", "session", "session_memories":
		return true
	}
	return false
}

// New returns the commands, and a pointer to the struct that kong parses them into: a
// plugin with one field a command, and for "session start" one in the struct of "session".
func New() (commands Commands, grammar any) {
	commands = Commands{}

	var top, sessions, documents []reflect.StructField

	for _, op := range robotmem.Ops() {
		if op.CLI == "" {
			continue
		}
		c := &Command{Op: op}
		commands[op.CLI] = c
		name, of, group := op.CLI, &top, "memory"
		if parent, nested, ok := strings.Cut(op.CLI, " "); ok {
			name, of, group = nested, &sessions, "sessions"
			if parent == "documents" {
				of, group = &documents, "memory"
			}
		}
		byDefault := ""
		if op.CLI == "documents list" {
			byDefault = ` default:"withargs"`
		}
		*of = append(*of, reflect.StructField{
			Name: fmt.Sprintf("Op%d", len(commands)), Type: c.build(),
			Tag: reflect.StructTag(fmt.Sprintf(`cmd:"" name:%q group:%q`, name, group) + byDefault),
		})
	}

	top = append(top, reflect.StructField{
		Name: "Documents", Type: reflect.StructOf(documents),
		Tag: `cmd:"" name:"documents" group:"memory" help:"List and remove documents, which import and watch store."`,
	}, reflect.StructField{
		Name: "Session", Type: reflect.StructOf(sessions),
		Tag: `cmd:"" name:"session" group:"sessions" help:"Open, close, list and replay episodes."`,
	})

	return commands, reflect.New(reflect.StructOf(top)).Interface()
}

// build makes the struct that holds the command's values as text.
func (c *Command) build() reflect.Type {
	var out []reflect.StructField

	for i := range c.Op.In.NumField() {
		f := c.Op.In.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		// --collection is a setting of every command.
		if name == "" || name == "-" || !f.IsExported() || name == "collection" {
			continue
		}
		c.fields = append(c.fields, opField{name, f})
		out = append(out, reflect.StructField{Name: fmt.Sprintf("F%d", len(out)), Type: c.textType(f), Tag: c.fieldTag(name, f)})
	}

	if _, ok := c.Op.In.FieldByName("ContextFilter"); ok {
		out = append(out, sharedField("Where"))
	}
	if _, ok := rows.ListOf(c.Op.Out); ok {
		out = append(out, sharedField("Format"))
	}

	if extra := extras[c.Op.CLI]; extra != nil {
		out = append(out, extra.Field(0))
	}

	return reflect.StructOf(append(out, reflect.StructField{
		Name: "JSON", Type: reflect.TypeFor[bool](), Tag: `name:"json" help:"Print the answer as JSON, as REST gives it."`,
	}))
}

// textType returns the type into which kong reads a field; a nil value means not given.
func (c *Command) textType(f reflect.StructField) reflect.Type {
	t := f.Type
	if f.Tag.Get("cli") == "arg" && c.several() {
		return reflect.TypeFor[[]string]()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	switch {
	case t.Kind() == reflect.Bool:
		return reflect.TypeFor[*bool]()
	case t.Kind() == reflect.Slice && !isBytes(t):
		return reflect.TypeFor[[]string]()
	}

	return reflect.TypeFor[*string]()
}

// counts are the fields that say how many answers are wanted.
var counts = []string{"n", "limit", "top_k"}

func isBytes(t reflect.Type) bool { return t == reflect.TypeFor[[]byte]() }

func (c *Command) fieldTag(name string, f reflect.StructField) reflect.StructTag {
	flag, help := strings.ReplaceAll(name, "_", "-"), f.Tag.Get("doc")
	if d := f.Tag.Get("default"); d != "" {
		help = strings.TrimSuffix(help, ".") + " (default " + d + ")."
	}

	required := robotmem.IsRequired(f)
	if f.Tag.Get("cli") == "arg" {
		if c.Op.In.Field(0).Type.Kind() == reflect.String {
			help += " - reads it from stdin."
		}
		tag := fmt.Sprintf(`arg:"" name:%q help:%q`, flag, help)
		if c.several() {
			tag = fmt.Sprintf(`arg:"" name:%q sep:"none" help:%q`, flag, strings.TrimSuffix(help, ".")+"; also several.")
		}
		if !required {
			tag += ` optional:""`
		}

		return reflect.StructTag(tag)
	}

	if required {
		help += " Required."
	}

	tag := fmt.Sprintf(`name:%q help:%q`, flag, help)
	if slices.Contains(counts, name) {
		tag += ` short:"n"`
	}

	switch t := f.Type; {
	case t == reflect.TypeFor[*bool]():
		tag += ` negatable:""`
	case t.Kind() == reflect.Slice && !isBytes(t):
		tag += ` sep:"none"`
	}

	return reflect.StructTag(tag)
}

// Describe sets the help of the commands and finds the struct of each.
func (o Commands) Describe(root *kong.Node, examples func(path string) string) {
	for _, n := range root.Leaves(false) {
		// What a command says with a method Help comes before its examples.
		n.Detail = strings.TrimSpace(n.Detail + "\n\n" + examples(n.Path()))
		c := o[n.Path()]
		if c == nil {
			continue
		}
		c.target = n.Target
		doc, _, _ := strings.Cut(c.Op.Doc, " Example: ")
		// Lists of commands show the first sentence.
		first, rest, _ := strings.Cut(doc, ". ")
		n.Help = strings.TrimSuffix(first, ".") + "."
		if rest != "" {
			n.Detail = rest + "\n\n" + n.Detail
		}
	}
}
