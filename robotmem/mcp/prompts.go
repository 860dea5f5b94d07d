package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// addPrompts offers what a person starts by hand: what to know before a task,
// and what to learn from an episode. They only read.
func (s *Server) addPrompts() {
	s.addPrompt(mcp.NewPrompt("brief_me",
		mcp.WithPromptTitle("Brief me before a task"),
		mcp.WithPromptDescription("What this memory knows that matters for a task: rules, what worked, what failed, what happened near the place."),
		mcp.WithArgument("task", mcp.ArgumentDescription("What is about to be done, in words: hold a wet glass."), mcp.RequiredArgument()),
		mcp.WithArgument("collection", mcp.ArgumentDescription("Namespace to look in; default if absent, * for all.")),
		mcp.WithArgument("tag", mcp.ArgumentDescription("Only what carries this tag.")),
		mcp.WithArgument("place", mcp.ArgumentDescription("Where: coordinates as in 1.2, 0.5 or spatial.object_position: 1.2, 0.5, 0.8, in the unit of those stored; or a name, which is searched as words.")),
	), s.briefMe)
	s.addPrompt(mcp.NewPrompt("review_episode",
		mcp.WithPromptTitle("Review an episode"),
		mcp.WithPromptDescription("What happened in an episode, what was recalled for it and what of that helped, and how to keep the lessons."),
		mcp.WithArgument("session_id", mcp.ArgumentDescription("The episode, from start_session."), mcp.RequiredArgument()),
	), s.reviewEpisode)
}

// prompter makes the text of a prompt out of its arguments.
type prompter func(ctx context.Context, args map[string]string) (string, error)

func (s *Server) addPrompt(p mcp.Prompt, text prompter) {
	s.mcp.AddPrompt(p, func(ctx context.Context, req mcp.GetPromptRequest) (_ *mcp.GetPromptResult, err error) {
		defer s.recovered(ctx, &err)
		args := map[string]string{}
		for _, a := range p.Arguments {
			args[a.Name] = strings.TrimSpace(req.Params.Arguments[a.Name])
			if a.Required && args[a.Name] == "" {
				return nil, s.shown(ctx, &robotmem.Error{Op: p.Name, Kind: robotmem.Invalid, Field: a.Name, Err: errors.New("is required")})
			}
		}
		t, err := text(ctx, args)
		if err != nil {
			return nil, s.shown(ctx, err)
		}
		return mcp.NewGetPromptResult(p.Description, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(t))}), nil
	})
}

// page is the text of a prompt, which must fit a conversation as answers do.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// section is a title and its lines; what has none says so.
func (p *page) section(title, none string, lines []string) {
	p.line("\n## %s", title)
	if len(lines) == 0 {
		p.line("%s", none)
	}
	for _, l := range lines {
		p.line("- %s", l)
	}
}
