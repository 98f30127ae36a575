// A polite crawler: go run crawler.go http://127.0.0.1:8080 https://example.com/
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"
)

// It follows no redirects: the rules for their targets may be different.
var transport = http.Transport{ResponseHeaderTimeout: 30 * time.Second}

// ask returns the answer of the sidecar; without one, nothing is allowed.
func ask(path string, question map[string]any) (answer map[string]any) {
	body, _ := json.Marshal(question)
	if got, err := http.Post(os.Args[1]+path, "application/json", bytes.NewReader(body)); err == nil {
		defer got.Body.Close()
		json.NewDecoder(got.Body).Decode(&answer)
	}
	return answer
}

func main() {
	queue, seen, href := os.Args[2:], map[string]bool{}, regexp.MustCompile(`href="([^"#]+)`)
	for ; len(queue) > 0; queue = queue[1:] {
		slot := ask("/v1/slot", map[string]any{"url": queue[0], "as": "ExampleBot"})
		if slot["allowed"] != true {
			fmt.Println("skipped", queue[0], slot["reason"])
			continue
		}
		time.Sleep(time.Duration(slot["wait"].(float64) * float64(time.Second)))
		request, _ := http.NewRequest("GET", queue[0], nil)
		request.Header.Set("User-Agent", "ExampleBot/1.0 (+https://example.com/bot)")
		response, err := transport.RoundTrip(request)
		if err != nil {
			continue
		}
		page, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		response.Body.Close()
		ask("/v1/responses", map[string]any{"url": queue[0], "status": response.StatusCode, "retry_after": response.Header.Get("Retry-After")})
		fmt.Println(response.StatusCode, queue[0])
		page = append(page, `href="`+response.Header.Get("Location")...)
		for _, link := range href.FindAllSubmatch(page, -1) {
			if next, err := request.URL.Parse(string(link[1])); err == nil && !seen[next.String()] {
				seen[next.String()] = true
				if ask("/v1/check", map[string]any{"url": next.String(), "as": "ExampleBot"})["allowed"] == true {
					queue = append(queue, next.String())
				}
			}
		}
	}
}
