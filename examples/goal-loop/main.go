// Goal-loop lets a command try to reach a goal until checks pass. The memory says what was tried, also in an earlier
// run; git keeps a snapshot before each try. Without flags it shows itself on a small repository.
//
//	goal-loop -goal "the tests pass" -check "go test ./..." -try "my-agent --fix" -rollback
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	log.SetFlags(0)

	l := &loop{Out: os.Stdout}
	flag.StringVar(&l.Goal, "goal", "", "what to reach; without it, a demonstration runs")
	flag.Func("check", "a `command` that must exit with 0; repeat it for several", func(s string) error {
		l.Checks = append(l.Checks, s)
		return nil
	})
	flag.StringVar(&l.Try, "try", "", "the `command` that makes a try; it gets GOAL, TRY, TRIED and ADVICE in its environment")
	flag.StringVar(&l.Dir, "dir", ".", "the root of a working tree of git")
	flag.IntVar(&l.MaxTries, "max-tries", 10, "stop after so many tries")
	flag.DurationVar(&l.MaxTime, "max-time", time.Hour, "stop after this time")
	flag.IntVar(&l.Stuck, "stuck", 3, "stop after so many tries without progress")
	flag.BoolVar(&l.Rollback, "rollback", false, "undo a try that made no progress")
	db := flag.String("db", "memory.db", "the memory")
	url := flag.String("url", "", "a node that has the memory, instead of -db")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	run := l.demonstrate
	if l.Goal != "" {
		run = func(ctx context.Context) (bool, error) { return l.withMemory(ctx, *db, *url) }
	}

	reached, err := run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if !reached {
		os.Exit(1)
	}
}

func (l *loop) withMemory(ctx context.Context, db, url string) (reached bool, err error) {
	if len(l.Checks) == 0 || l.Try == "" {
		return false, errors.New("-check and -try are missing")
	}

	if url != "" {
		l.Memory = client.New(url, client.Options{Token: os.Getenv("ROBOTMEM_TOKEN")})
		return l.run(ctx)
	}

	m, err := local.Open(ctx, db, local.Options{ClientType: "goal-loop"})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	l.Memory = m

	return l.run(ctx)
}

// agent is a stand-in for a coding agent. It knows three ideas and takes the first that was not tried.
const agent = `
for idea in "speed 12" "speed 9" "speed 5"; do
	case "$TRIED" in *"$idea"*) continue ;; esac
	echo "$idea" > config.txt
	echo "note of try $TRY" > note.txt
	echo "Changed: $idea"
	exit
done
`

// demonstrate runs the loop twice over a small repository: the first run is stopped after one try, and the second one
// knows it.
func (l *loop) demonstrate(ctx context.Context) (reached bool, err error) {
	dir, err := os.MkdirTemp("", "goal-loop-demo-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	l.Dir = filepath.Join(dir, "robot")
	l.Goal, l.Try, l.Rollback = "the robot is slower than 10 and faster than 8", agent, true
	l.Checks = []string{
		`test "$(cut -d" " -f2 config.txt)" -lt 10`, `test "$(cut -d" " -f2 config.txt)" -gt 8`,
	}

	_, _, err = (&loop{Dir: dir}).command(ctx,
		`git init -q robot && cd robot && echo "speed 20" > config.txt && git add . &&
		git -c user.name=demo -c user.email=demo@localhost commit -qm begin`, nil)
	if err != nil {
		return false, err
	}

	for run, tries := range []int{1, 5} {
		l.say("-- run %d", run+1)
		l.MaxTries = tries
		if reached, err = l.withMemory(ctx, filepath.Join(dir, "memory.db"), ""); err != nil {
			return false, err
		}
	}

	data, err := os.ReadFile(filepath.Join(l.Dir, "config.txt"))
	l.say("config.txt: %s", data)

	return reached, err
}
