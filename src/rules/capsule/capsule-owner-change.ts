import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { mayCreateNamespace } from '../../fleet/tenancy/capsule.ts'
import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, canonical, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { accountOf, userOfAccount } from '../../kube/rbac/groups-of.ts'
import { textMapOf } from '../../kube/read-text.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { ANY, capsuleObjects, TENANT, TENANT_OWNER } from './support/capsule-tenants.ts'
import { listAt, textsAt } from './support/list-at.ts'

/** Groups in which everybody, or every account, is. */
const EVERYBODY = /^system:(authenticated|unauthenticated|anonymous|serviceaccounts|masters|nodes)$/
const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/
const ACCOUNTS_OF = /^system:serviceaccounts:([^:]+)$/

/** Who owns a Capsule Tenant owns all of its namespaces. */
export const capsuleOwnerChange: Rule = {
  id: 'capsule-owner-change',
  severity: 'critical',
  title: 'Changed owner of a Capsule Tenant',
  why: 'Owners of a Capsule Tenant, and the subjects of its `additionalRoleBindings`, have their rights in every namespace of the Tenant. This includes namespaces that are created later.',
  source: 'Capsule: spec.owners, spec.additionalRoleBindings',
  docs: 'Bind only accounts of the tenant. To add another owner, waive the rule for the Tenant or merge with an override.',
  kinds: [TENANT, TENANT_OWNER],
  *checkObject(subject, { index, before }) {
    const { object, id, node, kind } = subject
    // a tenant's own Tenant is cluster-scoped-forbidden
    if (node.tenant !== undefined) return
    if (kind === TENANT_OWNER) return yield* selectedOwner(subject, index, before)
    const was = before?.platformObject(node.cluster, TENANT, '', id.name)
    const known = was && new Set(grantsOf(was.root).map(({ key }) => key))
    const homes = was ? homesOf(was.root) : homesOf(object.root, 1)
    const removed = was ? removedOwners(subject, was.root, index) : []
    yield* removed
    for (const grant of grantsOf(object.root)) {
      const why = foreign(grant, node.cluster, index, homes) ?? (known && added(grant, known, homes))
      // a new name in the place of a removed one is one mistake
      if (why !== undefined && !removed.some(({ path }) => path.join() === grant.path.join()))
        yield violation(subject, grant, why)
    }
  },
}

/** Owners that the Tenant loses, and as which Flux still acts: what they apply for it, Capsule refuses. */
function removedOwners({ object, id, node }: Subject, was: Node, index: FleetIndex): Violation[] {
  const [before, now] = [was, object.root].map(root => grantsOf(root).filter(({ isOwner }) => isOwner))
  const isIn = (grants: readonly Grant[], { key }: Grant) => grants.some(one => one.key === key)
  return before!.flatMap((grant): Violation[] => {
    const { who, name, home } = grant
    if (home === undefined || isIn(now!, grant)) return []
    const acting = index.nodesIn(node.cluster, home).find(({ identity }) => {
      const isMeant = who.startsWith('Group ') ? accountOf(identity.user)?.namespace === home : identity.user === name
      return isMeant && !mayCreateNamespace(identity, ANY, index.capsuleOwners(node.cluster))
    })
    if (!acting) return []
    const instead = now!.find(one => one.home === home && !isIn(before!, one))
    return [
      {
        node,
        object,
        path: instead?.path ?? ['spec', 'owners'],
        value: `removed ${who}`,
        message: message`${quoted('identity', who)} no longer owns Capsule Tenant ${quoted('object', id.name)}, but ${objectPart('Kustomization', acting.namespace, acting.name)} is applied as ${part('identity', acting.identity.user)}. Allowed: removing an owner together with what is applied as it. Capsule: You do not have any Tenant assigned: please, reach out to the system administrators.`,
        fix: message`Restore the owner ${quoted('identity', name)} in ${part('field', 'spec.owners')}, or remove everything of the tenant in one change.`,
      },
    ]
  })
}

/** A TenantOwner belongs to the Tenants that select it by label, as well as to those that name it. */
function* selectedOwner(subject: Subject, index: FleetIndex, before: FleetIndex | undefined): Iterable<Violation> {
  const { object, id, node } = subject
  const spec = at(object.root, ['spec'])
  for (const tenant of spec ? selecting(index, node.cluster, object.root) : []) {
    const { name } = idOf(tenant)
    const was = before?.platformObject(node.cluster, TENANT, '', name)
    const former = before?.platformObject(node.cluster, TENANT_OWNER, '', id.name)
    const wasSelected = was && former && isSelected(was.root, former.root)
    const known = wasSelected ? ownerGrants(at(former.root, ['spec'])!, ['spec']) : []
    const keys = new Set([...(was ? grantsOf(was.root) : []), ...known].map(({ key }) => key))
    const homes = homesOf((was ?? tenant).root)
    for (const grant of ownerGrants(spec!, ['spec'])) {
      const why = foreign(grant, node.cluster, index, homes) ?? (was && added(grant, keys, homes))
      if (why !== undefined) yield violation({ ...subject, id: { ...id, name } }, grant, why)
    }
  }
}

function selecting(index: FleetIndex, cluster: string, owner: Node): KubeObject[] {
  const tenants = capsuleObjects(index, cluster, TENANT).map(({ object }) => object)
  return tenants.filter(({ root }) => isSelected(root, owner))
}

function isSelected(tenant: Node, owner: Node): boolean {
  const labels = textMapOf(at(owner, ['metadata', 'labels'])) ?? new Map<string, string>()
  const selectors = listAt(tenant, ['spec', 'permissions', 'matchOwners']).map(readLabelSelector)
  return selectors.some(selector => selector !== undefined && selects(selector, labels))
}

/** Somebody who gets something by a Tenant. */
interface Grant {
  readonly path: Path
  /** `<kind> <name>`. */
  readonly who: string
  /** Of that the name. */
  readonly name: string
  /** Namespace of an account. */
  readonly home: string | undefined
  readonly what: string
  /** Identity of the grant: who gets what. */
  readonly key: string
  readonly isOwner: boolean
  /** A right at Capsule's proxy. */
  readonly isOfProxy?: true
}

function grantsOf(root: Node): Grant[] {
  const bindings = (path: Path, name: string) =>
    listAt(root, path).flatMap((binding, index) =>
      subjectGrants(binding, [...path, index], stringAt(binding, [name]) ?? textsAt(binding, [`${name}s`]).join(' ')),
    )
  const single = at(root, ['spec', 'owner'])
  const rules = listAt(root, ['spec', 'rules']).flatMap((_rule, index) => {
    const path = ['spec', 'rules', index, 'permissions', 'bindings']
    return [...bindings(path, 'clusterRoleName'), ...bindings(path, 'clusterRole')]
  })
  const promoted = listAt(root, ['spec', 'rules']).flatMap((_rule, index) => {
    const path = ['spec', 'rules', index, 'permissions', 'promotions']
    return listAt(root, path).map((promotion, place): Grant => {
      const who = 'accounts by their labels'
      const what = textsAt(promotion, ['clusterRoles']).join(' ')
      return {
        path: [...path, place],
        who,
        name: who,
        home: undefined,
        what,
        key: canonical(promotion),
        isOwner: false,
      }
    })
  })
  const matched = listAt(root, ['spec', 'permissions', 'matchOwners']).map((selector, index): Grant => {
    const path = ['spec', 'permissions', 'matchOwners', index]
    const key = canonical(selector)
    const who = 'owners by their labels'
    return { path, who, name: who, home: undefined, what: 'owner', key, isOwner: true }
  })
  return [
    ...listAt(root, ['spec', 'owners']).flatMap((owner, index) => ownerGrants(owner, ['spec', 'owners', index])),
    ...(single ? ownerGrants(single, ['spec', 'owner']) : []),
    ...bindings(['spec', 'additionalRoleBindings'], 'clusterRoleName'),
    ...rules,
    ...promoted,
    ...matched,
  ]
}

/** One for being an owner, one for each role and each right at Capsule's proxy. */
function ownerGrants(owner: Node, path: Path): Grant[] {
  const name = stringAt(owner, ['name']) ?? ''
  const written = stringAt(owner, ['kind']) ?? ''
  const kind = written === 'User' && accountOf(name) ? 'ServiceAccount' : written
  const who = `${kind} ${name}`
  const home = homeOf(kind, name)
  const grant = (what: string, isOwner: boolean, at: Path): Grant => {
    return { path: at, who, name, home, what, key: `${who} ${what}`, isOwner }
  }
  const proxy = listAt(owner, ['proxySettings']).map(setting => canonical(setting))
  return [
    grant('owner', true, [...path, 'name']),
    ...textsAt(owner, ['clusterRoles']).map(role => grant(role, false, [...path, 'clusterRoles'])),
    ...proxy.map(text => ({ ...grant(`proxy ${text}`, false, [...path, 'proxySettings']), isOfProxy: true as const })),
  ]
}

function subjectGrants(binding: Node, path: Path, role: string): Grant[] {
  return listAt(binding, ['subjects']).map((subject, index): Grant => {
    const written = stringAt(subject, ['kind']) ?? ''
    const plain = stringAt(subject, ['name']) ?? ''
    const name = written === 'ServiceAccount' ? userOfAccount(stringAt(subject, ['namespace']) ?? '', plain) : plain
    const kind = written === 'User' && accountOf(name) ? 'ServiceAccount' : written
    const home = homeOf(kind, name)
    const who = `${kind} ${name}`
    return { path: [...path, 'subjects', index], who, name, home, what: role, key: `${who} ${role}`, isOwner: false }
  })
}

function homeOf(kind: string, name: string): string | undefined {
  return (kind === 'Group' ? ACCOUNTS_OF : ACCOUNT).exec(name)?.[1]
}

/** Homes of the accounts that own the Tenant, the first ones: what they get besides is theirs anyway. */
function homesOf(root: Node, first = 100): ReadonlySet<string> {
  const owners = grantsOf(root).filter(({ isOwner }) => isOwner)
  return new Set(owners.slice(0, first).flatMap(({ home }) => home ?? []))
}

function foreign({ name, home }: Grant, cluster: string, index: FleetIndex, homes: ReadonlySet<string>) {
  if (EVERYBODY.test(name)) return 'that group includes every user'
  if (home === undefined || homes.has(home)) return undefined
  const [first] = homes
  const own = first === undefined ? undefined : index.ownerOf(cluster, first)
  const other = index.ownerOf(cluster, home)
  return own !== undefined && other !== undefined && other !== own
    ? 'that account belongs to another tenant'
    : undefined
}

function added({ key, name, home, isOwner, isOfProxy }: Grant, known: ReadonlySet<string>, homes: ReadonlySet<string>) {
  if (known.has(key)) return undefined
  // roles for the owner's own account in its own namespaces are how Flux is let in
  const isOwn = home !== undefined && homes.has(home)
  if (isOwn && !isOfProxy && (!isOwner || ACCOUNT.test(name))) return undefined
  return 'this change adds it'
}

function violation(
  { object, id, node }: Subject,
  grant: Grant,
  why: NonNullable<ReturnType<typeof foreign | typeof added>>,
): Violation {
  const what = grant.isOwner ? 'owns' : 'has rights in'
  const role = grant.isOwner ? message`` : message` (${quoted('value', grant.what)})`
  return {
    node,
    object,
    path: grant.path,
    value: grant.key,
    message: message`${quoted('identity', grant.who)} ${what} every namespace of Capsule Tenant ${quoted('object', id.name)}${role}: ${why}. Allowed: the Tenant's previous owners, and accounts in their namespaces. Capsule accepts it.`,
    fix: message`Remove ${grant.isOwner ? 'the owner' : 'the subject'} from ${objectPart('Tenant', '', id.name)}. To keep it, waive the rule for this Tenant or merge with an override.`,
  }
}
