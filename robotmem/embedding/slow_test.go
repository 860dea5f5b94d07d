package embedding_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/embedding"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// slowService is an OpenAI-compatible service within this process that computes one text after
// another and needs a certain time for each. Like most servers it goes on with a request whose
// caller left.
type slowService struct {
	perText func(request int) time.Duration

	queue chan bool // holds the request that is computed

	mu      sync.Mutex
	batches []int         // texts of each request
	worked  time.Duration // time of the texts that were computed
}

func newSlowService(perText func(request int) time.Duration) *slowService {
	return &slowService{perText: perText, queue: make(chan bool, 1)}
}

// RoundTrip implements http.RoundTripper.
func (s *slowService) RoundTrip(r *http.Request) (*http.Response, error) {
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	took := time.Duration(len(in.Input)) * s.perText(len(s.batches))
	s.batches = append(s.batches, len(in.Input))
	s.mu.Unlock()
	if took < 0 { // it hangs
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	answered := make(chan bool)
	go func() {
		s.queue <- true
		time.Sleep(took)
		<-s.queue
		s.mu.Lock()
		s.worked += took
		s.mu.Unlock()
		close(answered)
	}()
	select {
	case <-answered:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	data := make([]string, len(in.Input))
	for i, text := range in.Input {
		data[i] = fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(text))
	}
	body := fmt.Sprintf(`{"data":[%s]}`, strings.Join(data, ","))
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// asked returns the number of texts of each request so far.
func (s *slowService) asked() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.batches)
}

// node opens a memory with n facts whose embedder is the service.
func (s *slowService) node(t *testing.T, n int) *local.Node {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	m, err := local.Open(t.Context(), path, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	req := &robotmem.LearnBatchRequest{}
	for i := range n {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("the gripper held object %d at %d.5 N", i, i)})
	}
	if _, err := m.LearnBatch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := embedding.Open("openai:slow", embedding.Options{OpenAIURL: "http://embedder.local", HTTPClient: &http.Client{Transport: s}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.(io.Closer).Close() })
	if m, err = local.Open(t.Context(), path, local.Options{Embedder: e}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// finished waits until every memory has a vector and returns how long that took.
func finished(t *testing.T, m *local.Node, limit time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		s, err := m.Stats(t.Context(), &admin.StatsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		if s.Backlog == 0 {
			return took
		}
		if took > limit {
			t.Fatalf("%d memories have no vector after %v", s.Backlog, took)
		}
		time.Sleep(time.Second)
	}
}

// 64 texts of such a service take longer than the time limit of a request. The times are those of
// synctest's clock.
func TestBacklogOfASlowServiceTakesTheTimeOfTheService(t *testing.T) {
	const texts, perText = 200, 600 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		s := newSlowService(func(int) time.Duration { return perText })
		m := s.node(t, texts)
		took := finished(t, m, 10*time.Minute)
		if own := texts * perText; took > own*12/10 {
			t.Errorf("the backlog took %v, want at most 1.2 times the %v that the service needs; requests of %v texts", took, own, s.asked())
		}
	})
}

// A service that becomes slow is asked for fewer texts, and no vector is computed twice except
// those of the requests that took too long.
func TestServiceThatBecomesSlowIsAskedForLess(t *testing.T) {
	const texts = 400
	synctest.Test(t, func(t *testing.T) {
		s := newSlowService(func(request int) time.Duration {
			if request < 5 {
				return 10 * time.Millisecond
			}
			return 600 * time.Millisecond
		})
		m := s.node(t, texts)
		took := finished(t, m, time.Hour)
		asked := s.asked()
		if !slices.Contains(asked[:5], 64) {
			t.Errorf("a fast service was asked for %v texts, want up to 64", asked[:5])
		}
		sum := 0
		for _, n := range asked {
			sum += n
		}
		if sum > texts+1+64+32 { // one to learn the dimension, and two requests that took too long
			t.Errorf("%d texts were sent in %v, want each once", sum, asked)
		}
		if own := texts * 600 * time.Millisecond; took > own*12/10 {
			t.Errorf("the backlog took %v, the service alone needs less than %v; requests of %v texts", took, own, asked)
		}
	})
}

// A query that a busy service does not answer in time pauses nothing, and words answer within the
// deadline.
func TestQueriesDuringABacklogPauseNothing(t *testing.T) {
	const texts, perText = 40, 2500 * time.Millisecond // longer than a recall waits
	synctest.Test(t, func(t *testing.T) {
		s := newSlowService(func(int) time.Duration { return perText })
		m := s.node(t, texts)
		time.Sleep(time.Second)
		for _, deadline := range []int{0, 50, 1500, 5000} {
			start := time.Now()
			res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "object gripper", DeadlineMS: deadline})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			if limit := time.Duration(deadline) * time.Millisecond; deadline > 0 && took > limit || took > 2*time.Second {
				t.Errorf("with a deadline of %v the recall took %v", limit, took)
			}
			if len(res.Memories) == 0 || res.Mode != "bm25_only" || !strings.Contains(fmt.Sprint(res.Degraded), "vector: ") {
				t.Errorf("with a deadline of %d ms got %d memories, mode %s, degraded %v", deadline, len(res.Memories), res.Mode, res.Degraded)
			}
			if strings.Contains(fmt.Sprint(res.Degraded), "paused") {
				t.Errorf("a query has paused the service: %v", res.Degraded)
			}
		}
		const questions = 4
		took := finished(t, m, time.Hour)
		if own := (texts + questions) * perText; took > own*12/10 {
			t.Errorf("the backlog took %v, want at most 1.2 times the %v that the service needs; requests of %v texts", took, own, s.asked())
		}
	})
}

// A service that answers nothing is paused, also while memories and queries wait.
func TestServiceThatHangsIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowService(func(request int) time.Duration {
			if request == 0 {
				return 0
			}
			return -1
		})
		m := s.node(t, 40)
		time.Sleep(3 * time.Minute)
		if got := len(s.asked()); got > 4 {
			t.Errorf("%d requests in three minutes, want pauses: %v texts", got, s.asked())
		}
		start := time.Now()
		res, err := m.Recall(t.Context(), &robotmem.RecallRequest{Query: "object gripper"})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 0 || !strings.Contains(fmt.Sprint(res.Degraded), "no answer within 30s") {
			t.Errorf("the recall took %v, degraded %v", took, res.Degraded)
		}
	})
}
