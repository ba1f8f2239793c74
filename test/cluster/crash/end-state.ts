import { jsonAt, mapAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import type { Answered } from '../fault-proxy.ts'
import type { CrashWorld } from './crash-world.ts'

const INVENTORIES = '/api/v1/namespaces/bailiwick-system/configmaps'
/** Different in every run, and in no way of interest; `history` tells what failed. */
const PASSING = new Set([
  ...['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastTransitionTime', 'lastAppliedTime', 'claim'],
  ...['generation', 'observedGeneration', 'deletionTimestamp', 'digest', 'history'],
])

/** All that a world has on the cluster, inventories included, without what differs in every run and without its name. */
export async function endState(server: TestCluster, { id, cluster, well, sick }: CrashWorld): Promise<Json> {
  const list = async (path: string) => {
    const { status, body } = await server.request('GET', path)
    return status === 404 ? [] : ((jsonAt(body, 'items') as Json[] | undefined) ?? [body])
  }
  const found: Record<string, Json> = {}
  for (const namespace of [well, sick]) {
    const core = `/api/v1/namespaces/${namespace}`
    const paths = [
      ...[core, `${core}/configmaps`, `${core}/secrets`, `${core}/serviceaccounts`],
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
      `/apis/apps/v1/namespaces/${namespace}/replicasets`,
      `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations`,
      `/apis/${id}.crash.example/v1/namespaces/${namespace}/things`,
    ]
    for (const path of paths)
      for (const one of await list(path)) found[`${path} ${stringAt(one, 'metadata', 'name')}`] = one
  }
  const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${id}.crash.example`
  for (const one of await list(crd)) found[crd] = one
  for (const one of await list(`${INVENTORIES}?labelSelector=bailiwick.dev/cluster=${cluster}`)) {
    const content = JSON.parse(stringAt(one, 'data', 'inventory.json'))
    found[`inventory of ${content.node}`] = content
  }
  const text = JSON.stringify(lasting(found)).replaceAll(id, 'WORLD')
  return JSON.parse(text.replace(/passed in [0-9.]+m?s/g, 'passed'))
}

function lasting(json: Json): Json {
  // the order of managers and conditions is that of their times
  if (Array.isArray(json)) return json.map(lasting).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof json !== 'object' || json === null) return json
  const kept = Object.entries(json).filter(([key]) => !PASSING.has(key))
  return Object.fromEntries(kept.sort().map(([key, value]) => [key, lasting(value)]))
}

/** Where two states differ, by the path of the field. */
export function differenceOf(want: Json | undefined, have: Json | undefined, path = ''): string[] {
  if (JSON.stringify(want) === JSON.stringify(have)) return []
  const isMap = (json: Json | undefined) => typeof json === 'object' && json !== null
  if (!isMap(want) || !isMap(have)) return [`${path} is ${JSON.stringify(have)} and not ${JSON.stringify(want)}`]
  const [wanted, found] = [want, have] as Record<string, Json>[]
  const keys = new Set([...Object.keys(wanted!), ...Object.keys(found!)])
  return [...keys].flatMap(key => differenceOf(wanted![key], found![key], `${path}.${key}`))
}

/** What was done as tenants and platform: how often each object changed, by its path. */
export function changesOf(answered: readonly Answered[], { id }: CrashWorld): Map<string, number> {
  const versions = new Map<string, Set<string>>()
  for (const { seen, status, body } of answered) {
    if (seen.user === '' || seen.method === 'GET' || seen.query.get('dryRun') === 'All' || status >= 300) continue
    const { uid, generation, resourceVersion, labels, annotations } = mapAt(JSON.parse(body), 'metadata')
    const path = `${seen.method} ${seen.path.replaceAll(id, 'WORLD')}`
    // what is sent again because its answer was lost changes nothing, but the status may have changed meanwhile
    const own = generation === undefined ? resourceVersion : [generation, labels, annotations]
    const version = JSON.stringify([uid, own])
    versions.set(path, (versions.get(path) ?? new Set()).add(version))
  }
  return new Map([...versions].map(([path, set]) => [path, set.size]))
}
