import { type Message, message, part } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { objectCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted, shownName, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../fleet/model/kustomization-spec.ts'
import { ACCOUNT_FIELD } from '../../kube/flux-kinds.ts'
import { at, canonical, isTrue, originAt, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { displayRbac, RBAC_GROUP, readBinding } from '../../kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { type Rule, Subject, type Violation, type Wording } from '../model/rule.ts'
import { bindingCause, subjectText } from '../rbac/binding-subjects.ts'
import { type ClusterChange, deletedObjects, isKept, pruner, prunesAtEnd, prunesNow, removalOf } from './deletions.ts'

/**
 * An object that a finalizer needs to delete for a tenant is removed earlier, or at the same time: kustomize-controller
 * and helm-controller then retry forever, or end without deleting anything.
 */
export const pruneAccountRemoved: Rule = {
  id: 'prune-account-removed',
  severity: 'high',
  title: 'Account removed before what deletes as it',
  why: 'A Kustomization that is removed deletes its objects as its account. If the account, its role bindings, its namespace or its kubeconfig go in the same change, Flux cannot delete them: the finalizer and the namespace hang, or the objects stay without an owner.',
  source: 'kustomize-controller: finalize; fluxcd/flux2#997, fluxcd/flux2-multi-tenancy#101',
  docs: 'Remove a tenant in two changes. The first removes its Kustomizations and HelmReleases. When they are gone on every cluster, the second removes sources, accounts, role bindings, namespaces and credentials. `/bailiwick offboard TENANT` and `bailiwick offboard TENANT` make both. A Kustomization that deletes nothing (`prune: false`, `deletionPolicy: Orphan`, `suspend: true`) may go together with its account. So may an account that nothing uses anymore.',
  *checkNode(node, { index, before }) {
    if (!before?.node(node.key) || node.tenant !== undefined || !prunesNow(node)) return
    const old = before.objectsOf(node.key)
    if (old === node.objects) return
    const gone = deletedObjects(node, old, index)
    yield* violations(node, gone, changedBindings(node, old), { cluster: node.cluster, before, index })
  },
  *checkRemoved(node, { index, before }) {
    if (!before || node.tenant !== undefined) return
    const heir = pruner(node, before, index)
    if (!heir) return
    const left = { ...node, objects: [] }
    const gone = deletedObjects(left, before.objectsOf(node.key), index)
    yield* violations(heir, gone, [], { cluster: heir.cluster, before, index })
  },
}

/** Bindings that stay, and may have lost a subject. */
function changedBindings(node: FleetNode, old: readonly KubeObject[]): KubeObject[] {
  const now = new Set(node.objects)
  return old.filter(object => kindOf(object).endsWith('Binding') && !now.has(object))
}

function* violations(
  node: FleetNode,
  gone: readonly KubeObject[],
  changed: readonly KubeObject[],
  change: ClusterChange,
): Iterable<Violation> {
  const seen = new Set<string>()
  for (const support of new Set([...gone.filter(isSupport), ...changed])) {
    for (const { object, tenant } of dependentsOf(support, gone.includes(support), change)) {
      const { kind, namespace, name } = idOf(object)
      const key = JSON.stringify([kind, namespace, name])
      if (!seen.has(key)) yield violation(node, support, keptBinding(node, support, gone), object, tenant, change.index)
      seen.add(key)
    }
  }
}

/** The remaining binding, with other subjects or another role than before. */
function keptBinding(node: FleetNode, support: KubeObject, gone: readonly KubeObject[]): KubeObject | undefined {
  const id = display(idOf(support))
  return gone.includes(support) ? undefined : node.objects.find(object => display(idOf(object)) === id)
}

/** Where a binding differs from before: its first other subject, else its subjects, else its role. */
function changedAt(was: KubeObject, is: KubeObject): Origin {
  const [old, young] = [was, is].map(({ root }) => at(root, ['subjects']))
  if (old && young && canonical(old) === canonical(young)) return originAt(is.root, ['roleRef'])
  const known = new Set(old?.type === 'list' ? old.items.map(canonical) : [])
  const other = young?.type === 'list' ? young.items.findIndex(item => !known.has(canonical(item))) : -1
  return originAt(is.root, other < 0 ? ['subjects'] : ['subjects', other, 'name'])
}

function violation(
  node: FleetNode,
  support: KubeObject,
  kept: KubeObject | undefined,
  object: KubeObject,
  tenant: string,
  index: ClusterChange['index'],
): Violation {
  const of = idOf(support)
  const { kind } = idOf(object)
  const what = objectPart(of.kind, of.namespace, of.name)
  const deletes = message`${whoOf(object)} of tenant ${quoted('tenant', tenant)} deletes its objects with ${what}`
  const found = (wording: Wording) =>
    new Subject({ node, object }).violation(ACCOUNT_FIELD, `${of.kind} ${of.namespace}/${of.name}`, wording)
  if (kept) {
    const how = lostText(support, kept)
    const young = readBinding(kept)
    return found({
      origin: changedAt(support, kept),
      follows: [objectCause(idOf(kept)), ...(young ? [bindingCause(displayRbac(young))] : [])],
      message: message`${deletes}, which ${how}. Flux can neither apply nor delete them. Allowed: the change after the ${part('value', kind)} is gone.`,
      fix: message`Restore the subjects and the role of ${what}.`,
    })
  }
  const removal = removalOf(support, node, index)
  return found({
    origin: originAt(support.root, ['metadata', 'name']),
    ...removal,
    // the Kustomization that deletes may be removed by the same edit
    follows: [...(removal.follows ?? []), objectCause(idOf(object))],
    message: message`${deletes}, which this change removes. The objects stay, or its finalizer hangs. Allowed: removing ${what} after the ${part('value', kind)} is gone.`,
    fix: message`Restore ${what}, merge the removal of the ${part('value', kind)} first, and remove ${what} when it is gone on every cluster. ${part('tenant', tenant, `/bailiwick offboard ${shownName(tenant)}`)} opens both pull requests.`,
  })
}

/** What a binding no longer gives. */
function lostText(was: KubeObject, is: KubeObject): Message {
  const [old, young] = [was, is].map(readBinding)
  if (!young) return message`the API server refuses`
  const kept = new Set(young.subjects.map(subjectText))
  const lost = old?.subjects.map(subjectText).find(text => !kept.has(text))
  if (lost !== undefined) return message`no longer names ${quoted('identity', lost)}`
  return message`now refers to ${part('value', young.roleRef.kind)} ${quoted('object', young.roleRef.name)}`
}

/** An object whose removal deletes as an account of a tenant. */
interface Dependent {
  readonly object: KubeObject
  readonly tenant: string
}

const SUPPORTS: ReadonlySet<string> = new Set([
  '/ServiceAccount',
  '/Namespace',
  '/Secret',
  `${RBAC_GROUP}/RoleBinding`,
  `${RBAC_GROUP}/ClusterRoleBinding`,
  `${RBAC_GROUP}/Role`,
  `${RBAC_GROUP}/ClusterRole`,
])

/** Whether deleting as an account may need the object. */
const isSupport = (object: KubeObject): boolean => SUPPORTS.has(kindOf(object))

/**
 * A tenant's objects on a cluster that need an object to delete what they applied, and lose it. `isGone`: the object is
 * deleted; else it is a changed binding.
 */
function dependentsOf(support: KubeObject, isGone: boolean, change: ClusterChange): Dependent[] {
  const { namespace, name } = idOf(support)
  switch (kindOf(support)) {
    case '/ServiceAccount':
      return deleting(namespace, change).filter(one => accountIn(one, change) === name)
    case '/Namespace':
      return deleting(name, change)
    case '/Secret':
      return deleting(namespace, change).filter(
        ({ object }) => stringAt(kubeConfigOf(object), ['secretRef', 'name']) === name,
      )
    case `${RBAC_GROUP}/Role`:
    case `${RBAC_GROUP}/ClusterRole`:
      return bindingsTo(support, change).flatMap(one => withoutRights(one, false, change))
    default:
      return withoutRights(support, isGone, change)
  }
}

/** Objects in a namespace that delete when they are removed; remaining ones count as they are after the change. */
function deleting(namespace: string, { cluster, before, index }: ClusterChange): Dependent[] {
  return applierKinds.flatMap(kind =>
    before.rendered(cluster, kind, namespace).flatMap(({ object, node }): Dependent[] => {
      const { name } = idOf(object)
      const tenant = before.ownerOf(cluster, namespace) ?? before.nodeOf(cluster, object)?.tenant ?? node.tenant
      const now = index.versionsOf(cluster, kind, namespace, name).at(-1)?.object
      return tenant !== undefined && deletes(object, cluster, before) ? [{ object: now ?? object, tenant }] : []
    }),
  )
}

/** Like the finalizers of both controllers: what does not prune, or is suspended, deletes nothing. */
function deletes(object: KubeObject, cluster: string, before: FleetIndex): boolean {
  const isSet = (field: string) => isTrue(at(object.root, ['spec', field]))
  if (isKept(object) || isSet('suspend')) return false
  if (idOf(object).kind !== 'Kustomization') return true
  if (!prunesAtEnd(object, isSet('prune'))) return false
  const node = before.nodeOf(cluster, object)
  // it has applied nothing, if all of it is visible
  return !node || node.digest === '' || node.source.opaque !== undefined || before.objectsOf(node.key).length > 0
}

/** The account of its own namespace that it deletes as, on its own cluster. */
function accountIn({ object }: Dependent, { cluster, before, index }: ClusterChange): string | undefined {
  if (kubeConfigOf(object)) return undefined
  return accountOf(object, (index.cluster(cluster) ?? before.cluster(cluster))?.lockdown)
}

/** The bindings that name a role. */
function bindingsTo(role: KubeObject, { cluster, before }: ClusterChange): KubeObject[] {
  const { kind, namespace, name } = idOf(role)
  const all =
    kind === 'Role'
      ? before.rendered(cluster, `${RBAC_GROUP}/RoleBinding`, namespace)
      : ['RoleBinding', 'ClusterRoleBinding'].flatMap(one => before.renderedAnywhere(cluster, `${RBAC_GROUP}/${one}`))
  return all
    .map(({ object }) => object)
    .filter(object => {
      const ref = readBinding(object)?.roleRef
      return ref?.kind === kind && ref.name === name
    })
}

/** Those whose account had rights where it applies, and has none now. This rule ignores fewer rights. */
function withoutRights(binding: KubeObject, isGone: boolean, change: ClusterChange): Dependent[] {
  const { cluster, before, index } = change
  if (isGone && isKept(binding)) return []
  const { namespace } = idOf(binding)
  const spaces = new Set(
    (readBinding(binding)?.subjects ?? []).flatMap(subject => {
      if (subject.kind === 'ServiceAccount') return [subject.namespace]
      const [, group, flux] = /^(?:system:serviceaccounts:(.+)|gotk:([^:]+):.*)$/.exec(subject.name) ?? []
      return [group ?? flux ?? '']
    }),
  )
  return [...spaces].flatMap(space =>
    deleting(space, change).filter(one => {
      const account = accountIn(one, change)
      const user = before.nodeOf(cluster, one.object)?.identity.user ?? userOfAccount(space, account ?? '')
      const places = new Set([space, stringAt(one.object.root, ['spec', 'targetNamespace']) ?? space])
      if (namespace !== '' && !places.has(namespace)) return false
      return holdsRights(before, user, places, change) && !holdsRights(index, user, places, change)
    }),
  )
}

function holdsRights(
  index: FleetIndex,
  user: string,
  places: ReadonlySet<string>,
  { cluster, before }: ClusterChange,
): boolean {
  const { bindings } = index.authorizer(cluster)
  return ['', ...places].some(place =>
    bindings.of(userInfo(user), place).some(({ binding: { roleRef, namespace } }) => {
      // public roles allow no deletion, and a role that the fleet never rendered may be on the cluster
      if (roleRef.name.startsWith('system:')) return false
      const isKnown = index.roleRules(cluster, roleRef, namespace) !== undefined
      return isKnown || before.roleRules(cluster, roleRef, namespace) === undefined
    }),
  )
}
