import { codeWord, message, part } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { kindsThat, valuesOf } from '../../kube/flux-kinds.ts'
import { type FluxMarks, fluxMarks, NOT_CORRECTED } from '../../kube/flux-marks.ts'
import { at, type Path } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { type Rule, Subject, type Violation } from '../model/rule.ts'
import { deletesAtEnd, isKept, lostObjects, pruner, prunesNow, removalOf } from './deletions.ts'

const MARK: FluxMarks = new Map([['kustomize.toolkit.fluxcd.io/force', ['enabled']]])
const BINDING = 'rbac.authorization.k8s.io/RoleBinding'

/** Fields that force everything that is applied, by kind. */
const FIELDS = valuesOf(row => row.forces)

/** Force deletes and recreates what cannot be changed: a Job runs again, a roleRef names another role. */
export const forceApply: Rule = {
  id: 'force-apply',
  severity: 'medium',
  level: 'warning',
  title: 'Forced apply',
  why: 'With force, Flux deletes and recreates an object whose immutable fields differ. Force bypasses the immutable `roleRef` of a binding, runs a Job again at each change, and deletes volumes.',
  source: 'kustomize-controller: spec.force and kustomize.toolkit.fluxcd.io/force',
  docs: 'Rename the object, or delete it in a separate change.',
  kinds: 'every',
  *checkObject(subject, { index }) {
    const { object, id, kind, node } = subject
    // the platform may force its own objects, but not bindings in a tenant's namespace
    const binds = kind === BINDING && index.ownerOf(node.cluster, id.namespace) !== undefined
    if (node.tenant === undefined && !binds) return
    for (const { path, key } of fluxMarks(object, MARK)) yield violation(subject, path, key)
    if (node.tenant === undefined) return
    for (const path of FIELDS.get(kind) ?? []) if (isOn(object, path)) yield violation(subject, path, path.join('.'))
  },
}

function violation(subject: Subject, path: Path, what: string): Violation {
  return subject.violation(path, what, {
    message: message`${subject.who} has ${part('field', what)}: Flux would delete and recreate objects whose immutable fields differ. Allowed: no force. Without force, the API server rejects this: field is immutable.`,
    fix: message`Remove ${part('field', what)}.`,
    edit: { remove: true },
  })
}

function isOn(object: KubeObject, path: Path): boolean {
  const field = at(object.root, path)
  return field?.type === 'scalar' && (field.value === true || field.value === 'true')
}

const MARKS: FluxMarks = new Map([['kustomize.toolkit.fluxcd.io/prune', ['disabled']], ...NOT_CORRECTED])

const APPLIERS = kindsThat(row => row.applies)
/** Kinds that bring objects, or say where they come from. */
const BRINGS = [...APPLIERS, ...kindsThat(row => row.source ?? row.makesSources)]

/** Flux corrects and removes what it applies, unless the object itself disables that. */
export const pruneProtected: Rule = {
  id: 'prune-protected',
  severity: 'medium',
  level: 'warning',
  title: 'Object excluded from Flux reconciliation',
  why: 'An object with `prune: disabled` stays on the cluster after it is removed from git. An object with `ssa: Ignore` or `reconcile: disabled` keeps changes made on the cluster. Git then differs from the cluster. A Kustomization or HelmRelease that git no longer describes still applies content, which is not evaluated.',
  source: 'kustomize-controller: Controlling the apply behavior of resources',
  docs: 'Remove these labels and annotations. The finding is a violation on an object that the platform also renders. It is also one on a source, or on what applies objects, if Flux would not correct it. A tenant may not remove a Kustomization, HelmRelease or ResourceSet that Flux would not delete.',
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    const { object, id, kind, node } = subject
    for (const { path, key, value } of fluxMarks(object, MARKS)) {
      const isPlatforms = index.platformObject(node.cluster, kind, id.namespace, id.name) !== undefined
      const brings = BRINGS.includes(kind) && NOT_CORRECTED.has(key)
      yield subject.violation(path, `${key}=${value.toLowerCase()}`, {
        ...(isPlatforms || brings ? { level: 'violation' as const } : {}),
        message: message`${subject.who} has ${part('field', key)}: ${part('value', value)}, so Flux would not ${key.endsWith('prune') ? 'delete it when it is removed from git' : 'correct it when it changes on the cluster'}. Allowed: objects that Flux reconciles${isPlatforms ? '; only the platform may exclude an object that it renders' : ''}.`,
        fix: message`Remove ${part('field', key)}.${brings ? message` To stop it, set ${codeWord('spec.suspend')} to true.` : ''}`,
        edit: { remove: true },
      })
    }
  },
  *checkNode(node, { index, before }) {
    // what is missing of a node that fails is not removed
    if (!before || node.error || node.digest === '') return
    const lost = lostObjects(node.cluster, before.objectsOf(node.key), node.objects, index)
    yield* left(lost, node, index, prunesNow(node), node.tenant)
  },
  *checkRemoved(node, { index, before }) {
    const heir = before && pruner(node, before, index)
    if (!before || !heir) return
    const lost = lostObjects(node.cluster, before.objectsOf(node.key), [], index)
    yield* left(lost, heir, index, deletesAtEnd(node), node.tenant)
  },
}

/** What would go on applying content after it is removed from git. `isPruned`: Flux deletes what is not kept. */
function* left(
  lost: readonly KubeObject[],
  node: FleetNode,
  index: FleetIndex,
  isPruned: boolean,
  tenant: string | undefined,
): Iterable<Violation> {
  for (const object of lost) {
    if (!APPLIERS.includes(kindOf(object)) || (isPruned && !isKept(object)) || isOn(object, ['spec', 'suspend']))
      continue
    const { kind, namespace, name } = idOf(object)
    yield new Subject({ node, object }).violation(['metadata', 'name'], 'left', {
      ...removalOf(object, node, index),
      ...(tenant === undefined ? {} : { level: 'violation' as const, severity: 'high' as const }),
      message: message`${objectPart(kind, namespace, name)} is removed from git, but Flux would not delete it. Allowed: a change that Flux carries out. It would go on applying content that is not evaluated.`,
      fix: message`Restore it. In an earlier change, remove its annotations for Flux and set ${codeWord('prune: true')}, or suspend it.`,
    })
  }
}
