import { hashOf } from '../../../facts/fingerprint.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at, canonical, isTrue, originAt } from '../../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../../kube/object.ts'
import { listed, message, part } from '../../../message/message.ts'
import { serverWords } from '../../model/api-refusal.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'
import { deletedObjects } from '../../ownership/support/deleted-objects.ts'
import { isCapsuleUser } from './capsule-settings.ts'
import { TENANT, webhookVersion } from './capsule-tenants.ts'

const isCordoned = (tenant: KubeObject | undefined): boolean => {
  const value = tenant && at(tenant.root, ['spec', 'cordoned'])
  return isTrue(value)
}

const MAX_SHOWN = 5

/** What no longer works once a Tenant is cordoned. */
export function* cordonedTenant({ node, object, id }: Subject, index: FleetIndex): Iterable<Violation> {
  if (!isCordoned(object)) return
  const namespaces = new Set(index.capsuleNamespacesOf(node.cluster, id.name))
  const homes = [...index.capsuleHomes(node.cluster).keys()]
  const nodes = [...new Set([...homes, ...namespaces])]
    .flatMap(namespace => index.nodesIn(node.cluster, namespace))
    .filter(one => index.objectsOf(one.key).some(object => namespaces.has(placeOf(object))))
  if (nodes.length === 0) return
  const names = nodes.slice(0, MAX_SHOWN).map(one => objectPart('Kustomization', one.namespace, one.name))
  const more = nodes.length > MAX_SHOWN ? message` and ${nodes.length - MAX_SHOWN} more` : message``
  yield {
    node,
    object,
    path: ['spec', 'cordoned'],
    value: 'cordoned',
    level: 'warning',
    message: message`Tenant ${quoted('object', id.name)} is cordoned: Capsule refuses what Flux applies in its namespaces, by ${listed(names)}${more}. Allowed: changes by the platform.`,
    fix: message`Remove ${part('field', 'spec.cordoned')} when the tenant may change its namespaces again.`,
  }
}

const placeOf = (object: KubeObject): string => {
  const { kind, name, namespace } = idOf(object)
  return kind === 'Namespace' ? name : namespace
}

/** What a user of Capsule changes in a Tenant that is and was cordoned. */
export function* cordonedChanges(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { index, before } = context
  if (node.tenant === undefined || !before) return
  const old = before.node(node.key) ? before.objectsOf(node.key) : []
  const refused = (object: KubeObject, operation: keyof typeof VERBS): Violation[] => {
    const tenant =
      index.capsuleTenantAt(node.cluster, placeOf(object)) ?? before.capsuleTenantAt(node.cluster, placeOf(object))
    const was = tenant && before.platformObject(node.cluster, TENANT, '', idOf(tenant).name)
    if (!isCordoned(tenant) || !isCordoned(was) || !isCapsuleUser(index, node.cluster, node.identity.user)) return []
    return [cordonViolation(node, object, tenant!, operation, webhookVersion(index, node.cluster))]
  }
  const texts = new Map(old.map(object => [keyOf(object), canonical(object.root)]))
  for (const object of index.objectsOf(node.key)) {
    if (index.capsuleTenantAt(node.cluster, placeOf(object)) === undefined) continue
    const text = texts.get(keyOf(object))
    if (text === canonical(object.root)) continue
    yield* refused(object, text === undefined ? 'CREATE' : 'UPDATE')
  }
  if (node.prune) for (const object of deletedObjects(node, old, index)) yield* refused(object, 'DELETE')
}

const keyOf = (object: KubeObject): string => {
  const { namespace, name } = idOf(object)
  return `${kindOf(object)} ${namespace}/${name}`
}

function cordonViolation(
  node: FleetNode,
  object: KubeObject,
  tenant: KubeObject,
  operation: keyof typeof VERBS,
  version: number,
): Violation {
  const id = idOf(object)
  const { name } = idOf(tenant)
  const { file, line } = originAt(tenant.root, ['spec', 'cordoned'])
  return {
    node,
    object,
    path: ['metadata', 'name'],
    value: `cordoned ${name} ${operation}`,
    cause: hashOf(['cordoned', node.cluster, name]),
    message: message`${objectPart(id.kind, id.namespace, id.name)}: Capsule refuses to ${VERBS[operation]} it, because ${objectPart('Tenant', '', name)} is cordoned (${part('path', `${file}:${line}`)}). Allowed: changes by the platform. Capsule: ${serverWords(cordonWords(object, name, operation, version).replace(/\.$/, ''))}.`,
    fix: message`Ask a fleet admin to remove ${part('field', 'spec.cordoned')}, or wait until then.`,
  }
}

const VERBS = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const

function cordonWords(object: KubeObject, tenant: string, operation: keyof typeof VERBS, version: number): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  if (kind === 'Namespace') {
    if (version < 13) return 'the selected Tenant is freezed'
    return version === 13 ? 'the selected Tenant is cordoned' : 'the selected tenant is cordoned'
  }
  if (version < 13) return `tenant ${tenant} is freezed: please, reach out to the system administrator`
  const ofApi = apiVersion.split('/').at(-1)
  return `The current namespace '${namespace}' is cordoned. The attempted operation ${operation} for ${groupOf(apiVersion)}/${ofApi}/${kind}/${name} is not permitted during cordoning status.`
}
