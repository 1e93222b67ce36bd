package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

type source struct {
	project, uid, kind, provider string
	made                         time.Time
	shown                        object
}

func (s *service) createSource(c call) (int, string, any) {
	sent := body(c.request, map[string]byte{"name": 's', "type": 's', "provider": 's', "verifier": 'o', "pub_sub": 'o'})
	sent.require("name", "type")
	kind, provider := sent.text("type"), sent.text("provider")
	if !slices.Contains([]string{"http", "rest_api", "pub_sub"}, kind) {
		refuse(400, "type is not supported")
	}
	if !slices.Contains([]string{"", "github", "twitter", "shopify"}, provider) {
		refuse(400, "provider is not supported")
	}
	verifier := sent.inner("verifier", map[string]byte{"type": 's', "hmac": 'o', "api_key": 'o', "basic_auth": 'o'})
	shown := object{"type": "noop"}
	if word := verifier.text("type"); word == "hmac" || word == "api_key" || word == "basic_auth" {
		shown = object{"type": word, word: json.RawMessage(verifier[word])}
	}
	if provider != "" && shown["type"] != "hmac" {
		refuse(400, "a provider needs an hmac verifier")
	}
	now, uid := time.Now(), newID()
	one := object{"uid": uid, "project_id": c.project, "name": sent.text("name"), "type": kind, "provider": provider, "provider_config": nil,
		"url": "https://queuepost.invalid/ingest/" + uid, "mask_id": newSecret(), "is_disabled": false, "forward_headers": nil,
		"idempotency_keys": nil, "header_function": nil, "body_function": nil, "custom_response": object{"body": "", "content_type": ""},
		"verifier": shown, "pub_sub": nil, "created_at": stamp(now), "updated_at": stamp(now), "deleted_at": nil}
	if kind == "pub_sub" {
		one["pub_sub"] = object{"type": "sqs", "workers": 1, "amqp": nil, "google": nil, "kafka": nil, "sqs": object{"access_key_id": "id",
			"secret_key": "hidden", "default_region": "east", "queue_name": "events", "endpoint": ""}}
	}
	s.mu.Lock()
	s.sources = append(s.sources, &source{c.project, uid, kind, provider, now, one})
	s.mu.Unlock()
	return 201, "Source created successfully", one
}

// listSources shows the newest first unless sort is ASC; a cursor is the identifier at the edge of a page.
func (s *service) listSources(c call) (int, string, any) {
	query := c.request.URL.Query()
	size, err := strconv.Atoi(query.Get("perPage"))
	if err == nil && size < 0 && s.has("negative_page_breaks") {
		panic("a slice of negative length")
	}
	if err != nil || size < 1 && !(size == 0 && s.has("empty_page_claims_more")) {
		size = 20
	}
	s.mu.Lock()
	all := slices.Clone(s.sources)
	s.mu.Unlock()
	kept, others := []*source{}, 0
	for _, each := range all {
		if each.project != c.project && !s.has("sources_of_all_projects") {
			continue
		}
		if kind := query.Get("type"); kind != "" && each.kind != kind {
			others++
		} else if provider := query.Get("provider"); provider != "" && each.provider != provider {
			others++
		} else {
			kept = append(kept, each)
		}
	}
	if query.Get("sort") != "ASC" || s.has("sort_ignored") {
		slices.Reverse(kept)
	}
	at := func(name string) int {
		uid := query.Get(name)
		return slices.IndexFunc(kept, func(each *source) bool { return uid != "" && each.uid == uid })
	}
	first, last := 0, min(size, len(kept))
	if place := at("prev_page_cursor"); query.Get("direction") == "prev" && place >= 0 {
		if s.has("previous_page_inclusive") {
			place++
		}
		first, last = max(0, place-size), place
	} else if place := at("next_page_cursor"); query.Get("direction") != "prev" && place >= 0 {
		first = place + 1
		last = min(first+size, len(kept))
	}
	content := []object{}
	for _, each := range kept[first:last] {
		content = append(content, each.shown)
	}
	next, previous := "", ""
	more := last < len(kept) || s.has("more_before_the_filter") && last < len(kept)+others
	if more && last > first {
		next = kept[last-1].uid
	}
	if first > 0 && last > first {
		previous = kept[first].uid
	}
	return 200, "Sources fetched successfully", object{"content": content, "pagination": object{"per_page": size, "has_next_page": more,
		"has_prev_page": first > 0, "next_page_cursor": next, "prev_page_cursor": previous}}
}
