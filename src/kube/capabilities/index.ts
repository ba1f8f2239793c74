import { annotations } from './annotations.ts'
import type { Capabilities, Capability, Named, NamingField } from './capability.ts'
import { databases } from './databases.ts'
import { delivery } from './delivery.ts'
import { gateways } from './gateways.ts'
import { ingresses } from './ingress.ts'
import { istio } from './istio.ts'
import { monitoring } from './monitoring.ts'
import { operators } from './operators.ts'
import { policies } from './policies.ts'
import { secrets } from './secrets.ts'
import { serviceMeshes } from './service-meshes.ts'
import { storage } from './storage.ts'

/** One file for each family of API groups; a kind stands in one of them. */
export const families: readonly Capabilities[] = [
  databases,
  delivery,
  gateways,
  ingresses,
  istio,
  monitoring,
  operators,
  policies,
  secrets,
  serviceMeshes,
  storage,
]

const ALL: ReadonlyMap<string, Capability> = new Map(families.flatMap(family => Object.entries(family)))

/** What objects of a kind (`<group>/<Kind>`) can do; undefined: unknown. */
export function capabilityOf(kind: string): Capability | undefined {
  return ALL.get(kind)
}

/** The kinds with a field that names one of these. */
export function kindsNaming(...named: readonly Named[]): string[] {
  return [...ALL].filter(([, { fields }]) => fields.some(field => named.includes(field.names))).map(([kind]) => kind)
}

/** The fields of a kind that name one of these. */
export function fieldsNaming(kind: string, ...named: readonly Named[]): readonly NamingField[] {
  return ALL.get(kind)?.fields.filter(field => named.includes(field.names)) ?? []
}

/** What an annotation names, on whatever object it stands. */
export function annotationNaming(key: string, ...named: readonly Named[]): NamingField | undefined {
  const field = annotations.get(key)
  return field && named.includes(field.names) ? field : undefined
}

/** The scopes of the table by `<group>/<Kind>`. */
export const CAPABILITY_SCOPES: ReadonlyMap<string, Capability['scope']> = new Map(
  [...ALL].map(([kind, { scope }]) => [kind, scope]),
)
