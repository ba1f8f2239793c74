import { identityPart, objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isNamespaceName } from '../../kube/names.ts'
import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import { serverAnswer } from '../model/api-refusal.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { keepsNamespace } from './support/keeps-namespace.ts'
import { lostConfinement } from './support/lost-confinement.ts'
import { ownNamespaces } from './support/own-namespaces.ts'

const FIELD = ['metadata', 'namespace']

/** What a tenant applies lies in the tenant's own namespaces: an allow-list, compared exactly, on the final objects. */
export const namespaceConfinement: Rule = {
  id: 'namespace-confinement',
  severity: 'critical',
  title: "Object outside the tenant's namespaces",
  why: 'An object in a namespace that does not belong to the tenant changes what another tenant or the platform runs.',
  docs: 'Set `metadata.namespace` to a namespace of the tenant, or set `namespace` in kustomization.yaml. The label `toolkit.fluxcd.io/tenant` on a Namespace that the platform renders gives the namespace to a tenant.',
  kinds: 'every',
  *checkTenantObject({ object, node }, context) {
    const violation = evaluateFleet(context, node, node.tenant, object)
    if (violation) yield violation
  },
  *checkNode(node, context) {
    const lost = lostConfinement(node, context)
    if (lost) yield lost
  },
}

function evaluateFleet(
  context: RuleContext,
  node: FleetNode,
  tenant: string,
  object: KubeObject,
): Violation | undefined {
  const { index } = context
  const { apiVersion, kind, name } = idOf(object)
  if (index.scopeOf(node.cluster, apiVersion, kind) !== 'Namespaced' || object.nullNamespace) return undefined
  const namespace = at(object.root, FIELD) === undefined ? '' : stringAt(object.root, FIELD)
  // A namespace that is no name at all cannot be decided; the rule invalid-object says so.
  if (namespace === undefined || (namespace !== '' && !isNamespaceName(namespace))) return undefined
  if (keepsNamespace(context, node.cluster, tenant, namespace)) return undefined
  const own = ownNamespaces(index, node.cluster, tenant)
  const allowed = index.namespacesOf(node.cluster, tenant)
  const [only] = allowed
  const where =
    namespace === ''
      ? 'has no namespace'
      : message`is in namespace ${quoted('object', namespace)}, which is not a namespace of tenant ${quoted('tenant', tenant)}`
  const answer = namespace === '' ? message` Flux: namespace not specified.` : serverAnswer(index, node, object)
  return {
    node,
    object,
    path: FIELD,
    value: namespace,
    message: message`${objectPart(kind, namespace, name)} ${where}, and ${identityPart(node.identity)} would apply it. Allowed: ${own}.${answer}`,
    fix: message`Set metadata.namespace to one of: ${own}.`,
    allowed,
    ...(allowed.length === 1 && only !== undefined
      ? { edit: at(object.root, FIELD) === undefined ? { add: only } : { set: only } }
      : {}),
  }
}
