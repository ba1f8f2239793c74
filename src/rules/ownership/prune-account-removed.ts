import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { objectPart, quoted, shownName } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at, canonical, originAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { type Message, message, part } from '../../message/message.ts'
import type { Origin } from '../../origin.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { subjectText } from '../rbac/support/subject-reach.ts'
import { deletedObjects } from './support/deleted-objects.ts'
import { dependentsOf, isSupport } from './support/prune-support.ts'
import { pruner } from './support/pruning-node.ts'

/**
 * What a finalizer needs to delete as a tenant goes before it, or at the same time: kustomize-controller and helm-controller
 * then retry for ever, or end without deleting anything.
 */
export const pruneAccountRemoved: Rule = {
  id: 'prune-account-removed',
  severity: 'high',
  title: 'Account removed before what deletes as it',
  why: 'A Kustomization that is removed deletes its objects as its account. If the account, its role bindings, its namespace or its kubeconfig go in the same change, Flux cannot delete them: the finalizer and the namespace hang, or the objects stay without an owner.',
  source: 'kustomize-controller: finalize; fluxcd/flux2#997, fluxcd/flux2-multi-tenancy#101',
  docs: 'Remove a tenant in two changes. The first removes its Kustomizations and HelmReleases. When they are gone on every cluster, the second removes sources, accounts, role bindings, namespaces and credentials. `/bailiwick offboard TENANT` and `bailiwick offboard TENANT` make both. A Kustomization that deletes nothing (`prune: false`, `deletionPolicy: Orphan`, `suspend: true`) may go together with its account. So may an account that nothing uses anymore.',
  *checkNode(node, { index, before }) {
    const was = before?.node(node.key)
    if (!before || !was || node.tenant !== undefined) return
    if (!node.prune || node.suspend || node.error || node.digest === '') return
    const old = before.objectsOf(node.key)
    if (old === node.objects) return
    const gone = deletedObjects(node, old, index)
    yield* violations(node, gone, changedBindings(node, old), before, index)
  },
  *checkRemoved(node, { index, before }) {
    if (!before || node.tenant !== undefined) return
    const heir = pruner(node, before, index)
    if (!heir) return
    const left = { ...node, objects: [] }
    yield* violations(heir, deletedObjects(left, before.objectsOf(node.key), index), [], before, index)
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
  before: FleetIndex,
  index: FleetIndex,
): Iterable<Violation> {
  const seen = new Set<string>()
  for (const support of new Set([...gone.filter(isSupport), ...changed])) {
    for (const { object, tenant } of dependentsOf(support, gone.includes(support), node.cluster, before, index)) {
      const { kind, namespace, name } = idOf(object)
      const key = JSON.stringify([kind, namespace, name])
      if (!seen.has(key)) yield violation(node, support, keptBinding(node, support, gone), object, tenant)
      seen.add(key)
    }
  }
}

/** The binding as it stays, with other subjects or another role than before. */
function keptBinding(node: FleetNode, support: KubeObject, gone: readonly KubeObject[]): KubeObject | undefined {
  const id = display(idOf(support))
  return gone.includes(support) ? undefined : node.objects.find(object => display(idOf(object)) === id)
}

/** Where a binding says something else than before: its first other subject, else its subjects, else its role. */
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
): Violation {
  const of = idOf(support)
  const { kind, namespace, name } = idOf(object)
  const what = objectPart(of.kind, of.namespace, of.name)
  const deletes = message`${objectPart(kind, namespace, name)} of tenant ${quoted('tenant', tenant)} deletes its objects with ${what}`
  const common = {
    node,
    object,
    path: ['spec', 'serviceAccountName'],
    value: `${of.kind} ${of.namespace}/${of.name}`,
  }
  if (kept) {
    const how = lostText(support, kept)
    return {
      ...common,
      origin: changedAt(support, kept),
      message: message`${deletes}, which ${how}: Flux can neither apply nor delete them. Allowed: the change after the ${part('value', kind)} is gone.`,
      fix: message`Restore the subjects and the role of ${what}.`,
    }
  }
  return {
    ...common,
    origin: originAt(support.root, ['metadata', 'name']),
    isBefore: true,
    message: message`${deletes}, which this change removes: they stay, or its finalizer hangs. Allowed: removing ${what} after the ${part('value', kind)} is gone.`,
    fix: message`Restore ${what}, merge the removal of the ${part('value', kind)} first, and remove ${what} when it is gone on every cluster. ${part('tenant', tenant, `/bailiwick offboard ${shownName(tenant)}`)} opens both pull requests.`,
  }
}

/** What a binding does not give any more. */
function lostText(was: KubeObject, is: KubeObject): Message {
  const [old, young] = [was, is].map(readBinding)
  const kept = new Set(young?.subjects.map(subjectText))
  const lost = old?.subjects.map(subjectText).find(text => !kept.has(text))
  if (lost !== undefined) return message`no longer names ${quoted('identity', lost)}`
  return message`now refers to ${part('value', young?.roleRef.kind ?? '')} ${quoted('object', young?.roleRef.name ?? '')}`
}
