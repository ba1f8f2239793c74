import { objectPart } from '../../facts/shown.ts'
import { valuesOf } from '../../flux/kinds.ts'
import { type CelCost, celCost as costOf } from '../../kube/cel-cost.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** Where tenants write CEL for a controller of Flux; '*' is each item of a list. */
const PLACES = valuesOf(row => row.expressions)
/** Three lists of the object, one within the other, are more than a health check needs. */
const MAX_STEPS = 500

/** Expressions that Flux evaluates for a tenant are cheap. */
export const celCost: Rule = {
  id: 'cel-cost',
  severity: 'low',
  level: 'warning',
  title: 'Expensive CEL expression',
  why: "Flux's controllers evaluate the CEL expressions of all tenants in their own process at every reconciliation. Nested comprehensions and growing lists take CPU time and memory from all tenants.",
  source: 'kustomize-controller docs/spec/v1/kustomizations.md, "Health check expressions"; RFC-0009',
  docs: "Read fields of the object with one comprehension, such as `status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')`. Do not build lists with `map`, and do not nest three comprehensions.",
  kinds: [...PLACES.keys()],
  *checkTenantObject({ object, id, kind, node }) {
    const paths = (PLACES.get(kind) ?? []).flatMap(path => expand(object.root, path))
    for (const path of paths) {
      const text = stringAt(object.root, path)
      const what = text && costly(costOf(text))
      if (!what) continue
      yield {
        node,
        object,
        path,
        value: what,
        message: message`${objectPart(id.kind, id.namespace, id.name)} has a CEL expression that ${untyped(what)}, and Flux evaluates it in a controller that all tenants share. Allowed: one comprehension over a field.`,
        fix: message`Rewrite the expression with one comprehension over a field of the object.`,
      }
    }
  },
}

function costly({ steps, buildsLists, isHuge }: CelCost): string | undefined {
  if (isHuge) return 'is too long to be looked at'
  if (buildsLists) return 'builds lists of its own'
  return steps > MAX_STEPS ? 'nests comprehensions' : undefined
}

function expand(root: Node, path: readonly string[]): Path[] {
  const star = path.indexOf('*')
  if (star < 0) return [path]
  const list = at(root, path.slice(0, star))
  const items = list?.type === 'list' ? [...list.items.keys()] : []
  return items.map(index => [...path.slice(0, star), index, ...path.slice(star + 1)])
}
