//go:build e2e

package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A step is one tool call that the scripted model asks for. Before it is handed out, before runs.
type step struct {
	name   string
	input  any
	raw    string // of a tool that takes a text, in place of input
	before func()
	told   string // what the model is told after it, and was not told so often before; empty is anything
}

// A model is a scripted model on loopback: it answers the hosts' requests in the wire formats of
// four vendors. The script of a conversation is the first whose prompt is in it.
type model struct {
	*script // the first
	scripts []*script
	url     string
	mu      sync.Mutex
	answers int
}

// A script is one step after the other, and then a sentence. The number of the step is the number
// of results in the request.
type script struct {
	prompt string
	steps  []step

	mu    *sync.Mutex
	asked int
	heard []string // bodies of the requests that had tools
	after []string // the last of these after so many results
}

// scripted is the sentence after the last step.
const scripted = "scripted run finished"

// newModel has one script for the conversation that begins with the prompt.
func newModel(t *testing.T, steps []step) *model {
	t.Helper()
	m := &model{}
	m.script = m.add(prompt, steps...)
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// add has the model answer the conversation that begins with the prompt. Call it before that.
func (m *model) add(prompt string, steps ...step) *script {
	s := &script{prompt: prompt, mu: &m.mu}
	s.plays(steps...)
	m.scripts = append(m.scripts, s)
	return s
}

// plays gives the script its steps.
func (s *script) plays(steps ...step) { s.steps, s.after = steps, make([]string, len(steps)+1) }

// text is everything that the model was told.
func (s *script) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.heard, "\n")
}

// last is the last request: hosts send the whole conversation each time.
func (s *script) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard[len(s.heard)-1]
}

// done reports whether the model was told of every step.
func (s *script) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked > len(s.steps)
}

// check holds the conversation to what the steps say is told after them.
func (s *script) check(t *testing.T) {
	t.Helper()
	done := s.done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !done {
		t.Errorf("%s ended after %d of %d steps", s.prompt, s.asked, len(s.steps))
	}

	for n, one := range s.steps {
		before, now := strings.Count(s.after[n], one.told), strings.Count(s.after[n+1], one.told)
		if one.told != "" && now <= before && n < s.asked {
			t.Errorf("%s, step %d, %v: not told %q; the end of what it was told: %s", s.prompt, n+1, one.input, one.told,
				s.after[n+1][max(0, len(s.after[n+1])-2000):])
		}
	}
}

// told is what the model was told of each step: its tool's result, in order. It reads Claude Code's
// form.
func (s *script) told(t *testing.T) []string {
	t.Helper()
	var req request
	if err := json.Unmarshal([]byte(s.last()), &req); err != nil {
		t.Fatal(err)
	}

	var out []string
	for _, msg := range req.Messages {
		var parts []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}

		if json.Unmarshal(msg.Content, &parts) != nil {
			continue // a text, of the user
		}

		for _, p := range parts {
			if p.Type != "tool_result" {
				continue
			}
			var text string
			if err := json.Unmarshal(p.Content, &text); err != nil {
				t.Fatalf("a result is no text: %s", p.Content)
			}

			out = append(out, text)
		}
	}

	return out
}

// A request is what all vendors' requests have of what is looked at.
type request struct {
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Input    json.RawMessage `json:"input"`
	Contents []struct {
		Parts []map[string]json.RawMessage `json:"parts"`
	} `json:"contents"`
	GenerationConfig struct {
		ResponseMimeType string `json:"responseMimeType"`
	} `json:"generationConfig"`
}

// ServeHTTP answers one request.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	var req request
	_ = json.Unmarshal(body, &req) // a request without a body asks for a list
	n := m.next()
	switch path := r.URL.Path; {
	case strings.Contains(path, "count"):
		answer(w, map[string]int{"input_tokens": 10, "totalTokens": 10})
	case r.Method == http.MethodGet:
		answer(w, map[string]any{
			"object": "list",
			"data":   []any{map[string]string{"id": "fake-model", "object": "model"}}, "models": []any{},
		})
	case strings.Contains(path, "/messages"):
		anthropic(w, req, n, m.pick(req, req.results(), body))
	case strings.Contains(path, "/responses"):
		responses(w, req, n, m.pick(req, req.outputs(), body))
	case strings.Contains(path, "/chat/completions"):
		chat(w, req, n, m.pick(req, req.toolMessages(), body))
	case strings.Contains(path, "enerateContent"):
		gemini(w, path, req, m.pick(req, req.functionResponses(), body))
	default:
		http.Error(w, `{"error":{"type":"not_found_error","message":"no such page"}}`, http.StatusNotFound)
	}
}

// next is a number for the ids of an answer.
func (m *model) next() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers++
	return m.answers
}

// titling is in requests of Codex for a title of its conversation, which have tools that it refuses.
const titling = "single-line task title"

// pick is the step after so many results; nil when there is none, or when the request has no tools
// to call.
func (m *model) pick(req request, done int, body []byte) *step {
	at := slices.IndexFunc(m.scripts, func(s *script) bool { return bytes.Contains(body, []byte(s.prompt)) })
	if len(req.Tools) == 0 || at < 0 || bytes.Contains(body, []byte(titling)) {
		return nil
	}

	script := m.scripts[at]
	m.mu.Lock()
	script.heard = append(script.heard, string(body))
	first := done >= script.asked
	script.asked = max(script.asked, done+1)
	script.after[min(done, len(script.steps))] = string(body)
	m.mu.Unlock()
	if done >= len(script.steps) {
		return nil
	}

	s := &script.steps[done]
	if first && s.before != nil {
		s.before()
	}

	return s
}

func (r request) results() int {
	n := 0
	for _, msg := range r.Messages {
		var parts []struct {
			Type string `json:"type"`
		}

		if json.Unmarshal(msg.Content, &parts) != nil {
			continue
		}

		for _, p := range parts {
			if p.Type == "tool_result" {
				n++
			}
		}
	}

	return n
}

func (r request) outputs() int {
	var items []struct {
		Type string `json:"type"`
	}
	n := 0
	if json.Unmarshal(r.Input, &items) == nil {
		for _, i := range items {
			if strings.HasSuffix(i.Type, "_call_output") {
				n++
			}
		}
	}

	return n
}

func (r request) toolMessages() int {
	n := 0
	for _, msg := range r.Messages {
		if msg.Role == "tool" {
			n++
		}
	}

	return n
}

func (r request) functionResponses() int {
	n := 0
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			if p["functionResponse"] != nil {
				n++
			}
		}
	}

	return n
}

// obj is JSON.
type obj = map[string]any

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// events writes server-sent events.
func events(w http.ResponseWriter) func(name string, v any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(name string, v any) {
		data, err := json.Marshal(v)
		if text, ok := v.(string); ok {
			data = []byte(text)
		}

		if err != nil {
			return
		}

		if name != "" {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

func anthropic(w http.ResponseWriter, r request, n int, s *step) {
	block, delta, stop := obj{"type": "text", "text": scripted}, obj{"type": "text_delta", "text": scripted}, "end_turn"
	begin := obj{"type": "text", "text": ""}
	if s != nil {
		block = obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": s.name, "input": s.input}
		begin = obj{"type": "tool_use", "id": block["id"], "name": s.name, "input": obj{}}
		delta, stop = obj{"type": "input_json_delta", "partial_json": text(s.input)}, "tool_use"
	}

	message := obj{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "fake-model",
		"content": []any{}, "stop_reason": nil,
		"stop_sequence": nil, "usage": obj{"input_tokens": 10, "output_tokens": 1},
	}

	if !r.Stream {
		message["content"], message["stop_reason"] = []any{block}, stop
		answer(w, message)
		return
	}

	send := events(w)
	send("message_start", obj{"type": "message_start", "message": message})
	send("content_block_start", obj{"type": "content_block_start", "index": 0, "content_block": begin})
	send("content_block_delta", obj{"type": "content_block_delta", "index": 0, "delta": delta})
	send("content_block_stop", obj{"type": "content_block_stop", "index": 0})
	send("message_delta", obj{
		"type": "message_delta", "delta": obj{"stop_reason": stop, "stop_sequence": nil},
		"usage": obj{"output_tokens": 5},
	})
	send("message_stop", obj{"type": "message_stop"})
}

func responses(w http.ResponseWriter, r request, n int, s *step) {
	id := func(kind string) string { return fmt.Sprintf("%s_%d", kind, n) }
	item := obj{
		"type": "message", "id": id("m"), "role": "assistant", "status": "completed",
		"content": []any{obj{"type": "output_text", "text": scripted, "annotations": []any{}}},
	}

	switch {
	case s != nil && s.raw != "":
		item = obj{
			"type": "custom_tool_call", "id": id("c"), "call_id": id("call"), "name": s.name, "input": s.raw,
			"status": "completed",
		}
	case s != nil:
		item = obj{
			"type": "function_call", "id": id("f"), "call_id": id("call"), "name": s.name,
			"arguments": text(s.input), "status": "completed",
		}
		if namespace, name, ok := strings.Cut(s.name, "/"); ok {
			item["namespace"], item["name"] = namespace, name
		}
	}

	response := func(status string, output ...any) obj {
		return obj{
			"id": id("resp"), "object": "response", "created_at": 1, "model": "fake-model", "status": status,
			"output": append([]any{}, output...),
			"usage": obj{
				"input_tokens": 10, "input_tokens_details": obj{"cached_tokens": 0}, "output_tokens": 5,
				"output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": 15,
			},
		}
	}

	if !r.Stream {
		answer(w, response("completed", item))
		return
	}

	send := events(w)
	event := func(kind string, more obj) {
		more["type"] = kind
		send(kind, more)
	}

	event("response.created", obj{"response": response("in_progress")})
	event("response.output_item.added", obj{"output_index": 0, "item": item})
	if s == nil {
		event("response.output_text.delta",
			obj{"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": scripted})
	}

	event("response.output_item.done", obj{"output_index": 0, "item": item})
	event("response.completed", obj{"response": response("completed", item)})
}

func chat(w http.ResponseWriter, r request, n int, s *step) {
	message, stop := obj{"role": "assistant", "content": scripted}, "stop"
	if s != nil {
		call := obj{
			"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": obj{"name": s.name, "arguments": text(s.input)},
		}
		message, stop = obj{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}

	usage := obj{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	base := func(kind string, choices ...any) obj {
		return obj{
			"id": fmt.Sprintf("c%d", n), "created": 1, "model": "fake-model", "object": kind,
			"choices": append([]any{}, choices...),
		}
	}

	if !r.Stream {
		whole := base("chat.completion", obj{"index": 0, "message": message, "finish_reason": stop})
		whole["usage"] = usage
		answer(w, whole)
		return
	}

	send := events(w)
	send("", base("chat.completion.chunk", obj{"index": 0, "delta": message, "finish_reason": nil}))
	send("", base("chat.completion.chunk", obj{"index": 0, "delta": obj{}, "finish_reason": stop}))
	last := base("chat.completion.chunk")
	last["usage"] = usage
	send("", last)
	send("", "[DONE]")
}

func gemini(w http.ResponseWriter, path string, r request, s *step) {
	part := obj{"text": scripted}
	if strings.Contains(r.GenerationConfig.ResponseMimeType, "json") { // routing and loop checks want an object
		part = obj{"text": `{"complexity_reasoning":"x","complexity_score":1,"reasoning":"x","model_choice":"flash","next_speaker":"user"}`}
	}

	if s != nil {
		part = obj{"functionCall": obj{"name": s.name, "args": s.input}}
	}

	whole := obj{
		"candidates": []any{obj{
			"index": 0, "content": obj{"role": "model", "parts": []any{part}},
			"finishReason": "STOP",
		}},
		"usageMetadata": obj{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		"modelVersion":  "fake",
	}

	if !strings.Contains(path, "stream") {
		answer(w, whole)
		return
	}

	events(w)("", whole)
}
