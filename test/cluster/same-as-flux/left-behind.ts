import { itemsAt, jsonAt, mapAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { FluxEvent } from '../../../tools/envtest/flux-controller.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'

/** What a step left on the API server, asked of it once for all cases. */
export interface Snapshot {
  readonly lists: ReadonlyMap<string, readonly Json[]>
  readonly events: readonly FluxEvent[]
  readonly requests: ReadonlyMap<string, readonly string[]>
}

const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations'
const EVENTS = '/api/v1/events'
const LISTS = [
  KUSTOMIZATIONS,
  EVENTS,
  '/api/v1/configmaps',
  '/api/v1/secrets',
  '/api/v1/serviceaccounts',
  '/api/v1/services',
  '/api/v1/namespaces',
  '/apis/apps/v1/deployments',
  '/apis/batch/v1/jobs',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
]

export async function snapshot(cluster: TestCluster, more: Omit<Snapshot, 'lists'>): Promise<Snapshot> {
  const lists = new Map<string, readonly Json[]>()
  for (const path of LISTS) {
    const { status, body } = await cluster.request('GET', path)
    if (status !== 200) throw new Error(`GET ${path}: ${JSON.stringify(body)}`)
    lists.set(path, itemsAt(body, 'items'))
  }
  return { lists, ...more, events: [...more.events] }
}

/** What is there of one namespace, one line for each fact: those that the two must agree about. */
export function factsOf({ lists, events, requests }: Snapshot, namespace: string): string[] {
  const isHere = (object: Json) => {
    const { namespace: of, name } = mapAt(object, 'metadata')
    return (
      String(of ?? '').startsWith(namespace) ||
      (of === undefined && String(name).includes(namespace) && name !== namespace)
    )
  }
  const facts: string[] = []
  for (const [path, items] of lists) {
    const here = items.filter(isHere)
    if (path === KUSTOMIZATIONS) facts.push(...here.flatMap(statusFacts))
    else if (path === EVENTS) facts.push(...new Set(here.map(eventFact)))
    else facts.push(...here.filter(isOfCase).flatMap(object => objectFacts(path.split('/').at(-1)!, object)))
  }
  const posted = events.filter(({ involvedObject }) => involvedObject.namespace === namespace)
  facts.push(...new Set(posted.map(postedFact)))
  for (const [user, lines] of requests) if (user.includes(`:${namespace}:`)) facts.push(...requestFacts(lines))
  return facts.map(fact => plain(fact, namespace)).sort()
}

/** Accounts and bindings of createTenant, and what the API server makes of its own. */
function isOfCase(object: Json): boolean {
  return !/^(dev-team|dev-team-reconciler|kube-root-ca\.crt|default)$/.test(stringAt(object, 'metadata', 'name'))
}

function statusFacts(object: Json): string[] {
  const name = stringAt(object, 'metadata', 'name')
  const { conditions = [], inventory, history = [], ...rest } = mapAt(object, 'status')
  const facts = itemsAt(conditions).map(one => {
    const [type, status, reason, message] = ['type', 'status', 'reason', 'message'].map(key => stringAt(one, key))
    return `status ${name} ${type}=${status} ${reason} (generation ${jsonAt(one, 'observedGeneration')}): ${message!.trimEnd()}`
  })
  for (const [field, value] of Object.entries(rest)) facts.push(`status ${name} ${field}: ${JSON.stringify(value)}`)
  const entries = itemsAt(inventory, 'entries').map(one => `${stringAt(one, 'id')} ${stringAt(one, 'v')}`)
  facts.push(...entries.map(entry => `inventory ${name} ${entry}`))
  const past = itemsAt(history).map(one => {
    const { lastReconciledStatus, metadata } = mapAt(one)
    return `history ${name} ${lastReconciledStatus} ${JSON.stringify(metadata)}`
  })
  const { finalizers = [], deletionTimestamp } = mapAt(object, 'metadata')
  facts.push(`kustomization ${name} finalizers ${JSON.stringify(finalizers)}${deletionTimestamp ? ' deleted' : ''}`)
  return [...facts, ...past]
}

function objectFacts(resource: string, object: Json): string[] {
  const { labels = {}, annotations = {}, name, managedFields } = mapAt(object, 'metadata')
  const { metadata: _m, kind: _k, apiVersion: _a, status: _s, ...content } = mapAt(object)
  const managers = itemsAt(managedFields).map(one => {
    const [manager, operation] = [stringAt(one, 'manager'), stringAt(one, 'operation')]
    return `manager ${resource}/${name} ${manager} ${operation} ${JSON.stringify(jsonAt(one, 'fieldsV1'))}`
  })
  return [`object ${resource}/${name} ${JSON.stringify({ labels, annotations, ...content })}`, ...managers]
}

function eventFact(event: Json): string {
  const { type, reason, message, involvedObject } = mapAt(event)
  return `event ${stringAt(involvedObject, 'name')} ${type} ${reason}: ${ordered(String(message))}`
}

function postedFact({ involvedObject, severity, reason, message, metadata = {} }: FluxEvent): string {
  const data = JSON.stringify(Object.entries(metadata).sort())
  return `posted ${involvedObject.name} ${severity} ${reason}: ${ordered(message)} ${data}`
}

/** Lines of changes come in the order in which the two apply. */
const ordered = (message: string) => message.split('\n').filter(Boolean).sort().join(' | ')

/** How often what was asked; how often something was read is not compared here. */
function requestFacts(lines: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of lines) if (!line.startsWith('read ')) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => `request ${line}${count > 1 ? ` ${count} times` : ''}`)
}

/** Times, durations, digests, counts and the name of the namespace aside. */
function plain(fact: string, namespace: string): string {
  return fact
    .replaceAll(namespace, 'NS')
    .replace(/bailiwick-[\da-f]{16}/g, 'bailiwick-H')
    .replace(/[\w/.-]*\/kustomization-\d+/g, 'TMP')
    .replace(/10\.0\.0\.\d+/g, 'IP')
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'U')
    .replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/g, '"T"')
    .replace(/retrying in \d+s/g, 'retrying in D')
    .replace(/(after|passed in|finished in) [\d.a-zµ]+/g, '$1 D')
}

/** What only one of the two left: `- ` before what only the first has, `+ ` before what only the second has. */
export function differencesOf(theirs: readonly string[], ours: readonly string[]): string[] {
  const rest = [...ours]
  const missing: string[] = []
  for (const fact of theirs) {
    const index = rest.indexOf(fact)
    if (index < 0) missing.push(`- ${fact}`)
    else rest.splice(index, 1)
  }
  return [...missing, ...rest.map(fact => `+ ${fact}`)]
}
