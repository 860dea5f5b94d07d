package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"
)

type configCmd struct {
	Show configShowCmd `cmd:"" help:"Show every setting, its value and where it was given: flag, environment, file or default."`
}

type configShowCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// configReport has all settings and the paths that follow from them.
type configReport struct {
	Home     string        `json:"home"`
	File     string        `json:"file"` // of settings
	Present  bool          `json:"present"`
	Memory   string        `json:"memory"` // the file, the site or the node
	Settings []settingLine `json:"settings"`
}

// settingLine is one setting. The value of a secret is not shown.
type settingLine struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
	From    string `json:"from"`
	By      string `json:"by,omitempty"` // the flag, the variable or the file
	Secret  bool   `json:"secret,omitempty"`
}

const notShown = "(set, not shown)"

// isSecret reports whether a setting is a secret itself, and not the name of a file.
func isSecret(name string) bool {
	return name == "token" || name == "proxy_token" || name == "key" || strings.HasSuffix(name, "_key") && !slices.Contains(pathSettings, name)
}

// Run shows the settings as any other command would take them.
func (c *configShowCmd) Run(a *app, g *globals) error {
	values := map[string]any{}
	if err := mapstructure.Decode(a.Config, &values); err != nil {
		return err
	}

	r := &configReport{Home: a.Config.Home}
	r.File, _ = configPath(g, a.env, a.Config.Home)
	r.Present = r.File != "" && exists(r.File)
	r.Memory = a.Config.URL
	if r.Memory == "" {
		path, err := a.Config.dbPath()
		if err != nil {
			return err
		}
		r.Memory = withoutPassword(path)
	}

	for _, name := range slices.Sorted(maps.Keys(defaults())) {
		s := settingLine{Setting: name, Value: values[name], From: "default", Secret: isSecret(name)}
		switch a.Config.given[name] {
		case used.InFlags:
			s.From, s.By = "flag", used.InFlags.Spelling(name)
		case used.InEnvironment:
			s.From, s.By = "environment", used.InEnvironment.Spelling(name)
		case used.InFile:
			s.From, s.By = "file", r.File
		}

		if other := foreignNames[name]; s.From == "default" && other != "" {
			if v, _ := a.env(other); v != "" {
				s.From, s.By = "environment", other
			}
		}

		if text := fmt.Sprint(s.Value); s.Secret && text != "" {
			s.Value = notShown
		} else if _, isText := s.Value.(string); isText {
			s.Value = withoutPassword(text)
		}
		r.Settings = append(r.Settings, s)
	}

	return a.show(c.JSON, r, func(w *printed.Lines) {
		w.Line("memory: %s", printed.OneLine(r.Memory))
		found := ""
		if !r.Present {
			found = " (there is none)"
		}
		w.Line("file of settings: %s%s", printed.OneLine(r.File), found)
		printed.Table(w, "SETTING\tVALUE\tFROM", r.Settings, func(s settingLine) []any {
			value := fmt.Sprint(s.Value)
			if value == "[]" || value == "map[]" {
				value = ""
			}
			return []any{s.Setting, value, strings.TrimSpace(s.From + " " + s.By)}
		})
	})
}

// withoutPassword is an address without the password that it may hold.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
