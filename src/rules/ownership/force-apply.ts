import { objectPart } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { valuesOf } from '../../flux/kinds.ts'
import { at, type Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { fluxMarks } from './support/flux-mark.ts'

const MARK: ReadonlyMap<string, readonly string[]> = new Map([['kustomize.toolkit.fluxcd.io/force', ['enabled']]])
const BINDING = 'rbac.authorization.k8s.io/RoleBinding'

/** Fields that ask for the same of everything that is applied, by kind. */
const FIELDS = valuesOf(row => row.forces)

/** Force deletes and creates again what cannot be changed: a Job runs again, a roleRef becomes another one. */
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
    // what the platform forces is its own affair, except who gets rights in a tenant's namespace
    const binds = kind === BINDING && index.ownerOf(node.cluster, id.namespace) !== undefined
    if (node.tenant === undefined && !binds) return
    for (const { path, key } of fluxMarks(object, MARK)) yield violation(subject, path, key)
    if (node.tenant === undefined) return
    for (const path of FIELDS.get(kind) ?? []) if (isOn(object, path)) yield violation(subject, path, path.join('.'))
  },
}

function violation({ object, id, node }: Subject, path: Path, what: string): Violation {
  return {
    node,
    object,
    path,
    value: what,
    message: message`${objectPart(id.kind, id.namespace, id.name)} has ${part('field', what)}: Flux would delete and recreate objects whose immutable fields differ. Allowed: no force. API server, without force: field is immutable.`,
    fix: message`Remove ${part('field', what)}.`,
    edit: { remove: true },
  }
}

function isOn(object: KubeObject, path: Path): boolean {
  const field = at(object.root, path)
  return field?.type === 'scalar' && (field.value === true || field.value === 'true')
}
