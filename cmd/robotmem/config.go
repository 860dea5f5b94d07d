package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/goccy/go-yaml"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/amounts"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/backup"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// A setting has one name in three spellings: --allow-path, ROBOTMEM_ALLOW_PATH and allow_path in
// the file. A flag wins over the environment, that over the file, and that over the default.

// config holds the merged settings.
type config struct {
	Home       string   `mapstructure:"-"`
	DB         string   `mapstructure:"db"`
	Collection string   `mapstructure:"collection"`
	Tenant     string   `mapstructure:"tenant"`
	Payloads   string   `mapstructure:"payloads"`
	Embedder   string   `mapstructure:"embedder"`
	Reranker   string   `mapstructure:"reranker"`  // an address, "" or none for none
	EmbedCPU   float64  `mapstructure:"embed_cpu"` // cores
	Taxonomy   string   `mapstructure:"taxonomy"`
	Entities   string   `mapstructure:"entities"`
	Durability string   `mapstructure:"durability"`
	Secrets    string   `mapstructure:"secrets"`
	KeyFile    string   `mapstructure:"key_file"`
	KeyCommand string   `mapstructure:"key_command"`
	Key        string   `mapstructure:"key"` // the text
	ReadOnly   bool     `mapstructure:"read_only"`
	AllowPath  []string `mapstructure:"allow_path"`
	LogLevel   string   `mapstructure:"log_level"`
	Memory     string   `mapstructure:"memory"` // a size, "" for the default
	URL        string   `mapstructure:"url"`
	Token      string   `mapstructure:"token"`
	Addr       string   `mapstructure:"addr"`
	OAuth      bool     `mapstructure:"oauth"` // web is its own authorization server
	Open       bool     `mapstructure:"open"`  // web serves a site without tokens
	// The identity provider whose access tokens web accepts.
	OIDCIssuer      string `mapstructure:"oidc_issuer"`
	OIDCAudience    string `mapstructure:"oidc_audience"`
	OIDCResource    string `mapstructure:"oidc_resource"` // the URL of the node, "" for that of a request
	OIDCTenantClaim string `mapstructure:"oidc_tenant_claim"`
	OIDCRoleClaim   string `mapstructure:"oidc_role_claim"`
	OIDCScopes      string `mapstructure:"oidc_scopes"` // with spaces
	OllamaURL       string `mapstructure:"ollama_url"`
	OpenAIURL       string `mapstructure:"openai_url"`
	OpenAIKey       string `mapstructure:"openai_key"`
	RerankerModel   string `mapstructure:"reranker_model"`
	RerankerKey     string `mapstructure:"reranker_key"`
	// The language model, and what it may take on a day; 0 is no limit. Dream is how long a node is idle before it dreams.
	LLM        string `mapstructure:"llm"`
	LLMCalls   int64  `mapstructure:"llm_calls"`
	LLMTokens  int64  `mapstructure:"llm_tokens"`
	LLMSeconds int64  `mapstructure:"llm_seconds"`
	Dream      string `mapstructure:"dream"`
	ProxyToken string `mapstructure:"proxy_token"`

	TLSCert     string   `mapstructure:"tls_cert"`
	TLSKey      string   `mapstructure:"tls_key"`
	AllowHost   []string `mapstructure:"allow_host"`
	BasePath    string   `mapstructure:"base_path"`    // such as /robotmem, "" for the root
	Rate        string   `mapstructure:"rate"`         // a number, "" for the default
	ImportLimit string   `mapstructure:"import_limit"` // a size, 0 for no imports over HTTP, "" for the default
	// Retention are rules as --keep of retain takes them, MinFree a size.
	Retention []string `mapstructure:"retention"`
	MinFree   string   `mapstructure:"min_free"`
	// The schedule of backups; in the file the section backup with to, every and keep.
	BackupTo    string `mapstructure:"backup_to"`
	BackupEvery string `mapstructure:"backup_every"`
	BackupKeep  string `mapstructure:"backup_keep"`
	// Weights, a section of the file, has the factors of ranked lists and of real-world data.
	Weights map[string]float64 `mapstructure:"weights"`
	Fusion  string             `mapstructure:"fusion"`

	Create bool                  `mapstructure:"-"` // only a flag: as a setting it would allow every emptied file
	given  map[string]used.Layer // the settings that were given, and where
	// collectionGiven: on the command line, not as a default in the environment or the file.
	collectionGiven bool
	homeErr         error

	// What check has read of the texts above.
	level     slog.Level
	memory    local.Memory
	imports   int64 // bytes, -1 for no imports, 0 for the default
	retention admin.Retention
	backups   *backup.Schedule // nil if none is set
	idle      time.Duration    // before a node dreams, 0 for never
}

// pathSettings are resolved against the folder of the file that holds them.
var pathSettings = []string{"db", "payloads", "taxonomy", "entities", "key_file", "allow_path", "tls_cert", "tls_key", "backup_to"}

// listSettings are lists of texts, with the way to divide the value of a variable.
var listSettings = map[string]func(string) []string{
	"allow_path": filepath.SplitList,
	"retention":  splitAt(";"),
	"allow_host": splitAt(", "),
}

func splitAt(separators string) func(string) []string {
	return func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(separators, r) })
	}
}

func defaults() map[string]any {
	out := map[string]any{}
	usual := config{
		LLM: "none", LLMCalls: 2000, LLMTokens: 2_000_000, LLMSeconds: 7200, Embedder: "auto", EmbedCPU: 1, Durability: "full", Secrets: "warn", LogLevel: "warn", Addr: "127.0.0.1:7878", Fusion: "score",
	}
	// It has the fields of config.
	_ = mapstructure.Decode(usual, &out)

	return out
}

// loadConfig merges defaults, file, environment and flags.
func loadConfig(g *globals, env func(string) (string, bool)) (config, error) {
	c := config{collectionGiven: g.Collection != nil, Create: g.Create, level: slog.LevelWarn}
	c.Home, c.homeErr = home(env)
	settings := defaults()
	// A file of that name beside the memories is taken without a setting.
	if usual := filepath.Join(c.Home, "entities.toml"); c.Home != "" && exists(usual) {
		settings["entities"] = usual
	}
	c.given = map[string]used.Layer{}
	if path, required := configPath(g, env, c.Home); path != "" {
		named, err := loadFile(settings, path, required, env, g.stdin)
		if err != nil {
			return c, err
		}

		for _, name := range named {
			c.given[name] = used.InFile
		}
	}

	if err := g.given(env, settings, c.given); err != nil {
		return c, err
	}
	// WeakDecode would take any number but 0 for true, and its error for another text names a type of Go.
	for _, name := range []string{"read_only", "oauth", "open"} {
		if _, err := strconv.ParseBool(fmt.Sprint(settings[name])); err != nil {
			return c, invalid(name, "must be true or false, not %q", settings[name])
		}
	}
	if err := mapstructure.WeakDecode(settings, &c); err != nil { // variables are texts
		return c, invalid("config", "%v", err)
	}

	return c, c.check()
}

// foreignNames are variables of other programs. They are read if ours is not set.
var foreignNames = map[string]string{"ollama_url": "OLLAMA_HOST", "openai_url": "OPENAI_BASE_URL", "openai_key": "OPENAI_API_KEY"}

// home is the folder of the memory and its settings: ROBOTMEM_HOME, or ~/.robotmem if there is one, or robotmem in
// XDG_DATA_HOME if that is set, or ~/.robotmem. Nothing is moved from one to another.
func home(env func(string) (string, bool)) (string, error) {
	if h, ok := env("ROBOTMEM_HOME"); ok && h != "" {
		return filepath.Abs(h)
	}

	own := ""

	for _, variable := range []string{"USERPROFILE", "HOME"} {
		if user, _ := env(variable); user != "" {
			own = filepath.Join(user, ".robotmem")
		}
	}

	// A relative path is to be ignored, as the specification has it.
	if data, _ := env("XDG_DATA_HOME"); filepath.IsAbs(data) && (own == "" || !exists(own)) {
		return filepath.Join(data, "robotmem"), nil
	}
	if own != "" {
		return own, nil
	}

	return "", errors.New("there is no home folder (HOME is not set); pass --db, or set ROBOTMEM_HOME")
}

// configPath is the file to read, "" for none, and whether the user named it.
func configPath(g *globals, env func(string) (string, bool), home string) (path string, required bool) {
	if g.Config != nil {
		return *g.Config, true
	}
	if p, _ := env("ROBOTMEM_CONFIG"); p != "" {
		return p, true
	}
	if home == "" {
		return "", false
	}

	return filepath.Join(home, "config.yaml"), false
}

// loadFile reads the settings of one file and returns their names. An unknown key is an error, because a misspelt
// setting would have no effect.
func loadFile(
	settings map[string]any, path string, required bool, env func(string) (string, bool), in io.Reader,
) (named []string, err error) {
	data, err := stdin.ReadFile(path, in)
	// ENOTDIR: a parent of the folder is a file, so there are no settings, either.
	if err != nil && !required && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return nil, nil
	}
	if stdin.Interrupted(err) {
		return nil, err
	}
	if err != nil {
		return nil, invalid("config", "%s cannot be read: %s", path, robotmem.Reason(err))
	}

	raw := map[string]any{}
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return nil, invalid("config", "%s is not YAML: %s", path, yaml.FormatError(err, false, false))
	}

	if value, given := raw["backup"]; given {
		section, ok := value.(map[string]any)
		if !ok {
			return nil, invalid("backup", "%s: must be a section with to, every and keep, such as {to: /mnt/usb/arm-7, every: 6h, keep: 14}", path)
		}
		delete(raw, "backup")

		for key, value := range section {
			raw["backup_"+key] = value
		}
	}

	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if _, known := settings[key]; !known {
			return nil, invalid("config", "%s has the unknown key %q; known are %s", path, key, strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
		}
		_, isList := raw[key].([]any)

		_, isSection := raw[key].(map[string]any)
		switch {
		case raw[key] == nil: // its default
			continue
		case isList && listSettings[key] == nil, isSection && key != "weights":
			return nil, invalid("config", "%s: %s must be one value, not a list or a section", path, key)
		case slices.Contains(pathSettings, key):
			settings[key] = resolvePaths(raw[key], filepath.Dir(path), env)
		default:
			settings[key] = raw[key]
		}
		named = append(named, key)
	}

	return named, nil
}

// resolvePaths resolves the paths of a file in dir.
func resolvePaths(value any, dir string, env func(string) (string, bool)) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = resolvePaths(v[i], dir, env)
		}
	case string:
		if site.IsURL(v) {
			return v
		}
		// No shell expands the ~ of a file.
		rest, ofUser := strings.CutPrefix(v, "~/")
		if user, ok := env("HOME"); ofUser && ok {
			return filepath.Join(user, rest)
		}
		if v != "" && v != "-" && !filepath.IsAbs(v) && !site.IsURL(v) {
			return filepath.Join(dir, v)
		}
	}

	return value
}

// check checks the settings that only this program uses. The memory checks the others.
func (c *config) check() error {
	if err := c.level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return invalid("log-level", "must be debug, info, warn or error, not %q", c.LogLevel)
	}

	var err error
	if c.retention, err = amounts.Retention(c.Retention, c.MinFree); err != nil {
		return err
	}
	if c.backups, err = amounts.Schedule(c.BackupTo, c.BackupEvery, c.BackupKeep); err != nil {
		return err
	}

	if c.Memory != "" {
		n, err := amounts.Size(c.Memory)
		if err != nil {
			return invalid("memory", "must be a size such as 64MiB, not %q", c.Memory)
		}
		c.memory = local.Memory(n)
	}

	switch n, err := amounts.Size(c.ImportLimit); {
	case c.ImportLimit == "0":
		c.imports = -1
	case err == nil:
		c.imports = n
	case c.ImportLimit != "":
		return invalid("import_limit", "must be a size such as 16GB, or 0 to take no recordings, not %q", c.ImportLimit)
	}

	if c.LLMCalls < 0 || c.LLMTokens < 0 || c.LLMSeconds < 0 {
		return invalid("llm_calls", "the caps llm_calls, llm_tokens and llm_seconds must be 0 or more; 0 is no limit")
	}
	if c.Dream != "" {
		const least = time.Minute
		if c.idle, err = time.ParseDuration(c.Dream); err != nil || c.idle < least {
			return invalid("dream", "must be the time without a change after which a node dreams, such as 30m, at least 1m, not %q", c.Dream)
		}
	}

	if !(c.EmbedCPU >= embedding.MinCPU && c.EmbedCPU <= embedding.MaxCPU) {
		return invalid("embed_cpu", "must be a number of cores from %v to %v, such as 0.5, not %v", embedding.MinCPU, embedding.MaxCPU, c.EmbedCPU)
	}
	// SQLite would create a file with the address as its name, and the memory would seem empty.
	if isNoFile.MatchString(c.DB) && !site.IsURL(c.DB) {
		return invalid("db", "is a file, or a site such as postgres://robotmem@db1/robotmem, not %q; a node over HTTP is named by --url http://…; ./NAME names a file that looks like an address", c.DB)
	}
	if c.URL != "" && !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://") {
		return invalid("url", "must begin with http:// or https://, not %q", c.URL)
	}

	return nil
}

// isNoFile matches addresses, and names with a meaning for SQLite, that would otherwise name a new file.
var isNoFile = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+.-]+:/|(?:file|sqlite3?|mysql|postgres(?:ql)?):|:memory:$)`)

// target returns the kind of memory of the settings.
func (c *config) target() used.Target {
	switch {
	case c.URL != "":
		return used.OnNode
	case c.onServer():
		return used.OnSite
	}

	return used.OnFile
}

// onServer reports whether the memory is a tenant's on PostgreSQL.
func (c *config) onServer() bool { return site.IsURL(c.DB) }

// payloadFolder is the folder of large payloads of a site.
func (c *config) payloadFolder() (string, error) {
	if c.Payloads != "" {
		return c.Payloads, nil
	}
	if c.homeErr != nil {
		return "", invalid("payloads", "%v", c.homeErr)
	}

	return filepath.Join(c.Home, "payloads"), nil
}

// dbPath is the user's own memory.
func (c *config) dbPath() (string, error) {
	if c.DB != "" {
		return c.DB, nil
	}
	if c.homeErr != nil {
		return "", invalid("db", "%v", c.homeErr)
	}
	if info, err := os.Stat(c.Home); err == nil && !info.IsDir() {
		return "", invalid("db", "%s is not a folder; set ROBOTMEM_HOME to one, or pass --db", c.Home)
	}

	return filepath.Join(c.Home, "memory.db"), nil
}
