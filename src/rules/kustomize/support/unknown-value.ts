import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { mayWrite } from '../../../facts/tenant-rights.ts'
import { fieldsNaming } from '../../../kube/capabilities/index.ts'
import { placesOf } from '../../../kube/capabilities/places-of.ts'
import type { Path, ValueHolder } from '../../../kube/node.ts'
import { isDecrypted } from '../../../kube/sops-marks.ts'
import { type Message, message, part } from '../../../message/message.ts'
import { hostPaths } from '../../workloads/support/route-hosts.ts'
import { isInert } from './inert-place.ts'
import { scanObject } from './scan-object.ts'
import { type UnknownValue, valuesFromConfig } from './values-from-config.ts'

/** Why an unknown value may not stand where it does. */
export interface Refused extends UnknownValue {
  readonly reason: 'tenant' | 'host'
  /** Who decides what it is, for people. */
  readonly held: Message
}

/**
 * The unknown values of an object that stand where they may not: those that a tenant controls anywhere but in a place known
 * to be inert, those of the platform in a tenant's host that the fleet's file does not declare. Nothing that the platform
 * applies is such a place: Flux substitutes in the text of an object, so that a hostile value can end its field and write
 * others (a carriage return is left in it), which only the rights of the account then confine.
 */
export function refusedValues(subject: Subject, index: FleetIndex): Refused[] {
  const { object, node } = subject
  const { opaque, encrypted } = scanObject(object.root)
  const written = isDecrypted(object) ? encrypted.filter(([first]) => first !== 'sops') : []
  const own: UnknownValue[] = [...opaque, ...written.map(path => ({ path, holders: [] }))]
  const read = new Set(node.tenant === undefined ? [] : valuesFromConfig(subject, index))
  const isHost = own.length > 0 && node.tenant !== undefined ? hostTest(subject) : () => false
  return [...own, ...read].flatMap((value): Refused[] => {
    const holder = hostileHolder(value, subject, index)
    if (holder) {
      const isAllowed = !read.has(value) && mayStand(value.path, subject, index)
      return isAllowed ? [] : [{ ...value, reason: 'tenant', held: heldBy(holder, subject, index) }]
    }
    const isDeclared = value.holders.every(({ declared }) => declared !== undefined)
    return isDeclared || !isHost(value.path) ? [] : [{ ...value, reason: 'host', held: message`the platform` }]
  })
}

/** Whether a value that a tenant controls may stand at a path: in what a tenant applies, where nothing reads it. */
function mayStand(path: Path, { kind, node, id }: Subject, index: FleetIndex): boolean {
  if (node.tenant === undefined || !isInert(kind, path)) return false
  const isData = kind === '/Secret' || kind === '/ConfigMap'
  return !isData || index.kubeConfigUse(node.cluster, id.namespace, id.kind, id.name) === undefined
}

/** Whether a path lies where an object names hosts, as far as anybody has looked at its kind. */
function hostTest({ kind, object }: Subject): (path: Path) => boolean {
  const named = fieldsNaming(kind, 'host').flatMap(({ at }) => placesOf(object.root, at))
  const hosts = new Set([...hostPaths(kind, object), ...named].map(path => JSON.stringify(path)))
  return path => path.some((_, index) => hosts.has(JSON.stringify(path.slice(0, index + 1))))
}

/** What a tenant controls of a value; 'written': the tenant encrypted it in the object itself. */
function hostileHolder(
  { holders }: UnknownValue,
  { node }: Subject,
  index: FleetIndex,
): ValueHolder | 'written' | undefined {
  if (holders.length === 0) return node.tenant === undefined ? undefined : 'written'
  return holders.find(holder => isTenantControlled(index, node.cluster, holder))
}

/**
 * Whether a tenant decides what an object of the cluster holds: who can write it does. In a tenant's namespace that is the
 * tenant, unless the fleet's own file declares object and key; elsewhere it is whom the rendered RBAC lets write it.
 */
export function isTenantControlled(index: FleetIndex, cluster: string, holder: ValueHolder): boolean {
  const { kind, namespace, name, declared } = holder
  if (declared === 'key') return false
  if (index.ownerOf(cluster, namespace) !== undefined) return true
  return kind !== 'Kustomization' && mayWrite(index.tenantRights(cluster, namespace), kind, name)
}

/** Names only what the tenant of the node may see anyway. */
function heldBy(holder: ValueHolder | 'written', { node }: Subject, index: FleetIndex): Message {
  if (holder === 'written') return message`the tenant, who encrypted it there`
  const { kind, namespace, name, key } = holder
  const owner = index.ownerOf(node.cluster, namespace)
  if (node.tenant !== undefined && owner !== node.tenant)
    return message`${owner === undefined ? 'other tenants' : 'another tenant'}`
  const who = owner === undefined ? message`accounts of tenants` : message`the tenant ${quoted('tenant', owner)}`
  return message`${who} (key ${quoted('value', key)} of ${part('value', kind)} ${quoted('object', `${namespace}/${name}`)})`
}
