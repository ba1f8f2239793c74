import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { KyvernoSubject } from './selection.ts'

/** Where the kinds that make Pods have their template. */
const TEMPLATES: ReadonlyMap<string, Path> = new Map<string, Path>([
  ...[
    'apps/DaemonSet',
    'apps/Deployment',
    'apps/ReplicaSet',
    'apps/StatefulSet',
    'batch/Job',
    '/ReplicationController',
  ].map((kind): [string, Path] => [kind, ['spec', 'template']]),
  ['batch/CronJob', ['spec', 'jobTemplate', 'spec', 'template']],
])

const ANNOTATION = 'pod-policies.kyverno.io/autogen-controllers'

/** The template that a rule about Pods is applied to as well (github.com/kyverno/kyverno, pkg/autogen); undefined: to none. */
export function podTemplateOf(policy: KubeObject, rule: Node, { kind }: KyvernoSubject): Path | undefined {
  const path = TEMPLATES.get(kind)
  if (!path || !isAboutPodsOnly(rule)) return undefined
  const written = stringAt(policy.root, ['metadata', 'annotations', ANNOTATION])
  const name = kind.slice(kind.indexOf('/') + 1)
  if (written === undefined || written === 'all') return path
  return written.split(',').some(one => one.trim() === name) ? path : undefined
}

/** Only the kind Pod is named, and no Pod by its name, labels or annotations. */
function isAboutPodsOnly(rule: Node): boolean {
  const filters = ['match', 'exclude'].flatMap(key => {
    const block = at(rule, [key])
    const lists = ['any', 'all'].flatMap(one => {
      const list = at(block, [one])
      return list?.type === 'list' ? list.items : []
    })
    return [...(block ? [block] : []), ...lists].map(one => at(one, ['resources']))
  })
  const resources = filters.filter(one => one !== undefined)
  const matched = at(rule, ['match'])
  return (
    matched !== undefined &&
    resources.every(
      one =>
        (textsOf(at(one, ['kinds'])) ?? ['?']).every(kind => kind === 'Pod' || kind === 'v1/Pod') &&
        ['name', 'names', 'selector', 'annotations'].every(key => at(one, [key]) === undefined),
    )
  )
}
