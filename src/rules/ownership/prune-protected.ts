import { objectPart } from '../../facts/shown.ts'
import { message, part } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { fluxMarks } from './support/flux-mark.ts'

const MARKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['kustomize.toolkit.fluxcd.io/prune', ['disabled']],
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore', 'ifnotpresent']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])

/** What Flux applies it also corrects and removes again, unless the object itself asks it not to. */
export const pruneProtected: Rule = {
  id: 'prune-protected',
  severity: 'medium',
  level: 'warning',
  title: 'Object excluded from Flux reconciliation',
  why: 'An object with `prune: disabled` stays on the cluster after it is removed from git. An object with `ssa: Ignore` or `reconcile: disabled` keeps changes made on the cluster. Git then differs from the cluster.',
  source: 'kustomize-controller: Controlling the apply behavior of resources',
  docs: 'Remove these labels and annotations. On an object that the platform also renders, the finding is a violation.',
  kinds: 'every',
  *checkTenantObject({ object, id, kind, node }, { index }) {
    for (const { path, key, value } of fluxMarks(object, MARKS)) {
      const isPlatforms = index.platformObject(node.cluster, kind, id.namespace, id.name) !== undefined
      yield {
        node,
        object,
        path,
        value: `${key}=${value.toLowerCase()}`,
        ...(isPlatforms ? { level: 'violation' as const } : {}),
        message: message`${objectPart(id.kind, id.namespace, id.name)} has ${part('field', key)}: ${part('value', value)}, so Flux would not ${key.endsWith('prune') ? 'delete it when it is removed from git' : 'correct it when it changes on the cluster'}. Allowed: objects that Flux reconciles${isPlatforms ? '; only the platform may exclude an object that it renders' : ''}.`,
        fix: message`Remove ${part('field', key)}.`,
        edit: { remove: true },
      }
    }
  },
}
