// Tests software that sends webhooks: `go test`. The receiver is a process of `hookproof receive`,
// which ends when its standard input closes: at the latest with this one.
package orders

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

type receiver struct {
	Control string
	CA      string
}

type arrivals struct {
	Deliveries []struct {
		Body    []byte `json:"body_b64"`
		Verdict struct {
			Verified       bool
			Reason, Detail string
		}
	}
}

func startReceiver(t *testing.T) receiver {
	t.Helper()
	command := exec.Command("hookproof", "receive", "--json", "--until-stdin-closes")
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		command.Wait()
	})
	var ready receiver
	if err := json.NewDecoder(output).Decode(&ready); err != nil {
		t.Fatal("the receiver did not start: ", err)
	}
	return ready
}

// control calls the control API; answer may be nil.
func (r receiver) control(t *testing.T, method, path, content string, answer any) {
	t.Helper()
	request, err := http.NewRequest(method, r.Control+path, bytes.NewBufferString(content))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, response.Status)
	}
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
}

// announceOrder is the software under test, which tries again until it gets a 2xx.
func announceOrder(client *http.Client, url, secret string) error {
	body := []byte(`{"order":1}`)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	for attempt := 1; attempt <= 3; attempt++ {
		request, err := http.NewRequest("POST", url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("X-Webhook-Signature", hex.EncodeToString(mac.Sum(nil)))
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode < 300 {
			return nil
		}
	}
	return nil
}

func TestAnOrderIsAnnouncedAgainAfterAFailureAndSigned(t *testing.T) {
	receiver := startReceiver(t)
	var endpoint struct{ Token, URL string }
	receiver.control(t, "POST", "/tokens", "", &endpoint)
	token := "/tokens/" + endpoint.Token
	receiver.control(t, "PUT", token+"/script", `{"replies": [{"status": 503}, {"status": 200}]}`, nil)
	receiver.control(t, "PUT", token+"/secrets", `{"secrets": ["a secret"]}`, nil)

	authority, err := os.ReadFile(receiver.CA)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}},
	}
	if err := announceOrder(client, endpoint.URL, "a secret"); err != nil {
		t.Fatal(err)
	}

	var arrived arrivals
	receiver.control(t, "GET", token+"/deliveries?count=2&timeout=5", "", &arrived)
	if len(arrived.Deliveries) != 2 {
		t.Fatalf("%d deliveries arrived", len(arrived.Deliveries))
	}
	for _, delivery := range arrived.Deliveries {
		if verdict := delivery.Verdict; !verdict.Verified {
			t.Errorf("%s: %s", verdict.Reason, verdict.Detail)
		}
		if string(delivery.Body) != `{"order":1}` {
			t.Errorf("the body is %q", delivery.Body)
		}
	}
}
