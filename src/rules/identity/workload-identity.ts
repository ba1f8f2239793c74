import { codeWord, message, part } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { applierKinds } from '../../fleet/model/kustomization-spec.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import { everyMap } from '../model/object-values.ts'
import type { Rule, Subject, Violation } from '../model/rule.ts'
import { isCustomKind, podsOf } from '../workloads/pods.ts'

const SERVICE_ACCOUNT = '/ServiceAccount'
/** Fields in which operators set annotations and labels of the objects they create. */
const MARKS = new Set([
  'annotations',
  'labels',
  'serviceAccountAnnotations',
  'serviceAccountLabels',
  'podAnnotations',
  'podLabels',
])

/** The platform decides which cloud identity an account has. */
export const workloadIdentityAnnotation: Rule = {
  id: 'workload-identity-annotation',
  severity: 'critical',
  title: "Cloud identity on a tenant's account",
  why: 'A cloud identity annotation lets a service account act as a cloud role. Flux acts as this role when it decrypts or pulls as that account. Where the role trusts more than one account, every tenant can name it.',
  source:
    'RFC-0010 of fluxcd/flux2; https://docs.aws.amazon.com/eks/latest/userguide/iam-roles-for-service-accounts.html',
  docs: "Ask a fleet admin to render the service account with its annotation in the tenant's namespace, and name that account.",
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    for (const { path, warns } of placesOf(subject, index)) yield* evaluateFleet(index, subject, path, warns)
  },
}

interface Place {
  /** A map of annotations or labels. */
  readonly path: Path
  readonly warns: boolean
}

function* placesOf(subject: Subject, index: FleetIndex): Iterable<Place> {
  const { kind, id, object } = subject
  if (kind === SERVICE_ACCOUNT || groupOf(id.apiVersion).endsWith('.fluxcd.io')) {
    yield { path: ['metadata', 'annotations'], warns: false }
    if (kind === SERVICE_ACCOUNT) yield { path: ['metadata', 'labels'], warns: false }
  }
  if (kind === HELM_RELEASE) {
    const values = subject.at(['spec', 'values'])
    if (values) for (const { path } of everyMap(values)) yield { path: ['spec', 'values', ...path], warns: true }
    return
  }
  const ofPods = [...podsOf(subject, index)].flatMap(({ annotations }) => [
    annotations,
    [...annotations.slice(0, -1), 'labels'],
  ])
  for (const path of ofPods) yield { path, warns: false }
  if (isCustomKind(subject, index, MARKS))
    yield* ofOperator(object.root, new Set(ofPods.map(path => JSON.stringify(path))))
}

/** What an operator gives to the accounts and pods it creates; a field for an account is certain. */
function* ofOperator(root: Node, known: ReadonlySet<string>): Iterable<Place> {
  const spec = at(root, ['spec'])
  for (const { path: inner } of spec ? everyMap(spec) : []) {
    const path = ['spec', ...inner]
    if (!MARKS.has(String(path.at(-1))) || known.has(JSON.stringify(path))) continue
    yield { path, warns: !path.some(step => /serviceaccount/i.test(String(step))) }
  }
}

function* evaluateFleet(index: FleetIndex, subject: Subject, path: Path, warns: boolean): Iterable<Violation> {
  const map = subject.at(path)
  if (map?.type !== 'map') return
  for (const [key, field] of map.fields) {
    const cloud = cloudOf(key)
    if (cloud === undefined || (field.value.type === 'scalar' && field.value.value === null)) continue
    const value = field.value.type === 'scalar' ? String(field.value.value) : `a ${field.value.type}`
    if (value === '' || isGiven(index, subject, path, key, value)) continue
    yield subject.violation([...path, key], value, {
      message: message`${subject.who} takes a cloud identity (${part('value', cloud)}) with ${quoted('value', key)}: ${quoted('value', value)}. Allowed: accounts that the platform renders with one.`,
      fix: message`Remove the annotation, and ask a fleet admin to render the service account with it.`,
      ...(warns ? { level: 'warning' as const, severity: 'high' as const } : { edit: { remove: true } as const }),
    })
  }
}

/** Whether the platform gave the same to an account of the namespace, or a pod only requests its account's identity. */
function isGiven(index: FleetIndex, { node, object, id }: Subject, path: Path, key: string, value: string): boolean {
  const accounts = index.platformRendered(node.cluster, SERVICE_ACCOUNT, id.namespace).map(other => other.object)
  if (accounts.some(account => stringAt(account.root, ['metadata', 'annotations', key]) === value)) return true
  if (key !== AZURE_USE) return false
  const pod = at(object.root, [...path.slice(0, -2), 'spec'])
  const name = pod && accountOfPod(pod)
  return accounts.some(
    account =>
      stringAt(account.root, ['metadata', 'name']) === name &&
      stringAt(account.root, ['metadata', 'annotations', 'azure.workload.identity/client-id']),
  )
}

/** Prefixes of annotations and labels that give an account or pod a cloud identity, and keys of them that do not. */
const PREFIXES: readonly (readonly [prefix: string, cloud: string])[] = [
  ['eks.amazonaws.com/', 'AWS'],
  ['iam.amazonaws.com/', 'AWS (kiam, kube2iam)'],
  ['iam.gke.io/', 'Google Cloud'],
  ['azure.workload.identity/', 'Azure'],
  ['pod-identity.alibabacloud.com/', 'Alibaba Cloud'],
  ['tke.cloud.tencent.com/', 'Tencent Cloud'],
  ['gcp.auth.fluxcd.io/', 'Google Cloud, for Flux'],
  ['aws.auth.fluxcd.io/', 'AWS, for Flux'],
  ['azure.auth.fluxcd.io/', 'Azure, for Flux'],
  ['auth.fluxcd.io/', 'a registry, for Flux'],
]

/** How tokens are handed over, not whose they are. */
const HARMLESS = new Set([
  'eks.amazonaws.com/token-expiration',
  'eks.amazonaws.com/sts-regional-endpoints',
  'eks.amazonaws.com/skip-containers',
  'eks.amazonaws.com/compute-type',
  'eks.amazonaws.com/nodegroup',
  'eks.amazonaws.com/fargate-profile',
  'azure.workload.identity/service-account-token-expiration',
  'azure.workload.identity/skip-containers',
  'azure.workload.identity/inject-proxy-sidecar',
  'azure.workload.identity/proxy-sidecar-port',
  'pod-identity.alibabacloud.com/service-account-token-expiration',
  'tke.cloud.tencent.com/token-expiration',
])

/** The cloud in which an annotation or label gives an identity; undefined where it does not. */
function cloudOf(name: string): string | undefined {
  if (HARMLESS.has(name)) return undefined
  if (name === 'aadpodidbinding') return 'Azure (pod identity)'
  return PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1]
}

/** The label by which a pod requests its account's identity; the account decides which. */
const AZURE_USE = 'azure.workload.identity/use'

/** A pod with a token of the account that deploys the namespace. */
export const workloadUsesReconcilerSa: Rule = {
  id: 'workload-uses-reconciler-sa',
  severity: 'high',
  level: 'warning',
  title: 'Workload that runs as the reconciler account',
  why: "Flux's account can write everything in the namespace. A pod that runs as this account exposes its token: an attacker who compromises the pod controls the namespace and, with Capsule, the tenant.",
  source: 'https://kubernetes.io/docs/concepts/security/rbac-good-practices/',
  docs: 'Create a separate account with a Role for the workload. If the workload does not need the API, set `automountServiceAccountToken: false`.',
  kinds: 'every',
  *checkObject(subject, { index }) {
    const { node, object, id } = subject
    if (index.actsFor(node, object) === undefined) return
    for (const { path, account } of accountsOf(subject, index)) {
      if (index.reconciler(node.cluster, id.namespace, account) === undefined) continue
      yield subject.violation(path, account, {
        message: message`${subject.who} runs pods as account ${quoted('object', account)}, which Flux uses to deploy namespace ${quoted('object', id.namespace)}. The pods can read its token. Allowed: a separate account for the workload.`,
        fix: message`Set ${codeWord('serviceAccountName')} to an account with only the rights that the workload needs.`,
      })
    }
  },
}

interface Use {
  readonly path: Path
  readonly account: string
}

function* accountsOf(subject: Subject, index: FleetIndex): Iterable<Use> {
  const { object, kind, id } = subject
  for (const { path, spec } of podsOf(subject, index)) {
    if (!getsToken(spec)) continue
    // a pod that names none runs as `default`, which default-sa-privileged keeps without rights
    const field = ['serviceAccountName', 'serviceAccount'].find(name => stringAt(spec, [name]))
    if (field) yield { path: [...path, field], account: accountOfPod(spec) }
  }
  if (kind === HELM_RELEASE) yield* ofValues(object)
  // workflows and pipelines name the account beside what they run; what Flux applies must name it
  const group = groupOf(id.apiVersion)
  if (!group.includes('.') || /\.(k8s|fluxcd|controlplane)\.io$/.test(group) || applierKinds.includes(kind)) return
  for (const field of ['serviceAccountName', 'serviceAccount']) {
    const account = subject.text(['spec', field])
    if (account) yield { path: ['spec', field], account }
  }
}

/** How charts name the account of their pods. */
function* ofValues({ root }: KubeObject): Iterable<Use> {
  const values = at(root, ['spec', 'values'])
  if (!values) return
  for (const { path, node } of everyMap(values)) {
    for (const field of [['serviceAccountName'], ['serviceAccount', 'name'], ['serviceAccount']]) {
      const account = stringAt(node, field)
      if (account) yield { path: ['spec', 'values', ...path, ...field], account }
    }
  }
}

/** The account that a pod runs as; `serviceAccount` is the field's old name, and the new one wins. */
function accountOfPod(spec: Node): string {
  return stringAt(spec, ['serviceAccountName']) || stringAt(spec, ['serviceAccount']) || 'default'
}

/** Whether a pod gets a token of its account: mounted automatically, or through a projected volume. */
function getsToken(spec: Node): boolean {
  const mounted = at(spec, ['automountServiceAccountToken'])
  if (!(mounted?.type === 'scalar' && mounted.value === false)) return true
  const volumes = at(spec, ['volumes'])
  return (
    volumes?.type === 'list' &&
    volumes.items.some(volume => {
      const sources = at(volume, ['projected', 'sources'])
      return sources?.type === 'list' && sources.items.some(source => at(source, ['serviceAccountToken']) !== undefined)
    })
  )
}
