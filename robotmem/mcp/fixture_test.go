package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The tools, resources and prompts of the scenarios of the official conformance suite,
// with the names and texts from their descriptions.

const (
	fixturePNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	fixtureWAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
	// fixturePause is the time between the notifications of one call.
	fixturePause = 50 * time.Millisecond
)

// fixtureOptions announce the features that only the suite uses.
var fixtureOptions = []server.ServerOption{
	server.WithResourceCapabilities(true, true),
	server.WithLogging(),
	server.WithElicitation(),
}

// mountFixture adds the suite's tools, resources and prompts to those of s.
func mountFixture(s *Server) {
	mountFixtureTools(s)
	mountFixtureQuestions(s)
	mountFixtureResources(s)
	mountFixturePrompts(s)
}

func mountFixtureTools(s *Server) {
	embedded := func(uri, mediaType, text string) mcp.Content {
		return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: mediaType, Text: text})
	}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":       {mcp.NewTextContent("This is a simple text response for testing.")},
		"test_image_content":     {mcp.NewImageContent(fixturePNG, "image/png")},
		"test_audio_content":     {mcp.NewAudioContent(fixtureWAV, "audio/wav")},
		"test_embedded_resource": {embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {
			mcp.NewTextContent("Multiple content types test:"),
			mcp.NewImageContent(fixturePNG, "image/png"),
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		},
	} {
		s.mcp.AddTool(mcp.NewTool(name, mcp.WithDescription("Answers always the same.")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	s.mcp.AddTool(mcp.NewTool("test_error_handling", mcp.WithDescription("Fails always.")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	s.mcp.AddTool(mcp.NewTool("test_tool_with_logging", mcp.WithDescription("Logs three lines.")), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			notify(ctx, mcp.MethodNotificationMessage, map[string]any{"level": "info", "logger": "fixture", "data": line})
			time.Sleep(fixturePause)
		}
		return mcp.NewToolResultText("three lines logged"), nil
	})
	s.mcp.AddTool(mcp.NewTool("test_tool_with_progress", mcp.WithDescription("Reports progress three times.")), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, done := range []int{0, 50, 100} {
			if req.Params.Meta != nil && req.Params.Meta.ProgressToken != nil {
				notify(ctx, mcp.MethodNotificationProgress, map[string]any{"progressToken": req.Params.Meta.ProgressToken, "progress": done, "total": 100})
			}
			if done < 100 { // the last comes right before the answer
				time.Sleep(fixturePause)
			}
		}
		return mcp.NewToolResultText("progress reported"), nil
	})
	s.mcp.AddTool(mcp.Tool{Name: "json_schema_2020_12_tool", Description: "Tool with JSON Schema 2020-12 features", RawInputSchema: json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
		"additionalProperties": false}`)}, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("ok"), nil
	})
}

// mountSampling adds the tool that asks the client's model.
func mountSampling(s *Server) {
	s.mcp.EnableSampling()
	s.mcp.AddTool(mcp.NewTool("test_sampling", mcp.WithDescription("Asks the client's model."), mcp.WithString("prompt", mcp.Required())), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//nolint:staticcheck // the suite has a scenario for it
		res, err := s.mcp.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{
			Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(req.GetString("prompt", ""))}},
			MaxTokens: 100,
		}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(fmt.Sprintf("LLM response: %v", res.Content)), nil
	})
}

// mountFixtureQuestions adds the tools that ask the user something.
func mountFixtureQuestions(s *Server) {
	text := func(doc string) map[string]any { return map[string]any{"type": "string", "description": doc} }
	one := func(values ...string) map[string]any { return map[string]any{"type": "string", "enum": values} }
	titled := func(key string) map[string]any {
		return map[string]any{key: []any{
			map[string]any{"const": "value1", "title": "First Option"},
			map[string]any{"const": "value2", "title": "Second Option"},
			map[string]any{"const": "value3", "title": "Third Option"},
		}}
	}
	titledOne := titled("oneOf")
	titledOne["type"] = "string"
	legacy := one("opt1", "opt2", "opt3")
	legacy["enumNames"] = []string{"Option One", "Option Two", "Option Three"}
	withDefault := func(kind string, value any) map[string]any { return map[string]any{"type": kind, "default": value} }
	status := one("active", "inactive", "pending")
	status["default"] = "active"
	for name, properties := range map[string]map[string]any{
		"test_elicitation": {"username": text("User's response"), "email": text("User's email address")},
		"test_elicitation_sep1034_defaults": {
			"name": withDefault("string", "John Doe"), "age": withDefault("integer", 30), "score": withDefault("number", 95.5),
			"status": status, "verified": withDefault("boolean", true),
		},
		"test_elicitation_sep1330_enums": {
			"untitledSingle": one("option1", "option2", "option3"),
			"titledSingle":   titledOne,
			"legacyEnum":     legacy,
			"untitledMulti":  map[string]any{"type": "array", "items": one("option1", "option2", "option3")},
			"titledMulti":    map[string]any{"type": "array", "items": titled("anyOf")},
		},
	} {
		s.mcp.AddTool(mcp.NewTool(name, mcp.WithDescription("Asks the user."), mcp.WithString("message")), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := s.mcp.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
				Message:         req.GetString("message", "Please tell"),
				RequestedSchema: map[string]any{"type": "object", "properties": properties},
			}})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(fmt.Sprintf("Elicitation completed: action=%s, content=%v", res.Action, res.Content)), nil
		})
	}
}

func mountFixtureResources(s *Server) {
	static := func(uri, mediaType string, contents mcp.ResourceContents) {
		s.mcp.AddResource(mcp.NewResource(uri, strings.TrimPrefix(uri, "test://"), mcp.WithResourceDescription("For the suite."), mcp.WithMIMEType(mediaType)), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{contents}, nil
		})
	}
	static("test://static-text", "text/plain", mcp.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."})
	static("test://static-binary", "image/png", mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: fixturePNG})
	static("test://watched-resource", "text/plain", mcp.TextResourceContents{URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched."})
	s.mcp.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template", mcp.WithTemplateDescription("For the suite."), mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)}}, nil
		})
}

func mountFixturePrompts(s *Server) {
	user := func(contents ...mcp.Content) *mcp.GetPromptResult {
		res := &mcp.GetPromptResult{}
		for _, c := range contents {
			res.Messages = append(res.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
		}
		return res
	}
	add := func(name string, make func(args map[string]string) *mcp.GetPromptResult, args ...string) {
		options := []mcp.PromptOption{mcp.WithPromptDescription("For the suite.")}
		for _, a := range args {
			options = append(options, mcp.WithArgument(a, mcp.ArgumentDescription("Shown in the text."), mcp.RequiredArgument()))
		}
		s.mcp.AddPrompt(mcp.NewPrompt(name, options...), func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return make(req.Params.Arguments), nil
		})
	}
	add("test_simple_prompt", func(map[string]string) *mcp.GetPromptResult {
		return user(mcp.NewTextContent("This is a simple prompt for testing."))
	})
	add("test_prompt_with_arguments", func(args map[string]string) *mcp.GetPromptResult {
		return user(mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])))
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(args map[string]string) *mcp.GetPromptResult {
		return user(
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: args["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
			mcp.NewTextContent("Please process the embedded resource above."))
	}, "resourceUri")
	add("test_prompt_with_image", func(map[string]string) *mcp.GetPromptResult {
		return user(mcp.NewImageContent(fixturePNG, "image/png"), mcp.NewTextContent("Please analyze the image above."))
	})
}
