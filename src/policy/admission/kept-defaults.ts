import { CelMap, type CelValue, NotKnown } from '../../cel/values.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { at, itemsOf, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { pullPolicyOf } from './defaults.ts'

const TEMPLATE = ['spec', 'template', 'spec']
const POD_SPECS: Readonly<Record<string, Path>> = {
  '/Pod': ['spec'],
  '/ReplicationController': TEMPLATE,
  'apps/Deployment': TEMPLATE,
  'apps/ReplicaSet': TEMPLATE,
  'apps/StatefulSet': TEMPLATE,
  'apps/DaemonSet': TEMPLATE,
  'batch/Job': TEMPLATE,
  'batch/CronJob': ['spec', 'jobTemplate', ...TEMPLATE],
}
const LISTS = ['initContainers', 'containers', 'ephemeralContainers']

/**
 * An object after an update. A default that depends on another field keeps its value from creation, so it is unknown when that
 * other field changes. Among built-in kinds this affects only the pull policy, which depends on the image.
 */
export function withKeptDefaults(value: CelValue, object: KubeObject, old: KubeObject): CelValue {
  const place = POD_SPECS[kindOf(object)]
  if (place === undefined) return value
  return LISTS.reduce((made, list) => {
    const [now, before] = [object, old].map(one => itemsOf(at(one.root, [...place, list])))
    const unsure = now!.flatMap((container, index) => (isKept(container, before!) ? [index] : []))
    return unsure.reduce((inner, index) => withUnknown(inner, [...place, list, index]), made)
  }, value)
}

function isKept(container: Node, before: readonly Node[]): boolean {
  const was = before.find(one => stringAt(one, ['name']) === stringAt(container, ['name']))
  if (!was || [container, was].some(one => at(one, ['imagePullPolicy']) !== undefined)) return false
  const [now, earlier] = [container, was].map(one => pullPolicyOf(stringAt(one, ['image']) ?? ''))
  return now !== earlier
}

function withUnknown(value: CelValue, [step, ...rest]: Path): CelValue {
  if (step === undefined) {
    if (!(value instanceof CelMap)) return value
    const unknown = new NotKnown('imagePullPolicy stays as it was set for an earlier image')
    return new CelMap(new Map(value.entries).set('simagePullPolicy', ['imagePullPolicy', unknown]))
  }
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? withUnknown(item, rest) : item))
  const entry = value instanceof CelMap ? value.entries.get(`s${step}`) : undefined
  if (!entry) return value
  return new CelMap(new Map((value as CelMap).entries).set(`s${step}`, [entry[0], withUnknown(entry[1], rest)]))
}
