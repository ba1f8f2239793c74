// go-types prints the Go types that Flux knows (client-go's scheme) as JSON: what normalising decodes an object into and
// encodes it from. Run it with the modules of flux-render: go run -modfile ../flux-render/go.mod . > src/flux/go-types.json
//
// kinds: apiVersion -> "kind:type", without a type for a kind that is no object. types: name -> its fields, "name:flags type" with
// ? for omitempty, ~ for omitzero, * for a pointer, [ for a list, { for a map of texts to it, @ for another of the types, ! for a type
// that encodes itself.
package main

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

var (
	names = map[reflect.Type]string{}
	types = map[string]string{}
)

func main() {
	kinds := map[string]map[string]string{}
	for _, gvk := range sortedKinds() {
		apiVersion := gvk[0]
		if kinds[apiVersion] == nil {
			kinds[apiVersion] = map[string]string{}
		}
		kinds[apiVersion][gvk[1]] = ""
		if t := known[gvk]; reflect.PointerTo(t).Implements(reflect.TypeFor[metav1.Object]()) {
			kinds[apiVersion][gvk[1]] = nameOf(t)
		}
	}
	merge(kinds)
	var out bytes.Buffer
	out.WriteString("{\n  \"kinds\": {\n")
	write(&out, texts(kinds))
	out.WriteString("  },\n  \"types\": {\n")
	write(&out, types)
	out.WriteString("  }\n}\n")
	os.Stdout.Write(out.Bytes())
}

var known = map[[2]string]reflect.Type{}

// Stable versions come first, so that they give shared types their short names.
func sortedKinds() [][2]string {
	list := [][2]string{}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == "__internal" {
			continue
		}
		key := [2]string{gvk.GroupVersion().String(), gvk.Kind}
		known[key] = t
		list = append(list, key)
	}
	unstable := regexp.MustCompile("alpha|beta")
	sort.Slice(list, func(i, j int) bool {
		a, b := unstable.MatchString(list[i][0]), unstable.MatchString(list[j][0])
		if a != b {
			return b
		}
		return strings.Join(list[i][:], " ") < strings.Join(list[j][:], " ")
	})
	return list
}

func nameOf(t reflect.Type) string {
	if name, ok := names[t]; ok {
		return name
	}
	name := t.Name()
	if _, taken := types[name]; taken {
		parts := strings.Split(t.PkgPath(), "/")
		name = strings.Join(append([]string{name}, parts[len(parts)-2:]...), ".")
	}
	names[t] = name
	types[name] = ""
	types[name] = strings.Join(fieldsOf(t), " ")
	return name
}

func fieldsOf(t reflect.Type) []string {
	fields := []string{}
	for i := range t.NumField() {
		field := t.Field(i)
		options := strings.Split(field.Tag.Get("json"), ",")
		if options[0] == "" {
			fields = append(fields, fieldsOf(field.Type)...)
			continue
		}
		flags := ""
		for _, option := range options[1:] {
			flags += map[string]string{"omitempty": "?", "omitzero": "~"}[option]
		}
		fields = append(fields, options[0]+":"+flags+codeOf(field.Type))
	}
	return fields
}

func codeOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return "*" + codeOf(t.Elem())
	}
	if entry := value.TypeReflectEntryOf(t); entry.CanConvertFromUnstructured() || entry.CanConvertToUnstructured() {
		return "!" + t.Name()
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[" + codeOf(t.Elem())
	case reflect.Map:
		return "{" + codeOf(t.Elem())
	case reflect.Struct:
		return "@" + nameOf(t)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return t.Kind().String()
	}
	panic("no code for " + t.String())
}

// Versions of one kind mostly agree: types with the same fields become one.
func merge(kinds map[string]map[string]string) {
	reference := regexp.MustCompile(`@\S+`)
	for {
		order := []string{}
		for name := range types {
			order = append(order, name)
		}
		sort.Slice(order, func(i, j int) bool {
			a, b := strings.Count(order[i], "."), strings.Count(order[j], ".")
			return a < b || a == b && order[i] < order[j]
		})
		first, same := map[string]string{}, map[string]string{}
		for _, name := range order {
			if other, ok := first[types[name]]; ok {
				same[name] = other
				delete(types, name)
			} else {
				first[types[name]] = name
			}
		}
		if len(same) == 0 {
			return
		}
		for name, fields := range types {
			types[name] = reference.ReplaceAllStringFunc(fields, func(text string) string {
				if other, ok := same[text[1:]]; ok {
					return "@" + other
				}
				return text
			})
		}
		for _, group := range kinds {
			for kind, name := range group {
				if other, ok := same[name]; ok {
					group[kind] = other
				}
			}
		}
	}
}

func texts(kinds map[string]map[string]string) map[string]string {
	result := map[string]string{}
	for apiVersion, group := range kinds {
		parts := []string{}
		for kind, name := range group {
			parts = append(parts, kind+":"+name)
		}
		sort.Strings(parts)
		result[apiVersion] = strings.Join(parts, " ")
	}
	return result
}

func write(out *bytes.Buffer, values map[string]string) {
	keys := []string{}
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for i, key := range keys {
		comma := ","
		if i == len(keys)-1 {
			comma = ""
		}
		fmt.Fprintf(out, "    %q: %q%s\n", key, values[key], comma)
	}
}
