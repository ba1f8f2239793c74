import { at, canonical, type Json, type Node, toJson } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { ManifestMap, ManifestValue } from './manifests/print-manifest.ts'
import type { OnboardRequest } from './request.ts'

/** Fields about identity or about a single Tenant; each Tenant has its own. */
const OWN = new Set(['owner', 'owners', 'additionalRoleBindings', 'permissions', 'data', 'cordoned', 'preventDeletion'])

/**
 * The limits that every other Tenant of the same version has in the same form; without them a new Tenant would have more rights.
 * Limits that differ or name a tenant are left to an admin.
 */
export function sharedPolicies(
  all: readonly KubeObject[],
  { tenant }: Pick<OnboardRequest, 'tenant'>,
): { readonly shared: ManifestMap; readonly unshared: readonly string[] } {
  const others = all.filter(object => idOf(object).name !== tenant)
  const names = others.map(object => idOf(object).name)
  const specs = others.map(object => fieldsOf(at(object.root, ['spec'])))
  const fields = new Set(specs.flatMap(spec => [...spec.keys()]))
  const shared = new Map<string, ManifestValue>()
  for (const field of fields) {
    const values = specs.map(spec => spec.get(field))
    const [first] = values
    const text = first && canonical(first)
    if (text === undefined || values.some(one => one === undefined || canonical(one) !== text)) continue
    const value = names.some(name => text.includes(name)) ? undefined : manifestValue(toJson(first!))
    if (value !== undefined) shared.set(field, value)
  }
  return { shared: Object.fromEntries(shared), unshared: [...fields].filter(field => !shared.has(field)).sort() }
}

function fieldsOf(spec: Node | undefined): ReadonlyMap<string, Node> {
  const fields = spec?.type === 'map' ? [...spec.fields] : []
  return new Map(fields.flatMap(([name, { value }]) => (OWN.has(name) ? [] : [[name, value] as const])))
}

/** Undefined for a value that cannot be printed: null, integers beyond 2^53, lists in lists. */
function manifestValue(json: Json): ManifestValue | undefined {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'number') return Number.isFinite(json) ? json : undefined
  if (json === null || typeof json !== 'object') return undefined
  if (Array.isArray(json)) {
    const items = json.map(manifestValue)
    return items.every(item => item !== undefined && !Array.isArray(item)) ? (items as ManifestValue[]) : undefined
  }
  const entries = Object.entries(json).map(([name, value]) => [name, manifestValue(value)] as const)
  return entries.every(([, value]) => value !== undefined)
    ? Object.fromEntries(entries as [string, ManifestValue][])
    : undefined
}
