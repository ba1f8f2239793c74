// Reads JSON lines {"text"} and answers each with one line: what go-yaml makes of the text ("plain"), and what kustomize
// makes of it, which writes it out and reads it back once more ("kustomize"). Each is {"documents": [...]} or {"error"}.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
)

type request struct {
	Text string `json:"text"`
}

type reading struct {
	Documents []json.RawMessage `json:"documents,omitempty"`
	Error     string            `json:"error,omitempty"`
}

type answer struct {
	Plain     reading `json:"plain"`
	Kustomize reading `json:"kustomize"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			reply, failure := answerTo(line)
			if failure != nil {
				fmt.Fprintln(os.Stderr, failure)
				os.Exit(1)
			}
			out.Write(reply)
			out.WriteByte('\n')
		}
		if err != nil {
			return
		}
	}
}

func answerTo(line []byte) ([]byte, error) {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	return json.Marshal(answer{Plain: attempt(plain, asked.Text), Kustomize: attempt(kustomize, asked.Text)})
}

// A program that panics on a text refuses it.
func attempt(read func(string) ([]json.RawMessage, error), text string) (result reading) {
	defer func() {
		if panicked := recover(); panicked != nil {
			result = reading{Error: fmt.Sprint("panic: ", panicked)}
		}
	}()
	documents, err := read(text)
	if err != nil {
		return reading{Error: err.Error()}
	}
	return reading{Documents: documents}
}

// Pieces are cut as kustomize cuts them: only the first document of each is read.
func plain(text string) ([]json.RawMessage, error) {
	var documents []json.RawMessage
	for _, piece := range pieces(text) {
		var value any
		if err := yaml.Unmarshal([]byte(piece), &value); err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		document, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

func pieces(text string) []string {
	var found []string
	rest := strings.ReplaceAll(text, "\r\n", "\n")
	for {
		start := strings.Index(rest, "\n---")
		if start < 0 {
			return append(found, rest)
		}
		length := strings.Index(rest[start+1:], "\n")
		if length < 0 {
			return append(found, rest)
		}
		found = append(found, rest[:start]+"\n")
		rest = rest[start+1+length+1:]
	}
}

// A value that contains itself makes kustomize overflow its stack, which no program survives.
func checkCycles(text string) error {
	for _, piece := range pieces(text) {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(piece), &root); err != nil {
			return err
		}
		if contains(&root, map[*yaml.Node]bool{}) {
			return errors.New("a value that contains itself")
		}
	}
	return nil
}

// An entry of seen is true while the node is being looked at, and false when it was found to be without cycles.
func contains(node *yaml.Node, seen map[*yaml.Node]bool) bool {
	if active, known := seen[node]; known {
		return active
	}
	seen[node] = true
	for _, child := range node.Content {
		if contains(child, seen) {
			return true
		}
	}
	if node.Alias != nil && contains(node.Alias, seen) {
		return true
	}
	seen[node] = false
	return false
}

func kustomize(text string) ([]json.RawMessage, error) {
	if err := checkCycles(text); err != nil {
		return nil, err
	}
	reader := kio.ByteReader{
		Reader:                strings.NewReader(text),
		OmitReaderAnnotations: true,
		AnchorsAweigh:         true,
		DisableUnwrapping:     true,
	}
	nodes, err := reader.Read()
	if err != nil {
		return nil, err
	}
	var documents []json.RawMessage
	for _, node := range nodes {
		document, err := node.MarshalJSON()
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}
