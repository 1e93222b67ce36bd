// Parcel is a small webhook delivery service, written from the API document alone, as a stranger would.
//
// It prints {"api": URL} when it is ready and ends with its standard input. It keeps everything in memory.
// The environment variable BUGS names deliberate bugs: unsigned_retries, roll_forgets, last_item_lost.
package main

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	largestBody = 512 << 10
	pageSize    = 12
	largestPage = 40
)

type object = map[string]any

type service struct {
	mu        sync.Mutex
	project   string
	key       string
	endpoints map[string]*endpoint
	order     []*endpoint
	links     []object
	sources   []object
	keys      map[string]object // the first event of each idempotency key
	roots     *x509.CertPool
	bugs      []string
}

func main() {
	project := flag.String("project", "main", "the only project")
	key := flag.String("key", "", "its key")
	ca := flag.String("ca", "", "PEM file of the authority that deliveries trust")
	flag.Parse()
	s := &service{project: *project, key: *key, endpoints: map[string]*endpoint{}, keys: map[string]object{}}
	s.bugs = strings.Split(os.Getenv("BUGS"), ",")
	s.roots = x509.NewCertPool()
	if *ca != "" {
		pem, err := os.ReadFile(*ca)
		if err != nil || !s.roots.AppendCertsFromPEM(pem) {
			fmt.Fprintln(os.Stderr, "parcel: no certificate in", *ca)
			os.Exit(64)
		}
	}
	s.seed()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "parcel:", err)
		os.Exit(1)
	}
	go http.Serve(listener, http.HandlerFunc(s.serve))
	fmt.Printf("{\"api\": \"http://%s\"}\n", listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

func (s *service) has(bug string) bool { return slices.Contains(s.bugs, bug) }

// refusal ends a request with a status and a text.
type refusal struct {
	status int
	text   string
}

func refuse(status int, format string, parts ...any) {
	panic(refusal{status, fmt.Sprintf(format, parts...)})
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	status, answer := 0, object{}
	func() {
		defer func() {
			if problem := recover(); problem != nil {
				refused, ok := problem.(refusal)
				if !ok {
					panic(problem)
				}
				status, answer = refused.status, object{"error": object{"text": refused.text, "code": refused.status}}
			}
		}()
		var data any
		status, data = s.route(r)
		answer = object{"status": true, "message": "done", "data": data}
	}()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer)
}

func (s *service) route(r *http.Request) (int, any) {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	for n, part := range parts {
		parts[n], _ = url.PathUnescape(part)
	}
	if len(parts) < 5 || parts[0] != "api" || parts[1] != "v1" || parts[2] != "projects" {
		refuse(404, "no such path")
	}
	presented := r.Header.Get("Authorization")
	if presented == "" {
		refuse(401, "the Authorization header is missing")
	}
	if presented != "Token "+s.key {
		refuse(403, "the key is not known")
	}
	if parts[3] != s.project {
		refuse(404, "no such project")
	}
	routes := map[string]struct {
		method string
		call   func(*http.Request, []string) (int, any)
	}{
		"endpoints":                 {"POST", s.createEndpoint},
		"endpoints/*":               {"GET", s.getEndpoint},
		"endpoints/*/expire_secret": {"PUT", s.rollSecret},
		"portal-links":              {"GET", s.listLinks},
		"portal-links/*":            {"GET", s.getLink},
		"sources":                   {"GET", s.listSources},
		"events/broadcast":          {"POST", s.broadcast},
	}
	rest := slices.Clone(parts[4:])
	if len(rest) > 1 && rest[0] != "events" {
		rest[1] = "*"
	}
	name := strings.Join(rest, "/")
	found, ok := routes[name]
	if !ok || slices.Contains(parts, "") {
		refuse(404, "no such path")
	}
	if name == "portal-links/*" && r.Method == "PUT" {
		return s.updateLink(r, parts[4:])
	}
	if r.Method != found.method {
		refuse(405, "%s has no %s", name, r.Method)
	}
	return found.call(r, parts[4:])
}

// The type of each field of a request: s text, b boolean, i whole number, o object, a array of texts.
var (
	endpointFields = map[string]byte{"advanced_signatures": 'b', "appID": 's', "authentication": 'o', "content_type": 's',
		"description": 's', "http_timeout": 'i', "is_disabled": 'b', "mtls_client_cert": 'o', "name": 's', "owner_id": 's',
		"rate_limit": 'i', "rate_limit_duration": 'i', "secret": 's', "slack_webhook_url": 's', "support_email": 's', "url": 's'}
	rollFields  = map[string]byte{"expiration": 'i', "secret": 's'}
	linkFields  = map[string]byte{"auth_type": 's', "can_manage_endpoint": 'b', "endpoints": 'a', "name": 's', "owner_id": 's'}
	eventFields = map[string]byte{"acknowledged_at": 's', "custom_headers": 'o', "data": 'o', "event_type": 's', "idempotency_key": 's'}
	certFields  = map[string]byte{"client_cert": 's', "client_key": 's'}
	authFields  = map[string]byte{"type": 's', "api_key": 'o', "basic_auth": 'o', "oauth2": 'o'}
	keyFields   = map[string]byte{"header_name": 's', "header_value": 's'}
	basicFields = map[string]byte{"username": 's', "password": 's'}
	oauthFields = map[string]byte{"url": 's', "authentication_type": 's', "client_id": 's', "client_secret": 's', "grant_type": 's',
		"scope": 's', "audience": 's', "issuer": 's', "subject": 's', "expiry_time_unit": 's', "field_mapping": 'o',
		"signing_algorithm": 's', "signing_key": 'o'}
	mappingFields = map[string]byte{"access_token": 's', "expires_in": 's', "token_type": 's'}
)

type fields map[string]json.RawMessage

// body reads a request's body; fields that are null count as left out.
func body(r *http.Request, types map[string]byte) fields {
	content, err := io.ReadAll(io.LimitReader(r.Body, largestBody+1))
	if err != nil {
		refuse(400, "the body ends too soon")
	}
	if len(content) > largestBody {
		refuse(413, "the body has more than %d bytes", largestBody)
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.ToLower(strings.TrimSpace(kind)) != "application/json" {
		refuse(415, "the body is not declared as JSON")
	}
	if !utf8.Valid(content) || !json.Valid(content) {
		refuse(400, "the body is not JSON")
	}
	return checked("the body", content, types)
}

func checked(what string, content json.RawMessage, types map[string]byte) fields {
	var found fields
	if json.Unmarshal(content, &found) != nil || found == nil {
		refuse(422, "%s is not an object", what)
	}
	for name, value := range found {
		if string(value) == "null" {
			delete(found, name)
			continue
		}
		var problem error
		switch types[name] {
		case 's':
			problem = json.Unmarshal(value, new(string))
		case 'b':
			problem = json.Unmarshal(value, new(bool))
		case 'i':
			var number int64
			if problem = json.Unmarshal(value, &number); problem == nil && number < 0 {
				refuse(422, "%s is negative", name)
			}
		case 'a':
			problem = json.Unmarshal(value, new([]string))
		case 'o':
			problem = json.Unmarshal(value, new(fields))
		}
		if problem != nil {
			refuse(422, "%s has another type", name)
		}
	}
	return found
}

func (f fields) text(name string) (value string) { json.Unmarshal(f[name], &value); return }
func (f fields) flag(name string) (value bool)   { json.Unmarshal(f[name], &value); return }
func (f fields) number(name string, most int64) (n int64) {
	json.Unmarshal(f[name], &n)
	if n > most {
		refuse(422, "%s is above %d", name, most)
	}
	return
}

func (f fields) require(names ...string) {
	for _, name := range names {
		if value, ok := f[name]; !ok || string(value) == `""` {
			refuse(422, "%s is required", name)
		}
	}
}

func (f fields) inner(name string, types map[string]byte) fields {
	if f[name] == nil {
		return nil
	}
	return checked(name, f[name], types)
}

func newID(kind string) string {
	random := make([]byte, 9)
	rand.Read(random)
	return kind + "-" + strconv.FormatInt(time.Now().UnixMilli(), 36) + hex.EncodeToString(random)
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *service) seed() {
	for n, owner := range []string{"harbour-north", "harbour-south", "depot-west", "depot-east", "yard-ten"} {
		at := stamp(time.Now().Add(time.Duration(n-60) * time.Minute))
		id := newID("lnk")
		s.links = append(s.links, object{"uid": id, "project_id": s.project, "name": fmt.Sprintf("Link %s of parcels", owner),
			"owner_id": owner, "auth_type": "refresh_token", "auth_key": newID("key"), "token": newID("tok"), "can_manage_endpoint": n%2 == 0,
			"url": "https://parcel.invalid/links/" + id, "created_at": at, "updated_at": at, "deleted_at": nil})
	}
	kinds := [][3]string{{"http", "github", "noop"}, {"http", "", "api_key"}, {"pub_sub", "", "noop"}, {"http", "shopify", "basic_auth"}, {"http", "", "noop"}}
	for n, kind := range kinds {
		at := stamp(time.Now().Add(time.Duration(n-60) * time.Minute))
		verifier := object{"type": kind[2], "api_key": nil, "basic_auth": nil, "hmac": nil}
		if kind[2] == "api_key" {
			verifier["api_key"] = object{"header_name": "X-Key", "header_value": "of-the-source"}
		}
		if kind[2] == "basic_auth" {
			verifier["basic_auth"] = object{"username": "shop", "password": "of-the-source"}
		}
		var pubSub any
		if kind[0] == "pub_sub" {
			pubSub = object{"type": "sqs", "workers": 2, "amqp": nil, "google": nil, "kafka": nil, "sqs": object{"access_key_id": "id",
				"secret_key": "hidden", "default_region": "north", "queue_name": "parcels", "endpoint": "https://queue.invalid"}}
		}
		id := newID("src")
		s.sources = append(s.sources, object{"uid": id, "project_id": s.project, "name": fmt.Sprintf("Source %d", n), "type": kind[0],
			"provider": kind[1], "provider_config": nil, "url": "https://parcel.invalid/in/" + id, "mask_id": newID("msk"), "is_disabled": false,
			"forward_headers": []string{"X-Trace"}, "idempotency_keys": []string{"request.body.id"}, "header_function": "", "body_function": "",
			"custom_response": object{"body": "taken", "content_type": "text/plain"}, "verifier": verifier, "pub_sub": pubSub,
			"created_at": at, "updated_at": at, "deleted_at": nil})
	}
}

// page answers a list: newest first unless sort is ASC; a cursor names the place after which a page begins.
func (s *service) page(r *http.Request, all []object, keep func(object) bool, show func(object) object) (int, any) {
	query := r.URL.Query()
	size := pageSize
	if text := query.Get("perPage"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 {
			refuse(422, "perPage is not a number above 0")
		}
		size = min(number, largestPage)
	}
	order, direction := query.Get("sort"), query.Get("direction")
	if order != "" && order != "ASC" && order != "DESC" {
		refuse(422, "sort is neither ASC nor DESC")
	}
	if direction != "" && direction != "next" && direction != "prev" {
		refuse(422, "direction is neither next nor prev")
	}
	kept := []object{}
	for _, one := range all {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	if order != "ASC" {
		slices.Reverse(kept)
	}
	place := func(name, sign string) int {
		text, marked := strings.CutPrefix(query.Get(name), sign)
		number, err := strconv.ParseInt(text, 36, 32)
		if err != nil || !marked || number < 0 {
			refuse(422, "%s is none of ours", name)
		}
		return int(number) - 1000
	}
	first, last := 0, min(size, len(kept))
	if direction == "prev" && query.Get("prev_page_cursor") != "" {
		last = max(0, min(place("prev_page_cursor", "before~"), len(kept)))
		first = max(0, last-size)
	} else if query.Get("next_page_cursor") != "" {
		first = max(0, min(place("next_page_cursor", "after~"), len(kept)))
		last = min(first+size, len(kept))
	}
	content := []object{}
	for _, one := range kept[first:last] {
		content = append(content, show(one))
	}
	if s.has("last_item_lost") && len(content) > 1 {
		content = content[:len(content)-1]
	}
	next, prev := "", ""
	if last < len(kept) {
		next = "after~" + strconv.FormatInt(int64(last+1000), 36)
	}
	if first > 0 {
		prev = "before~" + strconv.FormatInt(int64(first+1000), 36)
	}
	return 200, object{"content": content, "pagination": object{"per_page": size, "has_next_page": next != "", "has_prev_page": prev != "",
		"next_page_cursor": next, "prev_page_cursor": prev}}
}

func (s *service) listSources(r *http.Request, _ []string) (int, any) {
	query := r.URL.Query()
	return s.page(r, s.sources, func(one object) bool {
		return (query.Get("type") == "" || one["type"] == query.Get("type")) &&
			(query.Get("provider") == "" || one["provider"] == query.Get("provider"))
	}, func(one object) object { return one })
}

func (s *service) listLinks(r *http.Request, _ []string) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := r.URL.Query()
	return s.page(r, s.links, func(one object) bool {
		return (query.Get("owner") == "" || one["owner_id"] == query.Get("owner")) &&
			(query.Get("name") == "" || strings.HasPrefix(one["name"].(string), query.Get("name")))
	}, s.showLink)
}

// showLink adds the endpoints of the link's owner.
func (s *service) showLink(link object) object {
	shown, ids, records := object{}, []string{}, []object{}
	for name, value := range link {
		shown[name] = value
	}
	for _, one := range s.order {
		if one.owner != "" && one.owner == link["owner_id"] {
			ids, records = append(ids, one.uid), append(records, one.show())
		}
	}
	shown["endpoints"], shown["endpoints_metadata"], shown["endpoint_count"] = ids, records, len(ids)
	return shown
}

func (s *service) link(uid string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.links {
		if one["uid"] == uid {
			return one
		}
	}
	refuse(404, "no such portal link")
	return nil
}

func (s *service) getLink(_ *http.Request, parts []string) (int, any) {
	link := s.link(parts[1])
	s.mu.Lock()
	defer s.mu.Unlock()
	return 200, s.showLink(link)
}

func (s *service) updateLink(r *http.Request, parts []string) (int, any) {
	link := s.link(parts[1])
	sent := body(r, linkFields)
	sent.require("name")
	if kind := sent.text("auth_type"); kind != "" && kind != "refresh_token" && kind != "static_token" {
		refuse(422, "auth_type is not known")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"name", "owner_id", "auth_type"} {
		if sent[name] != nil && (name != "auth_type" || sent.text(name) != "") {
			link[name] = sent.text(name)
		}
	}
	if sent["can_manage_endpoint"] != nil {
		link["can_manage_endpoint"] = sent.flag("can_manage_endpoint")
	}
	link["updated_at"] = stamp(time.Now())
	return 202, s.showLink(link)
}
