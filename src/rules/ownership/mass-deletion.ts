import { objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { KubeObject } from '../../kube/object.ts'
import { codeWord, type Message, message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { deletedObjects } from './support/deleted-objects.ts'
import { deletesAtEnd, pruner } from './support/pruning-node.ts'
import { removedDefinitions } from './support/removed-definitions.ts'
import { removedTenant } from './support/removed-tenant.ts'

/** From so many objects on, and more than half of what there was, a deletion is worth a word. */
const MANY = 10

/**
 * A change takes away what runs. What a tenant takes away itself is a warning; what the fleet takes away from a tenant is
 * a violation, also where the whole tenant goes: nobody can tell from the files whether that is meant.
 */
export const massDeletion: Rule = {
  id: 'mass-deletion',
  severity: 'critical',
  title: 'Deletion of running objects',
  why: 'Removing or renaming a Kustomization deletes everything that it applied. Removing a Namespace deletes everything in it, and removing a Capsule Tenant deletes its namespaces, including data. Removing a CustomResourceDefinition deletes all objects of its kind. Git restores manifests, not volumes.',
  source: 'kustomize-controller: spec.prune, spec.deletionPolicy',
  docs: "To rename or move a Kustomization, set `prune: false` or `deletionPolicy: Orphan` in an earlier change. To remove a tenant, write `/bailiwick offboard TENANT`. You can also waive the rule for its Kustomization and Namespace, or merge with an override. Or set the rule to `warning` in .github/bailiwick.yaml. A deletion in a tenant's own repository is a warning. Moved files and objects that another Kustomization now renders are not deletions.",
  *checkNode(node, { index, before }) {
    if (!before || !node.prune || node.suspend || node.error || node.digest === '') return
    const old = before.objectsOf(node.key)
    const gone = deletedObjects(node, old, index)
    if (node.tenant === undefined) {
      yield* removedTenant(gone, node, before, index)
      yield* removedDefinitions(gone, node, index)
    } else yield* emptied(gone, node, old.length)
  },
  *checkRemoved(node, { index, before }) {
    if (!before || !deletesAtEnd(node)) return
    const heir = pruner(node, before, index)
    if (!heir) return
    if (node.tenant === undefined) {
      yield* removedDefinitions(deletedObjects(heir, before.objectsOf(node.key), index), heir, index)
      return
    }
    const isOwn = before.node(node.parent)?.tenant !== undefined
    const count = before.objectsOf(node.key).length
    const unseen = node.digest === '' || node.source.opaque !== undefined
    if (isOwn ? count < MANY : count === 0 && !unseen && !node.error) return
    yield removed(
      node,
      heir,
      isOwn,
      unseen ? message`all objects that it applied` : message`${count} ${count === 1 ? 'object' : 'objects'}`,
    )
  },
}

/** What a tenant’s Kustomization deletes: all that it had, or most of much. */
function* emptied(gone: readonly KubeObject[], node: FleetNode, count: number): Iterable<Violation> {
  const isMass = node.objects.length === 0 || (gone.length >= MANY && gone.length * 2 > count)
  if (gone.length === 0 || !isMass) return
  yield {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    value: `deletes ${gone.length}`,
    level: 'warning',
    severity: 'high',
    message: message`${objectPart('Kustomization', node.namespace, node.name)} would delete ${gone.length} of the ${count} objects that it applied before this change, and apply ${node.objects.length}. Allowed: a change that keeps most of its objects.`,
    fix: message`Confirm that all of them are to be deleted, or set ${codeWord('spec.prune')} to false to keep them.`,
  }
}

function removed(node: FleetNode, heir: FleetNode, isOwn: boolean, what: Message): Violation {
  const who = objectPart('Kustomization', node.namespace, node.name)
  return {
    node: heir,
    object: node.kustomization,
    path: ['metadata', 'name'],
    isBefore: true,
    value: 'removed',
    ...(isOwn ? { level: 'warning' as const, severity: 'high' as const } : {}),
    message: message`${who} of tenant ${quoted('tenant', node.tenant ?? '')} is removed or renamed, so Flux would delete ${what}. Allowed: keeping it, or removing it after a change that sets ${codeWord('prune: false')}.`,
    fix: message`Restore the Kustomization under its name. To keep its objects, set ${codeWord('prune: false')} or ${codeWord('deletionPolicy: Orphan')} in an earlier change. To remove the tenant, waive mass-deletion for this Kustomization or merge with an override.`,
  }
}
