package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	attempts  = 3
	retryWait = 500 * time.Millisecond
)

type secret struct {
	uid, value string
	made, ends time.Time
}

type endpoint struct {
	mu                    sync.Mutex
	uid, owner, kind, url string
	record                object
	secrets               []secret
	advanced, active      bool
	timeout, window       time.Duration
	limit, inWindow       int64
	windowEnds            time.Time
	auth                  fields
	client                *http.Client
	events, done, failed  int
	token                 string
	tokenEnds             time.Time
}

// show is the endpoint as responses have it.
func (e *endpoint) show() object {
	e.mu.Lock()
	defer e.mu.Unlock()
	shown := object{}
	for name, value := range e.record {
		shown[name] = value
	}
	secrets := []object{}
	for _, one := range e.secrets {
		var ends any
		if !one.ends.IsZero() {
			ends = stamp(one.ends)
		}
		secrets = append(secrets, object{"uid": one.uid, "value": one.value, "created_at": stamp(one.made), "updated_at": stamp(one.made), "expires_at": ends, "deleted_at": nil})
	}
	shown["secrets"], shown["events"], shown["failure_rate"] = secrets, e.events, 0
	if e.done+e.failed > 0 {
		shown["failure_rate"] = 100 * e.failed / (e.done + e.failed)
	}
	return shown
}

func (e *endpoint) keep(now time.Time, value string) {
	if value == "" {
		value = "pk_" + strings.Repeat(newID("s")[2:], 2)
	}
	e.secrets = append(e.secrets, secret{uid: newID("sec"), value: value, made: now})
}

func (s *service) createEndpoint(r *http.Request, _ []string) (int, any) {
	sent, now := body(r, endpointFields), time.Now()
	sent.require("name", "url")
	target, err := url.Parse(sent.text("url"))
	if err != nil || target.Scheme != "https" || target.Host == "" {
		refuse(422, "url is no https URL")
	}
	e := &endpoint{uid: newID("end"), owner: sent.text("owner_id"), kind: sent.text("content_type"), url: sent.text("url"),
		advanced: sent.flag("advanced_signatures"), active: !sent.flag("is_disabled"), limit: sent.number("rate_limit", 1<<31)}
	seconds, window := sent.number("http_timeout", 900), sent.number("rate_limit_duration", 1<<31)
	if seconds == 0 {
		seconds = 15
	}
	if window == 0 {
		window = 1
	}
	e.timeout, e.window = time.Duration(seconds)*time.Second, time.Duration(window)*time.Second
	if e.kind == "" {
		e.kind = "application/json"
	}
	status, certificate := "active", any(nil)
	if !e.active {
		status = "paused"
	}
	settings := &tls.Config{RootCAs: s.roots}
	if pair := sent.inner("mtls_client_cert", certFields); len(pair) > 0 {
		loaded, err := tls.X509KeyPair([]byte(pair.text("client_cert")), []byte(pair.text("client_key")))
		if err != nil {
			refuse(422, "mtls_client_cert is no certificate with its key in PEM")
		}
		settings.Certificates = []tls.Certificate{loaded}
		certificate = object{"client_cert": pair.text("client_cert"), "client_key": "#####"}
	}
	e.client = &http.Client{Transport: &http.Transport{TLSClientConfig: settings, MaxIdleConnsPerHost: 4},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	e.auth = sent.inner("authentication", authFields)
	e.keep(now, sent.text("secret"))
	e.record = object{"uid": e.uid, "project_id": s.project, "name": sent.text("name"), "description": sent.text("description"),
		"url": e.url, "owner_id": e.owner, "content_type": e.kind, "advanced_signatures": e.advanced, "http_timeout": seconds,
		"rate_limit": e.limit, "rate_limit_duration": window, "slack_webhook_url": sent.text("slack_webhook_url"),
		"support_email": sent.text("support_email"), "status": status, "authentication": shownAuth(e.auth),
		"mtls_client_cert": certificate, "created_at": stamp(now), "updated_at": stamp(now), "deleted_at": nil}
	s.mu.Lock()
	s.endpoints[e.uid], s.order = e, append(s.order, e)
	s.mu.Unlock()
	return 201, e.show()
}

// shownAuth checks the authentication of an endpoint, and returns it as responses show it.
func shownAuth(auth fields) any {
	if len(auth) == 0 {
		return nil
	}
	auth.require("type")
	shown := object{"type": auth.text("type"), "api_key": nil, "basic_auth": nil, "oauth2": nil}
	types := map[string]map[string]byte{"api_key": keyFields, "basic_auth": basicFields, "oauth2": oauthFields}
	needed := map[string][]string{"api_key": {"header_name", "header_value"}, "basic_auth": {"username", "password"}, "oauth2": {"url", "client_id"}}
	name := auth.text("type")
	if types[name] == nil {
		refuse(422, "authentication.type is not known")
	}
	inner := auth.inner(name, types[name])
	inner.require(needed[name]...)
	if name == "oauth2" {
		if inner.text("authentication_type") != "shared_secret" {
			refuse(422, "authentication_type is not known")
		}
		if unit := inner.text("expiry_time_unit"); unit != "" && unit != "seconds" && unit != "milliseconds" {
			refuse(422, "expiry_time_unit is not known")
		}
		inner.inner("field_mapping", mappingFields)
	}
	shown[name] = inner
	return shown
}

func (s *service) endpoint(uid string) *endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endpoints[uid] == nil {
		refuse(404, "no such endpoint")
	}
	return s.endpoints[uid]
}

func (s *service) getEndpoint(_ *http.Request, parts []string) (int, any) {
	return 200, s.endpoint(parts[1]).show()
}

func (s *service) rollSecret(r *http.Request, parts []string) (int, any) {
	e := s.endpoint(parts[1])
	sent, now := body(r, rollFields), time.Now()
	ends := now.Add(time.Duration(sent.number("expiration", 1<<32)) * time.Second)
	e.mu.Lock()
	for n := range e.secrets {
		if e.secrets[n].ends.IsZero() {
			e.secrets[n].ends = ends
		}
	}
	if s.has("roll_forgets") {
		e.secrets = nil
	}
	e.keep(now, sent.text("secret"))
	e.record["updated_at"] = stamp(now)
	e.mu.Unlock()
	return 200, e.show()
}

func (s *service) broadcast(r *http.Request, _ []string) (int, any) {
	sent, now := body(r, eventFields), time.Now()
	sent.require("event_type", "data")
	headers := map[string]string{}
	if sent["custom_headers"] != nil {
		if json.Unmarshal(sent["custom_headers"], &headers) != nil {
			refuse(422, "custom_headers are not all texts")
		}
	}
	for name, value := range headers {
		if strings.Trim(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || name == "" ||
			strings.ContainsFunc(value, func(letter rune) bool { return letter < ' ' || letter > '~' }) {
			refuse(422, "the custom header %q cannot be sent", name)
		}
	}
	payload := []byte(sent["data"])
	numbers := make([]int, len(payload))
	for n, each := range payload {
		numbers[n] = int(each)
	}
	key, event := sent.text("idempotency_key"), object{"uid": newID("evt"), "project_id": s.project, "event_type": sent.text("event_type"),
		"data": numbers, "raw": string(payload), "headers": headers, "source_id": "", "source_metadata": nil, "app_id": "", "idempotency_key": sent.text("idempotency_key"),
		"is_duplicate_event": false, "metadata": "", "url_query_params": "", "status": "Queued", "acknowledged_at": sent.text("acknowledged_at"),
		"created_at": stamp(now), "updated_at": stamp(now), "deleted_at": nil}
	s.mu.Lock()
	defer s.mu.Unlock()
	reached, ids, records := []*endpoint{}, []string{}, []object{}
	if s.keys[key] != nil {
		event["is_duplicate_event"] = true
	} else {
		for _, e := range s.order {
			if e.active {
				e.mu.Lock()
				e.events++
				e.mu.Unlock()
				reached, ids, records = append(reached, e), append(ids, e.uid), append(records, e.show())
			}
		}
		if key != "" {
			s.keys[key] = event
		}
	}
	event["endpoints"], event["endpoint_metadata"] = ids, records
	for _, e := range reached {
		go s.deliver(e, event["uid"].(string), headers, payload)
	}
	return 201, event
}

func (s *service) deliver(e *endpoint, event string, headers map[string]string, payload []byte) {
	for try := 0; try < attempts; try++ {
		if try > 0 {
			time.Sleep(retryWait)
		}
		e.waitForWindow()
		if e.attempt(event, headers, payload, try, s.has("unsigned_retries") && try > 0) {
			e.mu.Lock()
			e.done++
			e.mu.Unlock()
			return
		}
	}
	e.mu.Lock()
	e.failed++
	e.mu.Unlock()
}

// waitForWindow waits until the endpoint's fixed window has room; a window begins with its first request.
func (e *endpoint) waitForWindow() {
	for e.limit > 0 {
		e.mu.Lock()
		now := time.Now()
		if now.After(e.windowEnds) {
			e.windowEnds, e.inWindow = now.Add(e.window+50*time.Millisecond), 0
		}
		room := e.inWindow < e.limit
		if room {
			e.inWindow++
		}
		wait := e.windowEnds.Sub(now)
		e.mu.Unlock()
		if room {
			return
		}
		time.Sleep(wait + time.Millisecond)
	}
}

func (e *endpoint) attempt(event string, headers map[string]string, payload []byte, try int, unsigned bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), e.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "POST", e.url, bytes.NewReader(payload))
	if err != nil {
		return false
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", e.kind)
	request.Header.Set("Parcel-Event", event)
	request.Header.Set("Parcel-Try", strconv.Itoa(try))
	if !e.authorize(ctx, request) {
		return false
	}
	if !unsigned {
		request.Header.Set("Parcel-Signature", e.signature(payload, time.Now()))
	}
	response, err := e.client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	return err == nil && response.StatusCode/100 == 2
}

func (e *endpoint) signature(payload []byte, now time.Time) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	sign := func(value, text string) string {
		mac := hmac.New(sha256.New, []byte(value))
		io.WriteString(mac, text)
		return hex.EncodeToString(mac.Sum(nil))
	}
	if !e.advanced {
		return "sha256=" + sign(e.secrets[len(e.secrets)-1].value, string(payload))
	}
	at := strconv.FormatInt(now.Unix(), 10)
	parts := []string{"t=" + at}
	for _, one := range e.secrets {
		if one.ends.IsZero() || now.Before(one.ends) {
			parts = append(parts, "v1="+sign(one.value, at+"."+string(payload)))
		}
	}
	return strings.Join(parts, ",")
}

// authorize adds the credentials that the endpoint asks for; false if there are none to be had.
func (e *endpoint) authorize(ctx context.Context, request *http.Request) bool {
	switch e.auth.text("type") {
	case "api_key":
		key := e.auth.inner("api_key", keyFields)
		request.Header.Set(key.text("header_name"), key.text("header_value"))
	case "basic_auth":
		basic := e.auth.inner("basic_auth", basicFields)
		request.SetBasicAuth(basic.text("username"), basic.text("password"))
	case "oauth2":
		token, err := e.accessToken(ctx, e.auth.inner("oauth2", oauthFields))
		if err != nil {
			return false
		}
		request.Header.Set("Authorization", token)
	}
	return true
}

func (e *endpoint) accessToken(ctx context.Context, oauth fields) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.token != "" && time.Now().Before(e.tokenEnds) {
		return e.token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	for _, name := range []string{"client_id", "client_secret", "scope", "audience"} {
		if text := oauth.text(name); text != "" {
			form.Set(name, text)
		}
	}
	request, err := http.NewRequestWithContext(ctx, "POST", oauth.text("url"), strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := e.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer object
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&answer); err != nil || response.StatusCode/100 != 2 {
		return "", fmt.Errorf("no token: %d", response.StatusCode)
	}
	mapping := oauth.inner("field_mapping", mappingFields)
	member := func(name string) any {
		if other := mapping.text(name); other != "" {
			name = other
		}
		return answer[name]
	}
	token, ok := member("access_token").(string)
	if !ok {
		return "", fmt.Errorf("no token in the answer")
	}
	kind, _ := member("token_type").(string)
	if kind == "" {
		kind = "Bearer"
	}
	lifetime, _ := member("expires_in").(float64)
	unit := time.Second
	if oauth.text("expiry_time_unit") == "milliseconds" {
		unit = time.Millisecond
	}
	e.token, e.tokenEnds = kind+" "+token, time.Now().Add(time.Duration(lifetime)*unit)
	return e.token, nil
}
