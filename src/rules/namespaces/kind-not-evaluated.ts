import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOfId } from '../../facts/kind-of.ts'
import { identityPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { userInfo } from '../../kube/rbac/groups-of.ts'
import { resourceOf } from '../../kube/rbac/resource-name.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { isUnlooked } from '../references/support/is-unlooked.ts'

/** The verdict lists what it says apart from warnings (see Verdict.notEvaluated). */
export const KIND_NOT_EVALUATED = 'kind-not-evaluated'

const VERBS = ['create', 'update', 'patch', 'delete', 'get', 'list', 'watch']

/** What a controller makes of an object of any kind is known only to whoever looked at the kind. */
export const kindNotEvaluated: Rule = {
  id: KIND_NOT_EVALUATED,
  severity: 'low',
  level: 'warning',
  title: 'Kind that is only partly evaluated',
  why: 'Bailiwick knows the references to namespaces, Secrets, hosts and accounts of the kinds in its table. It evaluates objects of other kinds by scope, namespace, pod templates and fields that are named like namespaces. Other effects of their controllers are not evaluated.',
  docs: 'No action is required. The kind is listed under `notEvaluated` in the JSON and never blocks. To allow only known kinds, give the rule a severity under `severities` in .github/bailiwick.yaml: the finding is then a violation. The table is src/kube/capabilities.',
  *checkNode(node, { index }) {
    if (node.tenant === undefined) return
    for (const [kind, objects] of unlooked(node, index)) {
      const [first] = objects as [KubeObject, ...KubeObject[]]
      const id = idOf(first)
      const count = objects.length === 1 ? '1 object is' : `${objects.length} objects are`
      const can = verbsOf(node, id, index)
      const may = can.length > 0 ? `may ${can.join(', ')} them` : 'holds no rendered right to them'
      yield {
        node,
        object: first,
        path: ['kind'],
        value: kind,
        message: message`${quoted('object', kind)}: ${untyped(count)} evaluated only by scope, namespace and pods, because no rule supports the kind. ${identityPart(node.identity)} ${untyped(may)} in namespace ${quoted('object', id.namespace)}.`,
        fix: message`Review what the controller of the kind does for these objects.`,
      }
    }
  },
}

function unlooked(node: FleetNode, index: FleetIndex): Map<string, KubeObject[]> {
  const kinds = new Map<string, KubeObject[]>()
  for (const object of node.objects) {
    const id = idOf(object)
    const kind = kindOfId(id)
    const known = kinds.get(kind)
    if (known) known.push(object)
    else if (id.kind !== '' && isUnlooked({ object, id, kind, node }, index)) kinds.set(kind, [object])
  }
  return kinds
}

/** What the account could do with such objects, by the roles and bindings that are rendered. */
function verbsOf({ cluster, identity }: FleetNode, id: ObjectId, index: FleetIndex): string[] {
  if (!identity.impersonated) return VERBS
  const authorizer = index.authorizer(cluster)
  const apiGroup = groupOf(id.apiVersion)
  const resource = resourceOf(id.apiVersion, id.kind, new Map())
  const { namespace, name } = id
  const user = userInfo(identity.user)
  return VERBS.filter(verb => authorizer.allows(user, { verb, apiGroup, resource, namespace, name }))
}
