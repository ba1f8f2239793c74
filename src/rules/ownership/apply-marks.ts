import { message, part } from '../../base/message.ts'
import { valuesOf } from '../../kube/flux-kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Rule, Subject, Violation } from '../model/rule.ts'

const MARK: ReadonlyMap<string, readonly string[]> = new Map([['kustomize.toolkit.fluxcd.io/force', ['enabled']]])
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

const MARKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['kustomize.toolkit.fluxcd.io/prune', ['disabled']],
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore', 'ifnotpresent']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])

/** Flux corrects and removes what it applies, unless the object itself disables that. */
export const pruneProtected: Rule = {
  id: 'prune-protected',
  severity: 'medium',
  level: 'warning',
  title: 'Object excluded from Flux reconciliation',
  why: 'An object with `prune: disabled` stays on the cluster after it is removed from git. An object with `ssa: Ignore` or `reconcile: disabled` keeps changes made on the cluster. Git then differs from the cluster.',
  source: 'kustomize-controller: Controlling the apply behavior of resources',
  docs: 'Remove these labels and annotations. On an object that the platform also renders, the finding is a violation.',
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    const { object, id, kind, node } = subject
    for (const { path, key, value } of fluxMarks(object, MARKS)) {
      const isPlatforms = index.platformObject(node.cluster, kind, id.namespace, id.name) !== undefined
      yield subject.violation(path, `${key}=${value.toLowerCase()}`, {
        ...(isPlatforms ? { level: 'violation' as const } : {}),
        message: message`${subject.who} has ${part('field', key)}: ${part('value', value)}, so Flux would not ${key.endsWith('prune') ? 'delete it when it is removed from git' : 'correct it when it changes on the cluster'}. Allowed: objects that Flux reconciles${isPlatforms ? '; only the platform may exclude an object that it renders' : ''}.`,
        fix: message`Remove ${part('field', key)}.`,
        edit: { remove: true },
      })
    }
  },
}

/** A label or annotation by which an object controls how Flux treats it. */
interface FluxMark {
  readonly path: Path
  readonly key: string
  readonly value: string
}

/**
 * An object's marks among `wanted` (values by key, lower case). Flux reads labels like annotations, and ignores case
 * (fluxcd/pkg ssa, AnyInMetadata).
 */
export function fluxMarks(object: KubeObject, wanted: ReadonlyMap<string, readonly string[]>): FluxMark[] {
  return ['labels', 'annotations'].flatMap(part => {
    const map = at(object.root, ['metadata', part])
    if (map?.type !== 'map') return []
    return [...wanted].flatMap(([key, values]) => {
      const value = stringAt(map, [key])
      return value !== undefined && values.includes(value.toLowerCase())
        ? [{ path: ['metadata', part, key], key, value }]
        : []
    })
  })
}
