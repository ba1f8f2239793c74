import { FLUX_KINDS } from '../../flux/kinds.ts'
import type { Scope } from '../capabilities/capability.ts'
import { CAPABILITY_SCOPES } from '../capabilities/index.ts'
import { stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { KUBERNETES } from './kubernetes-scopes.ts'
import { PROJECTS } from './project-scopes.ts'

/** Scopes of custom kinds by `<group>/<Kind>`. */
export type CustomScopes = ReadonlyMap<string, Scope>

/** The scopes that CustomResourceDefinitions among `objects` declare. A scope that is neither value is left out. */
export function customScopes(objects: Iterable<KubeObject>): CustomScopes {
  const scopes = new Map<string, Scope>()
  for (const object of objects) {
    const { apiVersion, kind } = idOf(object)
    if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') continue
    const scope = stringAt(object.root, ['spec', 'scope'])
    if (scope !== 'Namespaced' && scope !== 'Cluster') continue
    scopes.set(`${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`, scope)
  }
  return scopes
}

/**
 * Whether objects of a kind live in namespaces; undefined where nobody says so. Kinds of Kubernetes itself first (no
 * definition can redefine them), then the fleet's own definitions, then well-known projects. The kind is compared exactly.
 */
export function scopeOf(apiVersion: string, kind: string, custom: CustomScopes): Scope | undefined {
  const key = `${groupOf(apiVersion)}/${kind}`
  return KUBERNETES_SCOPES.get(key) ?? custom.get(key) ?? PROJECT_SCOPES.get(key)
}

/** Kinds of Kubernetes itself by `<group>/<Kind>`. */
export const KUBERNETES_SCOPES = flatten(KUBERNETES)
/** Kinds of well-known projects by `<group>/<Kind>`. */
export const PROJECT_SCOPES: CustomScopes = new Map<string, Scope>([
  ...readLines(PROJECTS),
  ...FLUX_KINDS.map((row): [string, Scope] => [`${row.group}/${row.kind}`, row.scope ?? 'Namespaced']),
  // of kinds of Kubernetes, and of groups that it does not serve any more, Kubernetes itself says what they are
  ...[...CAPABILITY_SCOPES].filter(([kind]) => !isKubernetesKind(kind) && !kind.startsWith('extensions/')),
])

/** Whether a kind (`<group>/<Kind>`) is in a group that Kubernetes itself serves. */
export function isKubernetesKind(kind: string): boolean {
  return Object.hasOwn(KUBERNETES, kind.slice(0, kind.indexOf('/')))
}

function flatten(table: typeof KUBERNETES): CustomScopes {
  const scopes = new Map<string, Scope>()
  for (const [group, { namespaced, cluster }] of Object.entries(table)) {
    for (const kind of namespaced.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Namespaced')
    for (const kind of cluster.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Cluster')
  }
  return scopes
}

function readLines(text: string): CustomScopes {
  const scopes = new Map<string, Scope>()
  for (const line of text.trim().split('\n')) {
    const [group = '', kinds = ''] = line.split(': ')
    const [namespaced = '', cluster = ''] = kinds.split('|')
    for (const kind of namespaced.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Namespaced')
    for (const kind of cluster.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Cluster')
  }
  return scopes
}

/** Whether a kind that is unknown in its group is one that Kubernetes has for the whole cluster in another of its groups. */
export function isMisplacedClusterKind(apiVersion: string, kind: string): boolean {
  const group = groupOf(apiVersion)
  return Object.hasOwn(KUBERNETES, group) && !KUBERNETES_SCOPES.has(`${group}/${kind}`) && CLUSTER_KINDS.has(kind)
}

const CLUSTER_KINDS = new Set(Object.values(KUBERNETES).flatMap(({ cluster }) => cluster.split(' ').filter(Boolean)))

/** Groups that no Kubernetes since 1.22 serves any more; their kinds live in others. */
const RETIRED = new Set(['extensions'])

const NEAR = new Map([...KUBERNETES_SCOPES.keys(), ...PROJECT_SCOPES.keys()].map(key => [key.toLowerCase(), key]))

/** The kind as it is written where an object's kind or group differs from a known one only in case; '' for a retired group. */
export function misspelled(apiVersion: string, kind: string): string | undefined {
  const key = `${groupOf(apiVersion)}/${kind}`
  if (RETIRED.has(groupOf(apiVersion).toLowerCase())) return ''
  const known = NEAR.get(key.toLowerCase())
  return known === key ? undefined : known
}
