import type { MapNode, Node, Path } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import { checkRules } from './check-rules.ts'
import { type CustomSchema, schemaOf } from './custom-schema.ts'
import { CustomWalk, INT_OR_TEXT } from './custom-walk.ts'

/**
 * What the API server refuses in the default of a schema: it must match that schema as it stands, without the defaults of
 * fields in it, and have no field that would be pruned (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting).
 */
export function defaultProblems(value: Node, schema: CustomSchema, path: Path): Problem[] {
  const walk = new CustomWalk(path)
  walk.value(value, schema, true)
  // here the API server compares neither keys of lists nor, without alternatives, the type of a number or a text
  const isLeft = ({ kind, allowed, path: place }: Problem) =>
    kind !== 'duplicate' && (allowed !== INT_OR_TEXT || (place.length === path.length && schema.any.length > 0))
  const found = walk.problems.filter(isLeft)
  return walk.count > 0 || !schema.hasRules ? found : brokenRules(value, schema, path)
}

function brokenRules(value: Node, schema: CustomSchema, path: Path): Problem[] {
  const found: Problem[] = []
  const { origin } = value
  const root: MapNode = { type: 'map', fields: new Map([['default', { key: origin, value }]]), origin }
  const around = schemaOf({ type: 'object', properties: { default: schema.json } })
  checkRules(root, { schema: around, hasStatus: false }, undefined, {
    problem: one => found.push({ ...one, path: [...path, ...one.path.slice(1)] }),
    // whether the API server accepts the default is then not known
    notEvaluated() {},
  })
  return found
}
