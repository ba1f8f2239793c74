import { isSetNode } from '../../../fleet/graph/open-resource-sets.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { isCopied } from '../../../fleet/resource-sets/render-resource-set.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { ComparedObject } from './compare-object.ts'

/** What is compared without the keys that are missing in `data` only because the Flux Operator copies them from another object. */
export function withoutCopied(compared: ComparedObject, node: FleetNode, object: KubeObject): ComparedObject {
  if (!isSetNode(node) || !isCopied(object)) return compared
  const problems = compared.answer.problems.filter(({ kind, path }) => kind !== 'missing-field' || path[0] !== 'data')
  const count = compared.answer.count - (compared.answer.problems.length - problems.length)
  return { ...compared, answer: { ...compared.answer, problems, count } }
}
