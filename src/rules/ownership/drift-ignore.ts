import { objectPart, quoted } from '../../facts/shown.ts'
import { valuesOf } from '../../flux/kinds.ts'
import { at, type Node } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** Where rules about drift stand, by kind. */
const LISTS = valuesOf(row => row.ignores)

/** Fields on which security rests, wherever they stand. */
const SECURITY = new Set(
  'securityContext hostNetwork hostPID hostIPC hostUsers serviceAccountName serviceAccount automountServiceAccountToken volumes volumeMounts nodeName nodeSelector tolerations privileged capabilities runAsUser runAsNonRoot rules roleRef subjects aggregationRule ingress egress podSelector policyTypes hard limits webhooks secretRef kubeConfig image command args'.split(
    ' ',
  ),
)
/** Fields that hold some of these, if they are ignored as a whole. */
const HOLDERS = new Set('spec template jobTemplate containers initContainers ephemeralContainers metadata'.split(' '))

/** What is ignored is neither corrected nor seen. */
export const driftIgnore: Rule = {
  id: 'drift-ignore',
  severity: 'low',
  level: 'warning',
  title: 'Security field excluded from drift correction',
  why: 'Flux does not apply, or does not correct, a field that a drift rule ignores. A change of that field on the cluster persists and differs from git.',
  source: 'Kustomization spec.ignore, HelmRelease spec.driftDetection.ignore',
  docs: 'Ignore only fields that another controller writes, with their full path, such as `/spec/replicas`.',
  kinds: [...LISTS.keys()],
  *checkTenantObject({ object, id, kind, node }) {
    const list = at(object.root, LISTS.get(kind)!)
    if (list?.type !== 'list') return
    for (const [index, item] of list.items.entries()) {
      for (const [place, text] of pathsOf(item)) {
        if (!hides(text)) continue
        yield {
          node,
          object,
          path: [...LISTS.get(kind)!, index, 'paths', place],
          value: text,
          message: message`${objectPart(id.kind, id.namespace, id.name)} makes Flux ignore the security field ${quoted('value', text)}: a change on the cluster would persist. Allowed: fields that other controllers write.`,
          fix: message`Remove the path, or set it to a field that another controller writes, such as /spec/replicas.`,
        }
      }
    }
  },
}

function pathsOf(item: Node): [index: number, path: string][] {
  const list = at(item, ['paths'])
  if (list?.type !== 'list') return []
  return list.items.flatMap((path, index): [number, string][] =>
    path.type === 'scalar' && typeof path.value === 'string' ? [[index, path.value]] : [],
  )
}

/** Whether a JSON pointer covers a field of security: it leads through one, or ends where some are below. */
function hides(path: string): boolean {
  const steps = path.split('/').filter(Boolean)
  if (steps.some(step => SECURITY.has(step) && !isResource(steps))) return true
  const last = steps.findLast(step => !/^(\d+|\*|-)$/.test(step))
  return last === undefined || HOLDERS.has(last)
}

/** `limits` of a container's resources, which an autoscaler writes. */
const isResource = (steps: readonly string[]) => steps.includes('resources')
