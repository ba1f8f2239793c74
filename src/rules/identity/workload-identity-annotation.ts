import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import { everyMap } from '../model/every-map.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isCustomKind } from '../workloads/support/is-custom-kind.ts'
import { podsOf } from '../workloads/support/pods-of.ts'
import { accountOfPod } from './support/account-of-pod.ts'
import { AZURE_USE, cloudOf } from './support/cloud-identities.ts'

const SERVICE_ACCOUNT = '/ServiceAccount'
/** What operators call the annotations and labels of what they make. */
const MARKS = new Set([
  'annotations',
  'labels',
  'serviceAccountAnnotations',
  'serviceAccountLabels',
  'podAnnotations',
  'podLabels',
])

/** Which identity in a cloud an account has is the platform's to say. */
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
    const values = at(object.root, ['spec', 'values'])
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

/** What an operator gives to the accounts and pods that it makes; where a field says that it is for an account, it is for certain. */
function* ofOperator(root: Node, known: ReadonlySet<string>): Iterable<Place> {
  const spec = at(root, ['spec'])
  for (const { path: inner } of spec ? everyMap(spec) : []) {
    const path = ['spec', ...inner]
    if (!MARKS.has(String(path.at(-1))) || known.has(JSON.stringify(path))) continue
    yield { path, warns: !path.some(step => /serviceaccount/i.test(String(step))) }
  }
}

function* evaluateFleet(index: FleetIndex, subject: Subject, path: Path, warns: boolean): Iterable<Violation> {
  const { node, object, id } = subject
  const map = at(object.root, path)
  if (map?.type !== 'map') return
  for (const [key, field] of map.fields) {
    const cloud = cloudOf(key)
    if (cloud === undefined || (field.value.type === 'scalar' && field.value.value === null)) continue
    const value = field.value.type === 'scalar' ? String(field.value.value) : `a ${field.value.type}`
    if (value === '' || isGiven(index, subject, path, key, value)) continue
    yield {
      node,
      object,
      path: [...path, key],
      value,
      message: message`${objectPart(id.kind, id.namespace, id.name)} takes a cloud identity (${part('value', cloud)}) with ${quoted('value', key)}: ${quoted('value', value)}. Allowed: accounts that the platform renders with one.`,
      fix: message`Remove the annotation, and ask a fleet admin to render the service account with it.`,
      ...(warns ? { level: 'warning' as const, severity: 'high' as const } : { edit: { remove: true } as const }),
    }
  }
}

/** The platform gave the same to an account of the namespace, or it is how a pod asks for what its account was given. */
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
