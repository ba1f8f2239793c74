import type { Capabilities } from './capability.ts'

/** Kinds in namespaces, as `<group>/<Kind>` with spaces between, that name nothing outside of their own. */
export function withoutFields(kinds: string): Capabilities {
  return Object.fromEntries(kinds.split(' ').map(kind => [kind, { scope: 'Namespaced', fields: [] }]))
}
