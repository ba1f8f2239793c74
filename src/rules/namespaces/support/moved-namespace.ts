import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Rendered } from '../../../facts/object-table.ts'
import { identityPart, objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { CAPSULE_GROUP } from '../../../fleet/tenancy/capsule.ts'
import { declaredIn } from '../../../fleet/tenancy/declared-in.ts'
import { HELM_RELEASE } from '../../../flux/kinds.ts'
import { at, itemsOf, type Path, stringAt } from '../../../kube/node.ts'
import { groupOf } from '../../../kube/object.ts'
import { type Message, message, part, untyped } from '../../../message/message.ts'
import { namespaceAnswer } from '../../capsule/support/namespace-answer.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'
import { TENANT_KEYS } from './protected-metadata.ts'

/** What of a Namespace says whose it is. */
interface Claim {
  readonly path: Path
  /** The label, or `ownerReferences`. */
  readonly key: string
  /** The tenant that it names, or of another value its type. */
  readonly to: string
}

/**
 * A Namespace of the platform that gives what is in it to another tenant than it belongs to: by a label or an ownerReference,
 * whether or not it had an owner before, and however that one was known.
 */
export function* movedNamespace(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { id, node } = subject
  const { index, before } = context
  const claims = claimsOf(subject)
  let isReported = false
  for (const claim of claims) {
    const from = formerOwner(subject, claim, context)
    if (from === undefined) continue
    isReported = true
    yield violation(subject, claim, from, context)
  }
  const [was, is] = [before?.ownerOf(node.cluster, id.name), index.ownerOf(node.cluster, id.name)]
  if (
    !isReported &&
    before &&
    was !== undefined &&
    is !== undefined &&
    was !== is &&
    !isRenamed(was, is, node.cluster, context)
  ) {
    const left = claims.find(({ to }) => to === is) ?? { path: ['metadata', 'name'], key: 'name', to: is }
    yield violation(subject, left, { tenant: was }, context)
  } else if (!isReported) yield* refusedByCapsule(subject, claims, context)
}

function claimsOf({ object }: Subject): Claim[] {
  const labels = TENANT_KEYS.flatMap((key): Claim[] => {
    const path = ['metadata', 'labels', key]
    const label = at(object.root, path)
    return label ? [{ path, key, to: stringAt(object.root, path) ?? label.type }] : []
  })
  const references = itemsOf(at(object.root, ['metadata', 'ownerReferences'])).flatMap((one, place): Claim[] => {
    const isTenant =
      groupOf(stringAt(one, ['apiVersion']) ?? '') === CAPSULE_GROUP && stringAt(one, ['kind']) === 'Tenant'
    const path = ['metadata', 'ownerReferences', place, 'name']
    return isTenant ? [{ path, key: 'ownerReferences', to: stringAt(one, ['name']) ?? '' }] : []
  })
  return [...labels, ...references]
}

/** Who loses a Namespace by a claim: a tenant, or the platform with a reason; undefined: nobody. */
type Loser = { readonly tenant: string } | { readonly platform: Message }

function formerOwner(subject: Subject, claim: Claim, context: RuleContext): Loser | undefined {
  const { id, node } = subject
  const { index, before, config } = context
  const { cluster } = node
  const isEmpty = claim.to === ''
  const isPlatforms = isEmpty || declaredIn(config, cluster).platformTenants.has(claim.to)
  if (!isPlatforms && (RESERVED.test(id.name) || index.rootOf(cluster)?.namespace === id.name))
    return { platform: message`Kubernetes, Flux or Capsule runs there` }
  const living = isOfCapsule(claim) && !isEmpty ? index.capsuleTenantsIn(cluster, id.name) : []
  // whoever has the account has the namespace: that of another Tenant's owner is not this one's
  if (living.length > 0) return living.includes(claim.to) ? undefined : { tenant: living[0]! }
  const named = isOfCapsule(claim) ? nameOf(index, cluster, claim.to) : undefined
  const now = index.ownerOf(cluster, id.name)
  if (named !== undefined && now !== undefined && named !== now) return { tenant: now }
  if (!before) return undefined
  const known = before.versionsOf(cluster, '/Namespace', '', id.name)
  const earlier = before.platformObject(cluster, '/Namespace', '', id.name)
  // a version that was there before the change takes nothing away
  if (known.some(one => stringAt(one.object.root, claim.path) === claim.to)) return undefined
  const was = (earlier && stringAt(earlier.root, claim.path)) || undefined
  if (was !== undefined || isEmpty) return was === undefined ? undefined : { tenant: was }
  const owner = before.ownerOf(cluster, id.name)
  if (owner === undefined)
    return isPlatforms ? undefined : runsThere(before, cluster, id.name) && runsThere(index, cluster, id.name)
  const to = named ?? claim.to
  return to === owner || isRenamed(owner, to, cluster, context) ? undefined : { tenant: owner }
}

/** Namespaces that are no tenant's, whatever they are labelled. */
const RESERVED = /^(kube-.*|flux-system|capsule-system)$/

const isOfCapsule = ({ key }: Claim): boolean => key !== TENANT_KEYS[0]

/** How the tenant of a Capsule Tenant is called, where an account owns that one. */
function nameOf(index: FleetIndex, cluster: string, tenant: string): string | undefined {
  const homes = index.capsuleHomesOf(cluster).get(tenant) ?? []
  return homes.map(home => index.ownerOf(cluster, home)).find(one => one !== undefined)
}

/** Whether a tenant has a new name: one that nobody had, on any cluster, for all of its namespaces that are left, and for no others. */
function isRenamed(was: string, is: string, cluster: string, { index, before }: RuleContext): boolean {
  if (!before || before.namespacesOf(cluster, is).length > 0) return false
  if (before.capsuleHomesOf(cluster).has(is)) return false
  const former = before.namespacesOf(cluster, was)
  // a rename goes from cluster to cluster
  const isOthers = (one: string) => before.namespacesOf(one, is).some(name => !former.includes(name))
  if (before.clusters().some(isOthers)) return false
  const isKept = former.every(one => [is, undefined].includes(index.ownerOf(cluster, one)))
  return isKept && index.namespacesOf(cluster, is).every(one => former.includes(one))
}

/** Whether the platform runs something in a namespace: whoever gets the namespace gets its accounts and Secrets. */
function runsThere(index: FleetIndex, cluster: string, namespace: string): Loser | undefined {
  const isThere = ({ object }: Rendered) => stringAt(object.root, ['spec', 'targetNamespace']) === namespace
  const runs =
    index.platformAnywhere(cluster, HELM_RELEASE).some(isThere) ||
    WORKLOADS.some(kind => index.platformRendered(cluster, kind, namespace).length > 0)
  return runs ? { platform: message`workloads of the platform run there` } : undefined
}

const WORKLOADS = ['apps/Deployment', 'apps/DaemonSet', 'apps/StatefulSet', HELM_RELEASE]

function violation(
  { object, id, node }: Subject,
  { path, key, to }: Claim,
  from: Loser,
  { index, before }: RuleContext,
): Violation {
  const whose = 'tenant' in from ? message`tenant ${quoted('tenant', from.tenant)}` : message`the platform`
  const known = before?.platformObject(node.cluster, '/Namespace', '', id.name)
  const kept = known && stringAt(known.root, path)
  const what =
    key === 'name'
      ? message`what remains`
      : key === 'ownerReferences'
        ? message`its ownerReference`
        : message`its label ${part('field', key)}`
  const why =
    'tenant' in from ? message`Allowed: the same tenant` : message`Allowed: no tenant, because ${from.platform}`
  const words = namespaceAnswer(index, node, object, known)
  const answer = words ? message`Capsule: ${untyped(words)}.` : message`Flux and the API server accept it.`
  return {
    node,
    object,
    path,
    value: `${key} ${'tenant' in from ? from.tenant : 'platform'} to ${to}`,
    message: message`${objectPart('Namespace', '', id.name)} belongs to ${whose}, but ${what} now gives it, with everything in it, to ${quoted('tenant', to)}. ${why}. ${answer}`,
    fix: kept
      ? message`Keep ${part('field', key)}: ${quoted('tenant', kept)} and create a separate namespace for the other tenant. To move the namespace, waive the rule for it or merge with an override.`
      : message`Remove ${part('field', key)}, or create a separate namespace for tenant ${quoted('tenant', to)}. To move the namespace, waive the rule for it or merge with an override.`,
  }
}

/** What Capsule refuses to the platform, for each owner. */
function* refusedByCapsule(
  { object, id, node }: Subject,
  claims: readonly Claim[],
  context: RuleContext,
): Iterable<Violation> {
  const { index, before } = context
  const words = namespaceAnswer(index, node, object, before?.platformObject(node.cluster, '/Namespace', '', id.name))
  if (words === undefined) return
  yield {
    node,
    object,
    path: claims.find(isOfCapsule)?.path ?? ['metadata', 'name'],
    value: words,
    level: 'warning',
    severity: 'medium',
    message: message`${objectPart('Namespace', '', id.name)} names a Capsule Tenant, but ${identityPart(node.identity)} is neither an administrator nor a user of Capsule. Allowed: a Namespace without the Tenant's label. Capsule: ${untyped(words)}.`,
    fix: message`Remove the label, or list the account in ${part('field', 'spec.administrators')} of the CapsuleConfiguration.`,
  }
}
