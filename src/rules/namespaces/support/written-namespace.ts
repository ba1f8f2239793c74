import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { mayCreateNamespace } from '../../../fleet/tenancy/capsule.ts'
import { at, type Path, stringAt } from '../../../kube/node.ts'
import { codeWord, listed, type Message, message, part } from '../../../message/message.ts'
import { asMessage } from '../../../message/said.ts'
import { namesOf, tenantsOwnedBy } from '../../capsule/support/capsule-tenants.ts'
import { ownerRemoved } from '../../capsule/support/owner-removed.ts'
import { serverAnswer } from '../../model/api-refusal.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'
import { claimants, keepsNamespace } from './keeps-namespace.ts'
import { ownNamespaces } from './own-namespaces.ts'
import { TENANT_KEYS } from './protected-metadata.ts'

/** A Namespace that a tenant writes: it must be one that Capsule lets the tenant create, and stay the tenant's. */
export function* writtenNamespace(subject: Subject, tenant: string, context: RuleContext): Iterable<Violation> {
  const { index } = context
  const { object, id, node } = subject
  const who = message`${objectPart('Namespace', '', id.name)} is written by ${identityPart(node.identity)}, which acts for a tenant`
  const violation = (path: Path, value: string, problem: string | Message, fix: string | Message): Violation => ({
    node,
    object,
    path,
    value,
    message: asMessage(problem),
    fix: asMessage(fix),
  })
  const own = keepsNamespace(context, node.cluster, tenant, id.name)
  const claims = own ? [] : claimants(index, node.cluster, id.name)
  if (claims.length > 1 && claims.includes(tenant)) {
    const first = context.before?.ownerOf(node.cluster, id.name)
    const why =
      first === undefined
        ? message`tenants ${listed(claims.map(name => quoted('tenant', name)))} declare it, and Capsule gives it to the one that creates it first`
        : message`tenant ${quoted('tenant', first)} had it before this change`
    const problem = message`${who}: ${why}. Allowed: one tenant for each namespace. Capsule refuses the request of any other tenant.`
    const fix = message`Rename the Namespace, or name its owner in ${codeWord('tenants[].namespaces')} of .github/bailiwick.yaml.`
    yield violation(['metadata', 'name'], id.name, problem, fix)
  } else if (!own || !(mayWrite(subject, index) || ownerRemoved(context, node.cluster, tenant))) {
    const why = own
      ? 'only the platform writes the Namespaces of tenants, because a writer can relabel or delete them'
      : 'it is not a namespace of the tenant'
    const allowed = ownNamespaces(index, node.cluster, tenant)
    const problem = message`${who}: ${why}. Namespaces of the tenant: ${allowed}.${serverAnswer(index, node, object)}`
    yield violation(
      ['metadata', 'name'],
      id.name,
      problem,
      message`Remove the Namespace, or ask a fleet admin to add it to the fleet repository.`,
    )
  }
  for (const key of TENANT_KEYS) {
    const path = ['metadata', 'labels', key]
    const label = at(object.root, path)
    const text = stringAt(object.root, path)
    if (!label || (text !== undefined && namesFor(key, tenant, subject, index).includes(text))) continue
    const problem = message`${who}, and its label ${part('field', key)} gives it to ${quoted('tenant', text ?? label.type)}. Allowed: the tenant's own name.`
    yield violation(path, `${key}=${text ?? label.type}`, problem, message`Remove the label ${part('field', key)}.`)
  }
  const owners = at(object.root, ['metadata', 'ownerReferences']) ?? object.owners
  if (owners) {
    const problem = message`${who} with ownerReferences, from which Capsule derives the namespace's owner. Allowed: none, because Capsule writes them.`
    const found = violation(
      ['metadata', 'ownerReferences'],
      'ownerReferences',
      problem,
      message`Remove metadata.ownerReferences.`,
    )
    yield object.owners ? { ...found, origin: object.owners.origin } : found
  }
}

/** Only Capsule lets a tenant write a Namespace, and none that the platform writes. */
function mayWrite({ id, node }: Subject, index: FleetIndex): boolean {
  if (index.platformObject(node.cluster, '/Namespace', '', id.name) !== undefined) return false
  return mayCreateNamespace(node.identity, id.name, index.capsuleOwners(node.cluster))
}

/** What a label that says whose a namespace is may say in this tenant's Namespaces. */
function namesFor(key: string, tenant: string, { node }: Subject, index: FleetIndex): string[] {
  if (key === TENANT_KEYS[0]) return [tenant]
  const owned = namesOf(tenantsOwnedBy(index, node.cluster, node.identity))
  return owned.length > 0 ? owned : [tenant]
}
