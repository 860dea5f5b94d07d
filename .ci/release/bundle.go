package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// MCP bundles: a zip of manifest.json, the program and an icon, which clients
// such as Claude Desktop install with a double click. The manifest follows
// version 0.3 of github.com/modelcontextprotocol/mcpb, MANIFEST.md.

const (
	manifestVersion = "0.3"
	repository      = "https://github.com/robotmem/robotmem-go"
	license         = "Apache-2.0"
	// summary has at most the 100 characters that the registry takes.
	summary = "A memory for robots: records what happened, recalls what worked here, and says why. Local, offline."
)

type manifest struct {
	ManifestVersion string                `json:"manifest_version"`
	Name            string                `json:"name"`
	DisplayName     string                `json:"display_name"`
	Version         string                `json:"version"`
	Description     string                `json:"description"`
	Author          manifestAuthor        `json:"author"`
	Repository      manifestRepository    `json:"repository"`
	Homepage        string                `json:"homepage"`
	Icon            string                `json:"icon"`
	Server          manifestServer        `json:"server"`
	Tools           []manifestTool        `json:"tools"`
	ToolsGenerated  bool                  `json:"tools_generated"`
	Keywords        []string              `json:"keywords"`
	License         string                `json:"license"`
	Compatibility   manifestCompatibility `json:"compatibility"`
	UserConfig      map[string]userConfig `json:"user_config"`
}

type manifestAuthor struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type manifestRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type manifestServer struct {
	Type       string         `json:"type"`
	EntryPoint string         `json:"entry_point"`
	Config     manifestConfig `json:"mcp_config"`
}

type manifestConfig struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

type manifestTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type manifestCompatibility struct {
	Platforms []string `json:"platforms"`
}

type userConfig struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     string `json:"default"`
}

// bundleFile is a bundle that was written.
type bundleFile struct {
	name string
	sum  string // sha256, hexadecimal
}

func (r *release) manifest(t target) *manifest {
	entry := "server/" + t.program()
	m := &manifest{
		ManifestVersion: manifestVersion, Name: "robotmem", DisplayName: "robotmem", Version: r.version, Description: summary,
		Author:     manifestAuthor{"The robotmem authors", repository},
		Repository: manifestRepository{"git", repository}, Homepage: repository, Icon: "icon.png",
		Server: manifestServer{Type: "binary", EntryPoint: entry, Config: manifestConfig{
			Command: "${__dirname}/" + entry, Args: []string{"mcp"},
			// Variables, not flags: one that the user leaves empty is no setting.
			Env: map[string]string{
				"ROBOTMEM_DB": "${user_config.db}", "ROBOTMEM_COLLECTION": "${user_config.collection}",
			},
		}},
		ToolsGenerated: true,
		Keywords:       []string{"memory", "robotics", "embodied", "recall", "sqlite"}, License: license,
		Compatibility: manifestCompatibility{[]string{t.goos}},
		UserConfig: map[string]userConfig{
			"db": {
				Type: "string", Title: "Memory file",
				Description: "Full path of the memory's file. Empty: memory.db in the folder .robotmem of your home.",
			},
			"collection": {
				Type: "string", Title: "Collection",
				Description: "Namespace to remember in and to recall from, such as the robot's name. Empty: default.",
			},
		},
	}
	if t.goos == "windows" {
		m.Compatibility.Platforms[0] = "win32" // as Node names it
	}

	for _, op := range robotmem.Ops() {
		if op.Hints.Tool {
			first, _, _ := strings.Cut(op.Doc, ". ")
			m.Tools = append(m.Tools, manifestTool{op.Name, strings.TrimSuffix(first, ".") + "."})
		}
	}

	return m
}

// bundle writes the .mcpb of a target.
func (r *release) bundle(t target, binary []byte) (bundleFile, error) {
	m, err := encode(r.manifest(t))
	if err != nil {
		return bundleFile{}, err
	}
	icon, err := os.ReadFile(filepath.Join(r.root, ".ci/release/icon.png"))
	if err != nil {
		return bundleFile{}, err
	}
	papers, err := r.papers()
	if err != nil {
		return bundleFile{}, err
	}

	files := append([]packed{
		{"manifest.json", m, false}, {"server/" + t.program(), binary, true}, {"icon.png", icon, false},
	}, papers...)
	data, err := zipped(files, r.when)
	if err != nil {
		return bundleFile{}, err
	}
	b := bundleFile{fmt.Sprintf("robotmem_%s_%s_%s.mcpb", r.version, t.goos, t.goarch), sumOf(data)}
	return b, r.write(b.name, data)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}
