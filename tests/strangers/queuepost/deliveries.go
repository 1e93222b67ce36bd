package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	deliveryTimeout = 10 * time.Second
	interval        = time.Second // between two looks at the queue
	attempts        = 3
	retryWait       = time.Second
)

// job is one delivery in the queue.
type job struct {
	endpoint *endpoint
	project  string
	key      string // the idempotency key of its event
	apiKey   string
	headers  map[string]string
	payload  []byte
	tries    int
	due      time.Time
	taken    bool
}

func (s *service) broadcast(c call) (int, string, any) {
	sent := body(c.request, map[string]byte{"acknowledged_at": 's', "custom_headers": 'o', "data": 'o', "event_type": 's', "idempotency_key": 's'})
	sent.require("event_type", "data")
	headers := map[string]string{}
	if sent["custom_headers"] != nil && json.Unmarshal(sent["custom_headers"], &headers) != nil {
		refuse(400, "custom_headers has a value of another type")
	}
	for name, value := range headers {
		if !sendable(name, value) {
			refuse(400, "custom header %q cannot be sent", name)
		}
	}
	payload := compacted(sent["data"])
	if s.has("spaces_sent_but_not_signed") {
		payload = slices.Clone(sent["data"])
	}
	if s.has("numbers_are_floats") {
		var value any
		json.Unmarshal(payload, &value)
		payload, _ = json.Marshal(value)
	}
	key, scope := sent.text("idempotency_key"), c.project+"/"
	if s.has("idempotency_of_all_projects") {
		scope = ""
	}
	apiKey := c.request.Header.Get("Authorization")
	s.mu.Lock()
	defer s.mu.Unlock()
	if key != "" && s.seen[scope+key] {
		return 201, "Broadcast event created successfully", nil
	}
	s.seen[scope+key] = key != ""
	for _, e := range s.endpoints {
		foreign := e.project != c.project && !s.has("broadcast_to_all_projects")
		if !s.subscriptions[e.uid] || foreign || (!e.active && !s.has("disabled_receives")) {
			continue
		}
		s.jobs = append(s.jobs, &job{endpoint: e, project: c.project, key: key, apiKey: apiKey, headers: headers, payload: payload, due: time.Now()})
	}
	return 201, "Broadcast event created successfully", nil
}

func compacted(content json.RawMessage) []byte {
	var out bytes.Buffer
	json.Compact(&out, content)
	return out.Bytes()
}

// poll looks at the queue each second, and sends what is due.
func (s *service) poll() {
	for {
		time.Sleep(interval)
		s.mu.Lock()
		now, due := time.Now(), []*job{}
		for _, each := range s.jobs {
			if (!each.taken || s.has("taken_twice")) && !each.due.After(now) {
				each.taken = true
				due = append(due, each)
			}
		}
		s.mu.Unlock()
		if s.has("batch_ends_at_a_failure") {
			go func() {
				for place, each := range due {
					if !s.try(each) {
						for _, left := range due[place+1:] {
							s.remove(left)
						}
						return
					}
				}
			}()
			continue
		}
		for _, each := range due {
			go s.try(each)
		}
	}
}

func (s *service) remove(gone *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(each *job) bool { return each == gone })
}

// try sends a job once, and removes it from the queue or puts it back.
func (s *service) try(each *job) bool {
	e := each.endpoint
	room, limit, window := e.room, e.limit, e.window
	if s.has("one_bucket_for_all") {
		room = s.shared
		limit, window = room.last(limit, window)
	}
	if s.has("excess_dropped") && limit > 0 && room.full(limit, window) {
		s.remove(each)
		return true
	}
	room.wait(limit, window)
	status := s.send(each)
	s.mu.Lock()
	each.tries++
	most := attempts
	if s.has("last_retry_lost") {
		most--
	}
	if s.has("retried_without_end") {
		most = 1 << 30
	}
	final := status/100 == 2 || each.tries >= most || (status/100 == 5 && s.has("server_errors_are_final"))
	if !final {
		each.taken, each.due = false, time.Now().Add(retryWait)
	}
	s.mu.Unlock()
	if final {
		s.remove(each)
	}
	return status/100 == 2
}

// bucket holds the times of the requests to an endpoint in the last window.
type bucket struct {
	mu     sync.Mutex
	sent   []time.Time
	limit  int64
	window time.Duration
}

// last returns the limit that is given, or the one that was given last.
func (b *bucket) last(limit int64, window time.Duration) (int64, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if limit > 0 {
		b.limit, b.window = limit, window
	}
	return b.limit, b.window
}

func (b *bucket) full(limit int64, window time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(len(b.sent)) >= limit && time.Since(b.sent[0]) < window
}

// wait waits until less than limit requests were sent in the window that ends now.
func (b *bucket) wait(limit int64, window time.Duration) {
	if window == 0 {
		window = time.Second
	}
	for limit > 0 {
		b.mu.Lock()
		now := time.Now()
		b.sent = slices.DeleteFunc(b.sent, func(at time.Time) bool { return now.Sub(at) >= window })
		if int64(len(b.sent)) < limit {
			b.sent = append(b.sent, now)
			b.mu.Unlock()
			return
		}
		pause := b.sent[0].Add(window).Sub(now)
		b.mu.Unlock()
		time.Sleep(pause + time.Millisecond)
	}
}

func (s *service) send(each *job) int {
	e := each.endpoint
	kind, payload := e.kind, each.payload
	if kind == "application/x-www-form-urlencoded" {
		payload = form(payload)
	}
	request, err := http.NewRequestWithContext(context.Background(), "POST", e.url, bytes.NewReader(payload))
	if err != nil {
		return 0
	}
	for name, value := range each.headers {
		if !reserved(name) {
			request.Header.Set(name, value)
		}
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("User-Agent", "Queuepost/1.4")
	if each.key != "" {
		request.Header.Set("X-Queuepost-Idempotency-Key", each.key)
	}
	if s.has("api_key_forwarded") {
		request.Header.Set("X-Queuepost-Authorization", each.apiKey)
	}
	if !(s.has("credentials_once") && each.tries > 0) {
		e.authorize(request)
	}
	// What is signed is the JSON, for a form too.
	request.Header.Set("X-Queuepost-Signature", s.signature(e, each))
	response, err := e.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<18))
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return 0
	}
	return response.StatusCode
}

func reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "x-queuepost-") || slices.Contains([]string{"authorization", "connection", "content-length",
		"content-type", "host", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "expect"}, name)
}

func form(payload []byte) []byte {
	var members map[string]json.RawMessage
	json.Unmarshal(payload, &members)
	values := url.Values{}
	for name, value := range members {
		text := string(value)
		json.Unmarshal(value, &text)
		values.Set(name, text)
	}
	return []byte(values.Encode())
}

func (e *endpoint) authorize(request *http.Request) {
	switch e.auth.text("type") {
	case "api_key":
		key := e.auth.inner("api_key", nil)
		request.Header.Set(key.text("header_name"), key.text("header_value"))
	case "basic_auth":
		basic := e.auth.inner("basic_auth", nil)
		request.SetBasicAuth(basic.text("username"), basic.text("password"))
	}
}

func (s *service) signature(e *endpoint, each *job) string {
	payload := compacted(each.payload)
	if s.has("keys_sorted_before_signing") {
		var value map[string]any
		decoder := json.NewDecoder(bytes.NewReader(payload))
		decoder.UseNumber()
		decoder.Decode(&value)
		payload, _ = json.Marshal(value)
	}
	now := time.Now()
	e.mu.Lock()
	living := []string{}
	for _, one := range e.secrets {
		dropped := s.has("replaced_secret_dropped") && !one.deleted.IsZero()
		if (one.ends.IsZero() || now.Before(one.ends) || s.has("expired_secret_signs")) && !dropped {
			living = append(living, one.value)
		}
	}
	advanced := e.advanced
	e.mu.Unlock()
	if len(living) == 0 {
		return ""
	}
	sign := func(value string, parts ...string) string {
		mac := hmac.New(sha256.New, []byte(value))
		io.WriteString(mac, strings.Join(parts, ","))
		return hex.EncodeToString(mac.Sum(nil))
	}
	if !advanced {
		return sign(living[len(living)-1], string(payload))
	}
	at := strconv.FormatInt(now.Unix(), 10)
	items := []string{"t=" + at}
	for _, value := range living {
		if s.has("time_not_signed") {
			items = append(items, "v1="+sign(value, string(payload)))
		} else {
			items = append(items, "v1="+sign(value, at, string(payload)))
		}
	}
	return strings.Join(items, ",")
}
