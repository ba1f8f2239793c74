import type { FleetNode } from '../../fleet/fleet.ts'
import { at, stringAt } from '../../kube/node.ts'
import type { Rule } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'

const OWNERS = ['kustomize.toolkit.fluxcd.io', 'helm.toolkit.fluxcd.io', 'resourceset.fluxcd.controlplane.io']

/** The labels by which Flux knows its objects are Flux's to write. */
export const ownerLabelForged: Rule = {
  id: 'owner-label-forged',
  severity: 'high',
  level: 'warning',
  title: 'Owner labels are Flux’s to write',
  why: 'Flux prunes an object only if its owner labels name the Kustomization that applied it; dashboards and people trust them too. kustomize-controller overwrites its own, but not those of the other controllers.',
  source: 'fluxcd/pkg ssa (SetOwnerLabels)',
  docs: 'Leave these labels out.',
  kinds: 'every',
  *checkTenantObject({ object, id, node }) {
    const labels = at(object.root, ['metadata', 'labels'])
    if (labels?.type !== 'map') return
    for (const owner of OWNERS) {
      for (const part of ['name', 'namespace'] as const) {
        const key = `${owner}/${part}`
        const text = stringAt(labels, [key])
        if (!labels.fields.has(key) || isOwn(owner, text, node[part])) continue
        yield {
          node,
          object,
          path: ['metadata', 'labels', key],
          value: `${key}=${text ?? ''}`,
          message: `${shownObject(id.kind, id.namespace, id.name)} says by the label ${key} that it belongs to ${shown(text ?? '')}, while ${shown(`${node.namespace}/${node.name}`)} would apply it.`,
          fix: `Remove the label ${key}.`,
          edit: { remove: true },
        }
      }
    }
  },
}

const isOwn = (owner: string, text: string | undefined, own: FleetNode['name']) => owner === OWNERS[0] && text === own
