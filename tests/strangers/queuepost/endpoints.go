package main

import (
	"crypto/rand"
	"crypto/tls"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

type secret struct {
	uid, value          string
	made, ends, deleted time.Time
}

type endpoint struct {
	mu               sync.Mutex
	project, uid     string
	owner, kind, url string
	advanced, active bool
	limit            int64
	window           time.Duration
	sent             fields
	auth             fields
	secrets          []secret
	made, stored     time.Time
	changed          time.Time
	client           *http.Client
	room             *bucket
}

var endpointFields = map[string]byte{"advanced_signatures": 'b', "appID": 's', "authentication": 'o', "content_type": 's',
	"description": 's', "http_timeout": 'i', "is_disabled": 'b', "mtls_client_cert": 'o', "name": 's', "owner_id": 's',
	"rate_limit": 'i', "rate_limit_duration": 'i', "secret": 's', "slack_webhook_url": 's', "support_email": 's', "url": 's'}

// newID returns a ULID.
func newID() string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	id, at, random := make([]byte, 26), time.Now().UnixMilli(), make([]byte, 16)
	for place := 9; place >= 0; place-- {
		id[place], at = letters[at&31], at>>5
	}
	rand.Read(random)
	for place, value := range random {
		id[10+place] = letters[value&31]
	}
	return string(id)
}

func newSecret() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	random := make([]byte, 25)
	rand.Read(random)
	for place, value := range random {
		random[place] = letters[value&63]
	}
	return string(random)
}

func (s *service) createEndpoint(c call) (int, string, any) {
	sent, now := body(c.request, endpointFields), time.Now()
	sent.require("name", "url")
	target, err := url.Parse(sent.text("url"))
	plain := err == nil && s.has("http_taken") && target.Scheme == "http"
	if err != nil || (target.Scheme != "https" && !plain) || target.Hostname() == "" {
		refuse(400, "only https endpoints are allowed")
	}
	if limit := sent.number("rate_limit"); limit < 0 || sent.number("rate_limit_duration") < 0 {
		refuse(400, "rate limits cannot be negative")
	}
	kind := sent.text("content_type")
	if kind != "" && kind != "application/json" && kind != "application/x-www-form-urlencoded" {
		refuse(400, "content_type is not supported")
	}
	if kind == "" || s.has("content_type_dropped") {
		kind = "application/json"
	}
	owner := sent.text("owner_id")
	if owner == "" {
		owner = sent.text("appID")
	}
	e := &endpoint{project: c.project, uid: newID(), owner: owner, kind: kind, url: sent.text("url"), sent: sent,
		advanced: sent.flag("advanced_signatures"), active: !sent.flag("is_disabled"), limit: sent.number("rate_limit"),
		window: time.Duration(min(sent.number("rate_limit_duration"), 1<<31)) * time.Second, made: now, changed: now, room: &bucket{}}
	// The answer shows the time that the process noted, what is fetched the time of the database.
	e.stored = now.Add(7 * time.Millisecond)
	e.auth = sent.inner("authentication", map[string]byte{"type": 's', "api_key": 'o', "basic_auth": 'o', "oauth2": 'o'})
	s.checkAuthentication(e.auth)
	settings := &tls.Config{RootCAs: s.roots, InsecureSkipVerify: s.has("certificates_unchecked")}
	if pair := sent.inner("mtls_client_cert", map[string]byte{"client_cert": 's', "client_key": 's'}); len(pair) > 0 {
		loaded, err := tls.X509KeyPair([]byte(pair.text("client_cert")), []byte(pair.text("client_key")))
		if err != nil {
			refuse(400, "failed to load the client certificate")
		}
		settings.Certificates = []tls.Certificate{loaded}
	}
	timeout := deliveryTimeout
	if s.has("no_timeout") {
		timeout = time.Hour
	}
	e.client = &http.Client{Timeout: timeout, Transport: &http.Transport{TLSClientConfig: settings, MaxIdleConnsPerHost: 4}}
	value := sent.text("secret")
	if value == "" {
		value = newSecret()
	}
	e.secrets = []secret{{uid: newID(), value: value, made: now}}
	shown := s.show(e, true)
	s.mu.Lock()
	s.endpoints = append(s.endpoints, e)
	s.mu.Unlock()
	return 201, "Endpoint created successfully", shown
}

func (s *service) checkAuthentication(auth fields) {
	if len(auth) == 0 {
		return
	}
	switch auth.text("type") {
	case "api_key":
		key := auth.inner("api_key", map[string]byte{"header_name": 's', "header_value": 's'})
		key.require("header_name", "header_value")
		if !sendable(key.text("header_name"), key.text("header_value")) {
			refuse(400, "api_key cannot be sent as a header")
		}
	case "basic_auth":
		auth.inner("basic_auth", map[string]byte{"username": 's', "password": 's'}).require("username", "password")
	default:
		refuse(400, "authentication type is not supported by this licence")
	}
}

// show returns the endpoint as answers have it; what has no value is shown otherwise when it is created.
func (s *service) show(e *endpoint, created bool) object {
	e.mu.Lock()
	defer e.mu.Unlock()
	secrets := []object{}
	for _, each := range e.secrets {
		secrets = append(secrets, object{"uid": each.uid, "value": each.value, "created_at": stamp(each.made), "updated_at": stamp(each.made),
			"expires_at": stamp(each.ends), "deleted_at": stamp(each.deleted)})
	}
	status, window := "active", e.sent.number("rate_limit_duration")
	if !e.active {
		status = "inactive"
	}
	made, authentication := e.stored, any(object{})
	if created {
		made, authentication = e.made, nil
	}
	if len(e.auth) > 0 {
		kept := object{"type": e.auth.text("type")}
		if kind := e.auth.text("type"); kind == "api_key" {
			kept[kind] = e.auth["api_key"]
		} else {
			inner := e.auth.inner("basic_auth", nil)
			kept[kind] = object{"username": inner.text("username"), "password": "[REDACTED]"}
		}
		authentication = kept
	}
	owner, description := e.owner, e.sent.text("description")
	if s.has("owner_dropped") {
		owner = ""
	}
	if s.has("description_escaped") {
		description = html.EscapeString(description)
	}
	changed := e.changed
	if changed.Before(made) {
		changed = made
	}
	limit := e.limit
	if s.has("limit_in_32_bits") {
		limit = int64(int32(limit))
	}
	shown := object{"uid": e.uid, "project_id": e.project, "name": e.sent.text("name"), "description": description, "url": e.url,
		"owner_id": owner, "content_type": e.kind, "advanced_signatures": e.advanced, "http_timeout": int(deliveryTimeout.Seconds()),
		"rate_limit": limit, "rate_limit_duration": window, "slack_webhook_url": "", "support_email": "", "status": status,
		"events": 0, "failure_rate": 0, "secrets": secrets, "authentication": authentication,
		"created_at": stamp(made), "updated_at": stamp(changed), "deleted_at": nil}
	if pair := e.sent.inner("mtls_client_cert", nil); len(pair) > 0 {
		shown["mtls_client_cert"] = object{"client_cert": pair.text("client_cert"), "client_key": "[REDACTED]"}
	}
	return shown
}

func (s *service) find(c call, status int) *endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.endpoints {
		if each.uid == c.uid && (each.project == c.project || s.has("endpoint_of_any_project")) {
			return each
		}
	}
	refuse(status, "endpoint not found")
	return nil
}

func (s *service) getEndpoint(c call) (int, string, any) {
	return 200, "Endpoint fetched successfully", s.show(s.find(c, 404), false)
}

func (s *service) deleteEndpoint(c call) (int, string, any) {
	gone := s.find(c, 404)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = slices.DeleteFunc(s.endpoints, func(each *endpoint) bool { return each == gone })
	return 200, "Endpoint deleted successfully", nil
}

func (s *service) rollSecret(c call) (int, string, any) {
	e := s.find(c, 400)
	before := s.show(e, false)
	sent, now := body(c.request, map[string]byte{"expiration": 'i', "secret": 's'}), time.Now()
	value, hours := sent.text("secret"), min(max(sent.number("expiration"), -1), 1<<20)
	if value == "" {
		value = newSecret()
	}
	ends := now.Add(time.Duration(max(hours, 0)) * time.Hour)
	if s.has("expiry_in_minutes") {
		ends = now.Add(time.Duration(max(hours, 0)) * time.Minute)
	}
	e.mu.Lock()
	read := slices.Clone(e.secrets)
	if s.has("roll_overwrites") {
		// Read, changed and written without a transaction: of two at once the first is lost.
		e.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		e.mu.Lock()
	}
	rolled := []string{}
	for place := range read {
		if read[place].ends.IsZero() || (s.has("second_roll_prolongs") && read[place].ends.After(now)) {
			read[place].ends = ends.Truncate(time.Second)
			rolled = append(rolled, read[place].uid)
		}
	}
	e.secrets = append(read, secret{uid: newID(), value: value, made: now})
	if s.has("roll_resets") {
		e.kind, e.owner = "application/json", ""
	}
	e.changed = now
	e.mu.Unlock()
	time.AfterFunc(time.Second, func() { e.markDeleted(rolled) })
	if s.has("roll_answers_before") {
		return 200, "endpoint secret expired successfully", before
	}
	return 200, "endpoint secret expired successfully", s.show(e, false)
}

// markDeleted is a job of the queue: it notes that secrets were replaced, which ends none of them.
func (e *endpoint) markDeleted(uids []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for place, each := range e.secrets {
		if slices.Contains(uids, each.uid) {
			e.secrets[place].deleted = time.Now()
		}
	}
}

func (s *service) subscribe(c call) (int, string, any) {
	sent := body(c.request, map[string]byte{"name": 's', "endpoint_id": 's', "filter_config": 'o'})
	sent.require("name", "endpoint_id")
	e := s.find(call{c.project, sent.text("endpoint_id"), c.request}, 400)
	// The queue learns of it a little later.
	time.AfterFunc(300*time.Millisecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.subscriptions[e.uid] = true
	})
	return 201, "Subscription created successfully", object{"uid": newID(), "endpoint_id": e.uid}
}

func sendable(name, value string) bool {
	const letters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return name != "" && strings.Trim(name, letters) == "" &&
		!strings.ContainsFunc(value, func(letter rune) bool { return letter < ' ' || letter > '~' })
}
