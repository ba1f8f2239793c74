import { CelMap, type CelValue, NotKnown } from '../../expr/values.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { at, itemsOf, type Json, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'

type Fields = { [key: string]: Json }

const isFields = (value: Json | undefined): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/**
 * Sets what the API server sets in an object of its own kinds before admission (SetDefaults of k8s.io/kubernetes
 * pkg/apis/{core,apps,batch}). Changes the object that it is given.
 */
export function setDefaults(kind: string, object: Fields): void {
  DEFAULTS[kind]?.(object)
}

const DEFAULTS: Readonly<Record<string, (object: Fields) => void>> = {
  '/Pod': object => {
    const spec = fieldAt(object, 'spec')
    podSpec(spec)
    // applies to Pods only; a template keeps the written values
    for (const one of containersOf(spec)) requests(one)
  },
  '/ReplicationController': object => template(fieldAt(object, 'spec')),
  '/Service': service,
  '/Secret': secret,
  '/PersistentVolumeClaim': object => fill(fieldAt(object, 'spec'), { volumeMode: 'Filesystem' }),
  '/Namespace': object => {
    fill(object, { spec: { finalizers: ['kubernetes'] } })
    const name = isFields(object.metadata) ? object.metadata.name : undefined
    const labels = fieldAt(fieldAt(object, 'metadata'), 'labels')
    if (typeof name === 'string') labels['kubernetes.io/metadata.name'] = name
  },
  'apps/Deployment': object => {
    const spec = fieldAt(object, 'spec')
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    const strategy = fieldAt(spec, 'strategy')
    fill(strategy, { type: 'RollingUpdate' })
    if (strategy.type === 'RollingUpdate')
      fill(fieldAt(strategy, 'rollingUpdate'), { maxSurge: '25%', maxUnavailable: '25%' })
    template(spec)
  },
  'apps/ReplicaSet': object => {
    fill(fieldAt(object, 'spec'), { replicas: 1 })
    template(fieldAt(object, 'spec'))
  },
  'apps/StatefulSet': object => {
    const spec = fieldAt(object, 'spec')
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: 'OrderedReady' })
    fill(fieldAt(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' })
    const strategy = fieldAt(spec, 'updateStrategy')
    fill(strategy, { type: 'RollingUpdate' })
    if (strategy.type === 'RollingUpdate') fill(fieldAt(strategy, 'rollingUpdate'), { partition: 0 })
    template(spec)
  },
  'apps/DaemonSet': object => {
    const spec = fieldAt(object, 'spec')
    fill(spec, { revisionHistoryLimit: 10 })
    const strategy = fieldAt(spec, 'updateStrategy')
    fill(strategy, { type: 'RollingUpdate' })
    if (strategy.type === 'RollingUpdate') fill(fieldAt(strategy, 'rollingUpdate'), { maxSurge: 0, maxUnavailable: 1 })
    template(spec)
  },
  'batch/Job': object => job(fieldAt(object, 'spec')),
  'batch/CronJob': object => {
    const spec = fieldAt(object, 'spec')
    fill(spec, { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })
    template(fieldAt(fieldAt(spec, 'jobTemplate'), 'spec'))
  },
}

/** The map at a key, created if absent. Another value stays as it is, and nothing is set in it. */
function fieldAt(object: Fields, key: string): Fields {
  const known = object[key]
  if (isFields(known)) return known
  const made: Fields = Object.create(null)
  if (known === undefined || known === null) object[key] = made
  return made
}

function fill(object: Fields, values: Fields): void {
  for (const [key, value] of Object.entries(values)) object[key] ??= value
}

function maps(list: Json | undefined): Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

function job(spec: Fields): void {
  fill(spec, {
    completionMode: 'NonIndexed',
    backoffLimit: 6,
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
  })
  if (spec.completions === undefined && spec.parallelism === undefined) fill(spec, { completions: 1 })
  fill(spec, { parallelism: 1 })
  template(spec)
}

function template(spec: Fields): void {
  const { template: written } = spec
  if (isFields(written)) podSpec(fieldAt(written, 'spec'))
}

function podSpec(spec: Fields): void {
  fill(spec, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
  })
  fieldAt(spec, 'securityContext')
  if (typeof spec.serviceAccountName === 'string') fill(spec, { serviceAccount: spec.serviceAccountName })
  else if (typeof spec.serviceAccount === 'string') fill(spec, { serviceAccountName: spec.serviceAccount })
  for (const one of containersOf(spec)) container(one)
  for (const volume of maps(spec.volumes)) {
    for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
      if (isFields(volume[source])) fill(volume[source], { defaultMode: 420 })
    }
    if (isFields(volume.hostPath)) fill(volume.hostPath, { type: '' })
  }
}

const containersOf = (spec: Fields): Fields[] => [
  ...maps(spec.initContainers),
  ...maps(spec.containers),
  ...maps(spec.ephemeralContainers),
]

/** The default pull policy of a container. */
export function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  const name = image.slice(image.lastIndexOf('/') + 1)
  return !image.includes('@') && (!name.includes(':') || name.endsWith(':latest')) ? 'Always' : 'IfNotPresent'
}

function requests(one: Fields): void {
  const { resources } = one
  if (isFields(resources) && isFields(resources.limits)) fill(fieldAt(resources, 'requests'), resources.limits)
}

function container(one: Fields): void {
  const image = typeof one.image === 'string' ? one.image : ''
  fill(one, {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyOf(image),
  })
  fieldAt(one, 'resources')
  for (const port of maps(one.ports)) fill(port, { protocol: 'TCP' })
  for (const variable of maps(one.env)) {
    const from = isFields(variable.valueFrom) ? variable.valueFrom.fieldRef : undefined
    if (isFields(from)) fill(from, { apiVersion: 'v1' })
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const written = one[probe]
    if (!isFields(written)) continue
    fill(written, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
    if (isFields(written.httpGet)) fill(written.httpGet, { path: '/', scheme: 'HTTP' })
  }
}

function service(object: Fields): void {
  const spec = fieldAt(object, 'spec')
  fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' })
  for (const port of maps(spec.ports)) {
    fill(port, { protocol: 'TCP' })
    if (port.port !== undefined) fill(port, { targetPort: port.port })
  }
  if (spec.type === 'ExternalName') return
  fill(spec, { internalTrafficPolicy: 'Cluster' })
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') fill(spec, { externalTrafficPolicy: 'Cluster' })
  if (spec.type === 'LoadBalancer') fill(spec, { allocateLoadBalancerNodePorts: true })
}

function secret(object: Fields): void {
  fill(object, { type: 'Opaque' })
  const { stringData } = object
  if (!isFields(stringData)) return
  const data = fieldAt(object, 'data')
  for (const [key, value] of Object.entries(stringData)) {
    if (typeof value === 'string') data[key] = Buffer.from(value).toString('base64')
  }
  delete object.stringData
}

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
