// Queuepost is a webhook delivery service in the manner of a gateway with a queue and background jobs. It was written
// from the API document alone, with what is known of such a gateway.
//
//	queuepost -project NAME=KEY -project NAME=KEY [-ca ca.pem]
//
// It prints {"api": URL} when it is ready, ends with its standard input, and keeps everything in memory. Beside the
// operations of the document it has some of its own: POST .../subscriptions, without which an endpoint receives
// nothing, POST .../sources, and DELETE .../endpoints/ID. The environment variable BUGS names bugs to switch on.
package main

import (
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

type object = map[string]any

type service struct {
	mu            sync.Mutex
	keys          map[string]string // the project of each key
	endpoints     []*endpoint
	subscriptions map[string]bool // the endpoints that have one
	sources       []*source
	seen          map[string]bool // idempotency keys, after their project
	jobs          []*job
	roots         *x509.CertPool
	bugs          []string
	shared        *bucket
}

type projects map[string]string

func (p projects) String() string { return "" }

func (p projects) Set(text string) error {
	name, key, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("NAME=KEY is needed")
	}
	p[key] = name
	return nil
}

func main() {
	s := &service{keys: projects{}, subscriptions: map[string]bool{}, seen: map[string]bool{}, shared: &bucket{}}
	flag.Var(projects(s.keys), "project", "NAME=KEY of a project; may be repeated")
	ca := flag.String("ca", "", "PEM file of the authority that deliveries trust")
	flag.Parse()
	s.bugs = strings.Split(os.Getenv("BUGS"), ",")
	s.roots = x509.NewCertPool()
	if *ca != "" {
		pem, err := os.ReadFile(*ca)
		if err != nil || !s.roots.AppendCertsFromPEM(pem) {
			fmt.Fprintln(os.Stderr, "queuepost: no certificate in", *ca)
			os.Exit(64)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "queuepost:", err)
		os.Exit(1)
	}
	go http.Serve(listener, http.HandlerFunc(s.serve))
	go s.poll()
	fmt.Printf("{\"api\": \"http://%s\"}\n", listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

func (s *service) has(bug string) bool { return slices.Contains(s.bugs, bug) }

// refusal ends a request; without a text the answer has no body.
type refusal struct {
	status int
	text   string
}

func refuse(status int, format string, parts ...any) {
	panic(refusal{status, fmt.Sprintf(format, parts...)})
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>Queuepost</title><div id=app></div>\n")
		return
	}
	status, answer := 0, any(nil)
	func() {
		defer func() {
			if problem := recover(); problem != nil {
				refused, ok := problem.(refusal)
				if !ok {
					refused = refusal{500, "an internal error occurred"}
				}
				status, answer = refused.status, object{"status": false, "message": refused.text}
				if refused.text == "" {
					answer = nil
				}
			}
		}()
		message, data := "", any(nil)
		status, message, data = s.route(r)
		answer = object{"status": true, "message": message, "data": data}
	}()
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer)
}

type call struct {
	project string
	uid     string
	request *http.Request
}

type operation struct {
	method, path string
	handle       func(*service, call) (int, string, any)
}

var operations = []operation{
	{"POST", "endpoints", (*service).createEndpoint},
	{"GET", "endpoints/*", (*service).getEndpoint},
	{"DELETE", "endpoints/*", (*service).deleteEndpoint},
	{"PUT", "endpoints/*/expire_secret", (*service).rollSecret},
	{"GET", "portal-links", unlicensed},
	{"GET", "portal-links/*", unlicensed},
	{"PUT", "portal-links/*", unlicensed},
	{"GET", "sources", (*service).listSources},
	{"POST", "sources", (*service).createSource},
	{"POST", "events/broadcast", (*service).broadcast},
	{"POST", "subscriptions", (*service).subscribe},
}

func unlicensed(*service, call) (int, string, any) {
	refuse(401, "your instance does not have access to portal links, please upgrade to access this feature")
	return 0, "", nil
}

func (s *service) route(r *http.Request) (int, string, any) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) < 5 || parts[1] != "v1" || parts[2] != "projects" || slices.Contains(parts, "") {
		refuse(404, "the page does not exist")
	}
	rest := slices.Clone(parts[4:])
	if len(rest) > 1 && rest[0] != "events" {
		rest[1] = "*"
	}
	path, known := strings.Join(rest, "/"), false
	for _, each := range operations {
		if each.path != path {
			continue
		}
		known = true
		if each.method != r.Method {
			continue
		}
		project := parts[3]
		if !(s.has("roll_outside_the_group") && path == "endpoints/*/expire_secret") {
			project = s.authorized(r)
		}
		uid := ""
		if len(parts) > 5 {
			uid = parts[5]
		}
		return each.handle(s, call{project, uid, r})
	}
	if known {
		refuse(405, "")
	}
	refuse(404, "the page does not exist")
	return 0, "", nil
}

// authorized returns the key's project, whatever project the path names.
func (s *service) authorized(r *http.Request) string {
	key, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		refuse(401, "authorization header is missing or malformed")
	}
	project, known := s.keys[key]
	if !known {
		refuse(401, "authorization failed")
	}
	return project
}

// fields are the members of a JSON object; those that are null count as left out.
type fields map[string]json.RawMessage

// body reads the request's object, and refuses members of other types: s text, b boolean, i whole number, o object.
func body(r *http.Request, types map[string]byte) fields {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(400, "the body ends too soon")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); len(content) > 0 && (err != nil || kind != "application/json") {
		refuse(415, "")
	}
	if len(content) == 0 {
		content = []byte("{}")
	}
	if !utf8.Valid(content) {
		refuse(400, "the body is not UTF-8")
	}
	return typed("the body", content, types)
}

func typed(what string, content json.RawMessage, types map[string]byte) (found fields) {
	if json.Unmarshal(content, &found) != nil || found == nil {
		refuse(400, "%s is not a JSON object", what)
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
			problem = json.Unmarshal(value, new(int64))
		case 'o':
			problem = json.Unmarshal(value, new(fields))
		}
		if problem != nil {
			refuse(400, "%s has a value of another type", name)
		}
	}
	return found
}

func (f fields) text(name string) (value string)  { json.Unmarshal(f[name], &value); return }
func (f fields) flag(name string) (value bool)    { json.Unmarshal(f[name], &value); return }
func (f fields) number(name string) (value int64) { json.Unmarshal(f[name], &value); return }

func (f fields) inner(name string, types map[string]byte) fields {
	if f[name] == nil {
		return nil
	}
	return typed(name, f[name], types)
}

func (f fields) require(names ...string) {
	for _, name := range names {
		if value := string(f[name]); value == "" || value == `""` {
			refuse(400, "%s:please provide a value", name)
		}
	}
}

// null is a text, or nothing where it is empty.
func null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func stamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
