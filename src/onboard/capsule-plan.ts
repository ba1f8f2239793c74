import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { at, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { textMapOf } from '../kube/read-text.ts'
import { decodeText } from '../kube/yaml/decode-text.ts'
import type { CapsuleVersion } from './capsule-objects.ts'
import { sharedPolicies } from './capsule-policies.ts'
import type { OnboardRequest } from './request.ts'

/** How the clusters of a request use Capsule. */
export interface CapsulePlan extends CapsuleVersion {
  /** Clusters whose tenants are Capsule Tenants. */
  readonly clusters: readonly string[]
  /** Whether the objects can be written: every cluster of the request uses Capsule, and its lists are known. */
  readonly isWritten: boolean
  /** Files with the CapsuleConfiguration that lists the group now. */
  readonly edits: ReadonlyMap<string, string>
  /** Fields of `spec` that an admin must decide about, because other Tenants have different values or values that name a tenant. */
  readonly unshared: readonly string[]
  /** Why the objects are not written; '' where they are. */
  readonly why: string
}

export const CAPSULE_GROUP = 'capsule.clastix.io'
const ADDON = 'capsule.addon.fluxcd/'

const isCapsule = (object: KubeObject, kind: string) => {
  const id = idOf(object)
  return id.kind === kind && groupOf(id.apiVersion) === CAPSULE_GROUP
}

/** v1beta2 comes after v1beta1, and v1 after both. */
const newestLast = (a: string, b: string): number => rank(a) - rank(b)
const rank = (version: string): number => {
  const [, stage = '', number = '0'] = /v\d+(alpha|beta)?(\d*)$/.exec(version) ?? []
  return ['alpha', 'beta', ''].indexOf(stage) * 100 + Number(number)
}

/** Plans a tenant on clusters with Capsule; undefined where none of them has a Capsule Tenant. */
export function planCapsule(fleet: Fleet, tree: Tree, request: OnboardRequest): CapsulePlan | undefined {
  const on = (cluster: string) => fleet.nodes.filter(node => node.cluster === cluster).flatMap(node => node.objects)
  const clusters = request.clusters.filter(cluster => on(cluster).some(object => isCapsule(object, 'Tenant')))
  const [first] = clusters
  if (first === undefined) return undefined
  const objects = clusters.flatMap(on)
  const versions = new Set(objects.filter(one => isCapsule(one, 'Tenant')).map(one => idOf(one).apiVersion))
  const version = [...versions].sort(newestLast).at(-1)!
  const addon = addonAnnotations(clusters.map(on))
  const isMixed = clusters.length < request.clusters.length
  const edits = isMixed ? undefined : groupEdits(tree, objects, groupOfAccounts(request))
  const why = isMixed
    ? 'some of its clusters do not use Capsule, and all of them share the files of a tenant'
    : 'no CapsuleConfiguration of the fleet has a list `spec.userGroups` that can be edited'
  return {
    clusters,
    version,
    ...(addon ? { addon, kubeConfigKey: 'kubeconfig' } : kubeConfigKey(clusters.map(on))),
    ...sharedPolicies(
      objects.filter(one => isCapsule(one, 'Tenant') && idOf(one).apiVersion === version),
      request,
    ),
    isWritten: edits !== undefined,
    edits: edits ?? new Map(),
    why: edits === undefined ? why : '',
  }
}

/** What the accounts of the other tenants have in common for capsule-addon-fluxcd, if it is switched on for one on each of these clusters. */
function addonAnnotations(clusters: readonly (readonly KubeObject[])[]): Record<string, string> | undefined {
  const all = clusters.map(objects =>
    objects.flatMap(object => {
      const isAccount = idOf(object).kind === 'ServiceAccount'
      const written = isAccount ? (textMapOf(at(object.root, ['metadata', 'annotations'])) ?? []) : []
      const own = [...written].filter(([key]) => key.startsWith(ADDON))
      return own.some(([key, value]) => key === `${ADDON}enabled` && value === 'true') ? [new Map(own)] : []
    }),
  )
  const [first] = all[0] ?? []
  if (first === undefined || all.some(({ length }) => length === 0)) return undefined
  return Object.fromEntries([...first].filter(([key, value]) => all.flat().every(one => one.get(key) === value)))
}

/**
 * A request on clusters with Capsule: without an account of its own, the tenant has the one by which Flux acts where nothing
 * names an account, so that the tenant's own Kustomizations need not name one.
 */
export function withCapsuleAccount(request: OnboardRequest, fleet: Fleet): OnboardRequest {
  const clusters = fleet.clusters.filter(({ name }) => request.clusters.includes(name))
  const usesCapsule = (cluster: string) =>
    fleet.nodes.some(node => node.cluster === cluster && node.objects.some(object => isCapsule(object, 'Tenant')))
  const accounts = new Set(clusters.map(({ lockdown }) => lockdown.defaultServiceAccount))
  const [account] = accounts
  const isOne = accounts.size === 1 && account !== undefined && account !== 'default'
  if (request.account !== undefined || !isOne || !clusters.every(({ name }) => usesCapsule(name))) return request
  return { ...request, account }
}

/** The Secret key for the kubeconfig, if all other tenants on each of these clusters use the same one. */
function kubeConfigKey(clusters: readonly (readonly KubeObject[])[]): Pick<CapsuleVersion, 'kubeConfigKey'> {
  const keys = clusters.map(objects => new Set(objects.flatMap(keyOf)))
  const [first] = keys[0] ?? []
  const isOne = first !== undefined && keys.every(one => one.size === 1 && one.has(first))
  return isOne ? { kubeConfigKey: first } : {}
}

function keyOf(object: KubeObject): string[] {
  if (idOf(object).kind !== 'Kustomization') return []
  const named = (field: string) => stringAt(object.root, ['spec', 'kubeConfig', 'secretRef', field])
  const key = named('key')
  return key && named('name')?.endsWith('-kubeconfig') ? [key] : []
}

/** Capsule passes by accounts of groups that it does not know. */
export const groupOfAccounts = ({ namespaces }: OnboardRequest): string => `system:serviceaccounts:${namespaces[0]}`

/** The group added to each CapsuleConfiguration of the fleet; undefined where one cannot be edited, or there is none. */
function groupEdits(tree: Tree, objects: readonly KubeObject[], group: string): Map<string, string> | undefined {
  const edits = new Map<string, string>()
  const configurations = objects.filter(object => isCapsule(object, 'CapsuleConfiguration'))
  if (configurations.length === 0) return undefined
  for (const { root } of configurations) {
    const list = at(root, ['spec', 'userGroups'])
    if (list?.type !== 'list' || list.items.length === 0) return undefined
    if (list.items.some((_, index) => stringAt(root, ['spec', 'userGroups', index]) === group)) continue
    const last = list.items.at(-1)!
    const { file, line, repository } = last.origin
    if (repository !== root.origin.repository || tree.entry(file)?.type !== 'file' || edits.has(file)) {
      if (edits.get(file)?.includes(group)) continue
      return undefined
    }
    const lines = decodeText({ repository, path: file }, tree.read(file)).split('\n')
    const text = lines[line - 1] ?? ''
    const indent = /^ *(?=- [^[{&*|>]+$)/.exec(text)?.[0]
    if (indent === undefined || text.includes('\r')) return undefined
    edits.set(file, [...lines.slice(0, line), `${indent}- ${group}`, ...lines.slice(line)].join('\n'))
  }
  return edits
}
