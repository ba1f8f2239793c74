// Evaluates expressions in the base environment of the API server: one JSON object {"e", "v"} per line in, one answer per line out.
// test/cel/kubernetes-answers.json holds its answers to the expressions of the tests of k8s.io/apiserver and cel-go.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/cel/environment"
)

func show(v ref.Val) string {
	switch x := v.(type) {
	case types.Null:
		return "null"
	case types.String:
		b, _ := json.Marshal(string(x))
		return string(b)
	case types.Bool:
		return fmt.Sprint(bool(x))
	case types.Int:
		return fmt.Sprint(int64(x))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(x))
	case types.Double:
		return fmt.Sprintf("d%v", float64(x))
	case types.Bytes:
		return fmt.Sprintf("b%x", []byte(x))
	case *types.Optional:
		if !x.HasValue() {
			return "none"
		}
		return "some(" + show(x.GetValue()) + ")"
	case traits.Mapper:
		out := []string{}
		it := x.Iterator()
		for it.HasNext() == types.True {
			k := it.Next()
			out = append(out, show(k)+":"+show(x.Get(k)))
		}
		sort.Strings(out)
		return "{" + strings.Join(out, ",") + "}"
	case traits.Lister:
		out := []string{}
		it := x.Iterator()
		for it.HasNext() == types.True {
			out = append(out, show(it.Next()))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	if types.IsError(v) {
		return "error"
	}
	return v.Type().TypeName()
}

func main() {
	set := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	ext, err := set.Extend(environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: []cel.EnvOption{
		cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("params", cel.DynType),
	}})
	if err != nil {
		panic(err)
	}
	env := ext.StoredExpressionsEnv()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	for in.Scan() {
		var q struct {
			E string
			V json.RawMessage
		}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		out := map[string]string{}
		ast, iss := env.Compile(q.E)
		if iss != nil && iss.Err() != nil {
			out["compile"] = iss.Err().Error()
		} else if prg, err := env.Program(ast, cel.CostLimit(10000000)); err != nil {
			out["compile"] = err.Error()
		} else {
			vars := map[string]any{}
			if len(q.V) > 0 {
				if err := utiljson.Unmarshal(q.V, &vars); err != nil {
					panic(err)
				}
			}
			v, det, err := prg.Eval(vars)
			if err != nil {
				out["error"] = err.Error()
			} else {
				out["value"] = show(v)
			}
			if det != nil && det.ActualCost() != nil {
				out["cost"] = fmt.Sprint(*det.ActualCost())
			}
		}
		b, _ := json.Marshal(out)
		w.Write(b)
		w.WriteByte('\n')
		w.Flush()
	}
}
