import { groupOf } from '../../kube/object.ts'
import type { Breach, Rule, Subject } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'
import { isIdentity, isSecurity } from './guarded-place.ts'
import { isUnsubstituted } from './is-unsubstituted.ts'
import { scanObject } from './scan-object.ts'

/** No variable decides about what a tenant's object is, or how safe it is. The renderer raises it for what only the cluster knows. */
export const unrenderedVariable: Rule = {
  id: 'unrendered-variable',
  severity: 'critical',
  title: 'Identity and security are written out',
  why: `A kind, namespace, account or security setting that is a variable is text to every check, and becomes something else when Flux substitutes: \`privileged: \${P:=true}\` is harmless until then. The default of a variable stands only as long as nobody sets it, and a value that only the cluster has is known to nobody who reviews.`,
  source: 'Flux, Kustomization spec.postBuild',
  docs: `Write the value itself. Where it differs between clusters, use an overlay of kustomize, or a variable that the fleet sets for every cluster.`,
  kinds: 'every',
  *checkTenantObject(subject) {
    yield* literal(subject)
    yield* substituted(subject)
    yield* undecided(subject)
  },
}

const isGuarded = (subject: Subject, path: readonly (string | number)[]) =>
  isIdentity(groupOf(subject.id.apiVersion), path) || isSecurity(path)

function* literal(subject: Subject): Generator<Breach> {
  const { object, id, node } = subject
  if (isUnsubstituted(object)) return
  for (const { path, text } of scanObject(object.root).templated) {
    if (!isGuarded(subject, path)) continue
    const field = path.join('.')
    yield {
      node,
      object,
      path,
      value: text,
      message: `${shownObject(id.kind, id.namespace, id.name)} has the variable ${shown(text)} as ${shown(field)}, which nothing here replaces: what it will be is decided by whoever substitutes it. Kubernetes refuses it as it stands.`,
      fix: `Write the value of ${shown(field)} itself.`,
    }
  }
}

function* substituted(subject: Subject): Generator<Breach> {
  const { object, id, node } = subject
  const who = shownObject(id.kind, id.namespace, id.name)
  for (const { path, how } of object.made ?? []) {
    const isDefault = how === 'default' && isGuarded(subject, path)
    if (!isDefault && (how !== 'unknown' || isGuarded(subject, path))) continue
    const field = shown(path.join('.'))
    const value = `${how} ${path.join('.')}`
    yield isDefault
      ? {
          node,
          object,
          path,
          value,
          message: `${field} of ${who} takes the default of a variable that nobody sets: the next one who sets it decides.`,
          fix: 'Write the value itself, or set the variable in the fleet.',
        }
      : {
          node,
          object,
          path,
          value,
          level: 'warning',
          message: `${field} of ${who} takes a value that only the cluster has.`,
          fix: DECLARE,
        }
  }
}

const DECLARE = 'Let the fleet render the ConfigMap or Secret, or declare it in .github/bailiwick.yaml.'

/** Elsewhere such a value may stand, declared or not; of an identity the renderer refuses it. */
function* undecided(subject: Subject): Generator<Breach> {
  const { object, id, node } = subject
  for (const path of scanObject(object.root).opaque) {
    if (!isGuarded(subject, path)) continue
    yield {
      node,
      object,
      path,
      level: 'error',
      value: path.join('.'),
      message: `${shown(path.join('.'))} of ${shownObject(id.kind, id.namespace, id.name)} takes a value that only the cluster has, and decides how safe it is.`,
      fix: 'Write the value itself.',
    }
  }
}
