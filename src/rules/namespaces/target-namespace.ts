import { objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { valuesOf } from '../../flux/kinds.ts'
import { at, type Path } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { keepsNamespace } from './support/keeps-namespace.ts'
import { ownNamespaces } from './support/own-namespaces.ts'

/** Fields by which a controller puts what it applies into another namespace than the object's own, by kind. */
const FIELDS = valuesOf(row => row.targets)

/** A Kustomization or HelmRelease puts its objects, and Helm its records, into the tenant's own namespaces. */
export const targetNamespace: Rule = {
  id: 'target-namespace',
  severity: 'critical',
  title: "Target namespace outside the tenant's namespaces",
  why: "`spec.targetNamespace` moves all applied objects to another namespace. `spec.storageNamespace` stores a release's values, including secrets, where others can read them.",
  source:
    'HelmRelease and Kustomization APIs of Flux; Flux checks neither field against anything but the rights of the account.',
  docs: 'Remove the field, or set it to a namespace of the tenant.',
  kinds: [...FIELDS.keys()],
  *checkObject({ object, node }, context) {
    const tenant = context.index.actsFor(node, object)
    if (tenant === undefined) return
    const { apiVersion, kind } = idOf(object)
    for (const path of FIELDS.get(`${groupOf(apiVersion)}/${kind}`) ?? []) {
      const violation = evaluateFleet(context, node, tenant, object, path)
      if (violation) yield violation
    }
  },
}

function evaluateFleet(
  context: RuleContext,
  node: FleetNode,
  tenant: string,
  object: KubeObject,
  path: Path,
): Violation | undefined {
  const field = at(object.root, path)
  if (!field || (field.type === 'scalar' && (field.value === null || field.value === ''))) return undefined
  const target = field.type === 'scalar' ? String(field.value) : field.type
  const isText = field.type === 'scalar' && typeof field.value === 'string'
  if (isText && keepsNamespace(context, node.cluster, tenant, target)) return undefined
  const { index } = context
  const { kind, namespace, name } = idOf(object)
  const own = ownNamespaces(index, node.cluster, tenant)
  const what = path.join('.')
  const allowed = index.namespacesOf(node.cluster, tenant)
  const [only] = allowed
  return {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path,
    value: target,
    message: message`${objectPart(kind, namespace, name)} has ${part('field', what)} ${quoted('object', target)}, which is not a namespace of tenant ${quoted('tenant', tenant)}. Allowed: ${own}. Flux accepts it: only the rights of the account limit it.`,
    fix: message`Remove ${part('field', what)}, or set it to one of: ${own}.`,
    allowed,
    ...(allowed.length === 1 && only !== undefined ? { edit: { set: only } } : {}),
  }
}
