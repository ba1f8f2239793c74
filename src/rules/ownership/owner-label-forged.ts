import { objectPart, quoted } from '../../facts/shown.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { FLUX_KINDS, valuesOf } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { codeWord, message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'

const OWNERS = FLUX_KINDS.flatMap(row => row.ownerLabels ?? [])
const PARTS = ['name', 'namespace'] as const

/**
 * Kinds whose controller sets `spec.commonMetadata` after its own owner labels, so that these are what it says
 * (kustomize-controller reconcile and apply, helm-controller postrender, flux-operator ResourceSet), and the labels that
 * would be the controller's own.
 */
const LAST_WORD = valuesOf(row => row.ownerLabels)

/** The labels by which Flux knows its objects are Flux's to write. */
export const ownerLabelForged: Rule = {
  id: 'owner-label-forged',
  severity: 'high',
  level: 'warning',
  title: 'Forged Flux owner label',
  why: 'Flux prunes an object only if its owner labels name the Kustomization that applied it. Dashboards trust these labels too. kustomize-controller overwrites its own labels, but not those of other controllers. `spec.commonMetadata` is applied last and replaces them.',
  source: 'fluxcd/pkg ssa (SetOwnerLabels, SetCommonMetadata)',
  docs: 'Remove these labels. In the labels of an object the finding is a warning. In `spec.commonMetadata`, where they take effect, it is a violation.',
  kinds: 'every',
  *checkTenantObject(subject) {
    yield* commonLabels(subject)
    const { object, id, node } = subject
    const labels = at(object.root, ['metadata', 'labels'])
    if (labels?.type !== 'map') return
    for (const owner of OWNERS) {
      for (const name of PARTS) {
        const key = `${owner}/${name}`
        const text = stringAt(labels, [key])
        if (!labels.fields.has(key) || isOwn(owner, text, node[name])) continue
        yield {
          node,
          object,
          path: ['metadata', 'labels', key],
          value: `${key}=${text ?? ''}`,
          message: message`${objectPart(id.kind, id.namespace, id.name)} has the label ${part('value', key)}: ${quoted('value', text ?? '')}, but ${quoted('object', `${node.namespace}/${node.name}`)} applies it. Allowed: no owner labels, because Flux writes them.`,
          fix: message`Remove the label ${part('value', key)}.`,
          edit: { remove: true },
        }
      }
    }
  },
}

const COMMON = ['spec', 'commonMetadata', 'labels']

/** Owner labels of somebody else that the controller of this object would write onto everything that it applies. */
function* commonLabels({ object, id, kind, node }: TenantSubject): Iterable<Violation> {
  const own = LAST_WORD.get(kind)
  const labels = own === undefined ? undefined : at(object.root, COMMON)
  if (labels?.type !== 'map') return
  for (const owner of OWNERS) {
    for (const name of PARTS) {
      const key = `${owner}/${name}`
      if (!labels.fields.has(key)) continue
      const text = stringAt(labels, [key]) ?? ''
      if (owner === own && text === id[name]) continue
      yield {
        node,
        object,
        path: [...COMMON, key],
        value: `${key}=${text}`,
        level: 'violation',
        message: message`${objectPart(id.kind, id.namespace, id.name)} sets the label ${part('value', key)}: ${quoted('value', text)} on all its objects, in place of Flux's own label. Allowed: the name and namespace of the ${part('value', id.kind)} itself.`,
        fix: message`Remove the label ${part('value', key)} from ${codeWord('spec.commonMetadata.labels')}.`,
        edit: { remove: true },
      }
    }
  }
}

const isOwn = (owner: string, text: string | undefined, own: FleetNode['name']) => owner === OWNERS[0] && text === own
