import type { Capabilities, Capability, NamingField } from './capability.ts'
import { istio } from './istio.ts'

/** One file for each family of API groups; a kind stands in one of them. */
export const families: readonly Capabilities[] = [istio]

const ALL: ReadonlyMap<string, Capability> = new Map(families.flatMap(family => Object.entries(family)))

/** What objects of a kind (`<group>/<Kind>`) can do; undefined: nobody has looked at it. */
export function capabilityOf(kind: string): Capability | undefined {
  return ALL.get(kind)
}

/** The kinds with a field that names one of these. */
export function kindsNaming(...named: readonly NamingField['names'][]): string[] {
  return [...ALL].filter(([, { fields }]) => fields.some(field => named.includes(field.names))).map(([kind]) => kind)
}

/** The fields of a kind that name one of these. */
export function fieldsNaming(kind: string, ...named: readonly NamingField['names'][]): readonly NamingField[] {
  return ALL.get(kind)?.fields.filter(field => named.includes(field.names)) ?? []
}

/** The scopes of the table by `<group>/<Kind>`. */
export const CAPABILITY_SCOPES: ReadonlyMap<string, Capability['scope']> = new Map(
  [...ALL].map(([kind, { scope }]) => [kind, scope]),
)
