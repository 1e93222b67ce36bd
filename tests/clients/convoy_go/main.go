// Calls convoy-go as standard input says, and prints what each call returned or its error, as JSON:
//
//	{"url": ..., "api_key": ..., "project": ...,
//	 "calls": [["create", {...}], ["fetch", UID], ["verify", SECRET, BODY, SIGNATURE]]}
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	convoy "github.com/frain-dev/convoy-go/v2"
)

type given struct {
	URL     string              `json:"url"`
	APIKey  string              `json:"api_key"`
	Project string              `json:"project"`
	Calls   [][]json.RawMessage `json:"calls"`
}

type result struct {
	Value any    `json:"value"`
	Error string `json:"error"`
}

func main() {
	var input given
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := convoy.New(input.URL, input.APIKey, input.Project)
	results := make([]result, 0, len(input.Calls))
	for _, words := range input.Calls {
		value, err := call(client, words)
		each := result{Value: value}
		if err != nil {
			each = result{Error: err.Error()}
		}
		results = append(results, each)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		os.Exit(1)
	}
}

func call(client *convoy.Client, words []json.RawMessage) (any, error) {
	ctx := context.Background()
	switch name := text(words[0]); name {
	case "create":
		return client.Endpoints.Create(ctx, body[convoy.CreateEndpointRequest](words[1]), nil)
	case "fetch":
		return client.Endpoints.Find(ctx, text(words[1]), nil)
	case "roll":
		return nil, client.Endpoints.RollSecret(
			ctx, text(words[1]), body[convoy.RollSecretRequest](words[2]))
	case "links":
		return client.PortalLinks.All(ctx)
	case "link":
		return client.PortalLinks.Find(ctx, text(words[1]))
	case "update link":
		return client.PortalLinks.Update(
			ctx, text(words[1]), body[convoy.UpdatePortalLinkRequest](words[2]))
	case "sources":
		return client.Sources.All(ctx, nil)
	case "broadcast":
		return nil, client.Events.BroadcastEvent(
			ctx, body[convoy.CreateBroadcastEventRequest](words[1]))
	case "verify":
		webhook := convoy.NewWebhook(&convoy.WebhookOpts{Secret: text(words[1])})
		return nil, webhook.VerifyPayload([]byte(text(words[2])), text(words[3]))
	default:
		return nil, fmt.Errorf("there is no call %q", name)
	}
}

func text(word json.RawMessage) string {
	return *body[string](word)
}

func body[T any](word json.RawMessage) *T {
	var value T
	if err := json.Unmarshal(word, &value); err != nil {
		panic(err)
	}
	return &value
}
