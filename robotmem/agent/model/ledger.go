package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Caps are limits of a day, for all processes with the same ledger; 0 is none.
type Caps struct {
	Calls   int64
	Tokens  int64 // of questions and answers
	Seconds int64 // of waiting for a model
}

// Ledger is a file that counts the calls of models, of this machine's days. Several processes may use it. Its zero value
// counts nothing and caps nothing; tests alone use that.
type Ledger struct {
	Path string
	Caps Caps
	Now  func() time.Time // nil is time.Now

	mu sync.Mutex // the lock of the file is that of the process
}

// keptDays is how many days the ledger holds.
const keptDays = 90

// lostAfter is when a call whose end was not written counts as made: its process has died.
const lostAfter = 15 * time.Minute

// book is the contents of the file.
type book struct {
	Version int                                      `json:"version"`
	Paused  *time.Time                               `json:"paused,omitempty"`
	Days    map[string]map[string]map[string]*amount `json:"days"` // by date, model and task
	Open    []open                                   `json:"open,omitempty"`
}

// amount is what calls have taken.
type amount struct {
	Calls      int64   `json:"calls"`
	Failed     int64   `json:"failed,omitempty"`
	Prompt     int64   `json:"prompt_tokens"`
	Completion int64   `json:"completion_tokens"`
	Seconds    float64 `json:"seconds"`
}

func (a *amount) add(b *amount) {
	a.Calls += b.Calls
	a.Failed += b.Failed
	a.Prompt += b.Prompt
	a.Completion += b.Completion
	a.Seconds += b.Seconds
}

// open is a call that is being made: the most that it can take counts until it is settled.
type open struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Day     string    `json:"day"`
	Model   string    `json:"model"`
	Task    string    `json:"task"`
	Prompt  int64     `json:"prompt_tokens"`
	Answer  int64     `json:"completion_tokens"`
	Seconds float64   `json:"seconds"`
}

// ErrPaused and ErrSpent say why no call is made. Both are Unavailable errors of robotmem.
var (
	ErrPaused = errors.New("language models are paused; `robotmem dream resume` lets them work again")
	ErrSpent  = errors.New("the cap of the day is reached")
)

func (l *Ledger) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

// reserve counts the most that a call can take, or fails if that is over a cap. least is the fewest seconds that make sense.
func (l *Ledger) reserve(o open, least float64) (*open, error) {
	if l.Path == "" {
		return &o, nil
	}

	err := l.change(func(b *book) error {
		if b.Paused != nil {
			return unavailable(ErrPaused)
		}

		now := l.now()
		o.ID, o.At, o.Day = fmt.Sprintf("%d-%d", os.Getpid(), now.UnixNano()), now, now.Format(time.DateOnly)
		spent := b.spent(o.Day)

		for _, c := range []struct {
			what      string
			cap, left int64
			takes     int64
		}{
			{"calls", l.Caps.Calls, l.Caps.Calls - spent.Calls, 1},
			{"tokens", l.Caps.Tokens, l.Caps.Tokens - spent.Prompt - spent.Completion, o.Prompt + o.Answer},
			{"seconds", l.Caps.Seconds, l.Caps.Seconds - int64(spent.Seconds+0.999), int64(least)},
		} {
			if c.cap > 0 && c.left < c.takes {
				return unavailable(fmt.Errorf("%w: %d of %d %s are left and this call may take %d; "+
					"the work goes on tomorrow, or with a higher llm_%s", ErrSpent, max(c.left, 0), c.cap, c.what, c.takes, c.what))
			}
		}
		if left := float64(l.Caps.Seconds) - spent.Seconds; l.Caps.Seconds > 0 {
			o.Seconds = min(o.Seconds, left)
		}
		b.Open = append(b.Open, o)

		return nil
	})

	return &o, err
}

// settle counts what a call has taken in place of the most that it could.
func (l *Ledger) settle(o *open, took amount) error {
	if l.Path == "" {
		return nil
	}

	return l.change(func(b *book) error {
		b.Open = slices.DeleteFunc(b.Open, func(other open) bool { return other.ID == o.ID })
		b.of(o).add(&took)
		return nil
	})
}

// Pause stops all calls of models until they are resumed.
func (l *Ledger) Pause(on bool) error {
	return l.change(func(b *book) error {
		switch {
		case !on:
			b.Paused = nil
		case b.Paused == nil:
			now := l.now()
			b.Paused = &now
		}

		return nil
	})
}

// Use returns what models have taken, for stats; nil if none was ever asked and nothing is paused.
func (l *Ledger) Use() (*admin.LanguageModelUse, error) {
	b, err := l.read()
	if err != nil || len(b.Days)+len(b.Open) == 0 && b.Paused == nil {
		return nil, err
	}

	u := &admin.LanguageModelUse{
		Paused: b.Paused, CapCalls: l.Caps.Calls, CapTokens: l.Caps.Tokens, CapSeconds: l.Caps.Seconds, Running: len(b.Open),
	}
	u.Today = count(b.spent(l.now().Format(time.DateOnly)))

	total, tasks := amount{}, map[[2]string]*amount{}

	for _, models := range b.Days {
		for name, of := range models {
			for task, a := range of {
				total.add(a)
				key := [2]string{name, task}
				if tasks[key] == nil {
					tasks[key] = &amount{}
				}
				tasks[key].add(a)
			}
		}
	}

	u.Total = count(&total)
	for key, a := range tasks {
		u.Tasks = append(u.Tasks, admin.LanguageModelTask{Model: key[0], Task: key[1], LanguageModelCount: count(a)})
	}
	slices.SortFunc(u.Tasks, func(a, b admin.LanguageModelTask) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Task, b.Task))
	})

	return u, nil
}

func count(a *amount) admin.LanguageModelCount {
	return admin.LanguageModelCount{
		Calls: a.Calls, Failed: a.Failed, PromptTokens: a.Prompt, CompletionTokens: a.Completion, Seconds: a.Seconds,
	}
}

// of is the amount of the day, the model and the task of a call.
func (b *book) of(o *open) *amount {
	day := b.Days[o.Day]
	if day == nil {
		day = map[string]map[string]*amount{}
		b.Days[o.Day] = day
	}
	if day[o.Model] == nil {
		day[o.Model] = map[string]*amount{}
	}
	a := day[o.Model][o.Task]
	if a == nil {
		a = &amount{}
		day[o.Model][o.Task] = a
	}

	return a
}

// spent is what a day has taken, and can take by the calls that are being made.
func (b *book) spent(day string) *amount {
	sum := &amount{}

	for _, tasks := range b.Days[day] {
		for _, a := range tasks {
			sum.add(a)
		}
	}

	for _, o := range b.Open {
		if o.Day == day {
			sum.add(&amount{Calls: 1, Prompt: o.Prompt, Completion: o.Answer, Seconds: o.Seconds})
		}
	}

	return sum
}

// change changes the file under its lock. It appears whole or not at all.
func (l *Ledger) change(f func(*book) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return unavailable(err)
	}
	lock, err := lockedfile.OpenFile(l.Path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return unavailable(err)
	}
	defer func() { _ = lock.Close() }()

	b, err := l.read()
	if err != nil {
		return err
	}
	l.tidy(b)

	if err := f(b); err != nil {
		return err
	}

	data, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return unavailable(err)
	}

	return l.write(data)
}

func (l *Ledger) write(data []byte) error {
	temp := l.Path + ".tmp"

	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return unavailable(err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, l.Path)
	}
	if err != nil {
		return unavailable(err)
	}

	return nil
}

func (l *Ledger) read() (*book, error) {
	b := &book{Version: 1, Days: map[string]map[string]map[string]*amount{}}
	if l.Path == "" {
		return b, nil
	}

	info, err := os.Stat(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is no file")
	}

	var data []byte
	if err == nil {
		data, err = os.ReadFile(l.Path)
	}
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err == nil && b.Version != 1 {
		err = fmt.Errorf("has version %d, and this program knows 1", b.Version)
	}
	if err == nil {
		err = b.check()
	}
	// What cannot be counted is not asked: a cap that is forgotten with its file would be none.
	if err != nil {
		return nil, unavailable(fmt.Errorf("the ledger %s cannot be read, so no language model is asked: %w; move it away to begin a new one", l.Path, err))
	}
	if b.Days == nil {
		b.Days = map[string]map[string]map[string]*amount{}
	}

	return b, nil
}

// check refuses a book whose counts are below zero: they would lift the caps.
func (b *book) check() error {
	const wrong = "has a count below zero on %s"

	for day, models := range b.Days {
		for _, tasks := range models {
			for _, a := range tasks {
				if a == nil || min(a.Calls, a.Failed, a.Prompt, a.Completion) < 0 || a.Seconds < 0 {
					return fmt.Errorf(wrong, day)
				}
			}
		}
	}

	for _, o := range b.Open {
		if min(o.Prompt, o.Answer) < 0 || o.Seconds < 0 {
			return fmt.Errorf(wrong, o.Day)
		}
	}

	return nil
}

// tidy counts calls of dead processes as made, and forgets old days.
func (l *Ledger) tidy(b *book) {
	now := l.now()
	b.Open = slices.DeleteFunc(b.Open, func(o open) bool {
		if now.Sub(o.At) < lostAfter+time.Duration(o.Seconds*float64(time.Second)) {
			return false
		}
		b.of(&o).add(&amount{Calls: 1, Failed: 1, Prompt: o.Prompt, Completion: o.Answer, Seconds: o.Seconds})
		return true
	})

	oldest := now.AddDate(0, 0, -keptDays).Format(time.DateOnly)
	for day := range b.Days {
		if day < oldest {
			delete(b.Days, day)
		}
	}
}

func unavailable(err error) error {
	return &robotmem.Error{Kind: robotmem.Unavailable, Field: "llm", Err: err}
}
