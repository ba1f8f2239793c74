import type { Json } from '../kube/node.ts'
import { mapAt } from './json-at.ts'

const PREFIX = 'kustomize.toolkit.fluxcd.io/'

/** Labels and annotations that steer how Flux applies one object. */
const FLUX_SWITCHES = ['ssa', 'force', 'prune', 'reconcile'] as const
export type FluxSwitch = (typeof FLUX_SWITCHES)[number]

/**
 * Why Flux would leave the object alone; undefined: it would not. Its switches are labels or annotations, in git or
 * on the live object, and their values ignore case (fluxcd/pkg ssa/utils AnyInMetadata).
 */
export function skipReason(
  desired: Json,
  live: Json | undefined,
  allowed: readonly FluxSwitch[] = FLUX_SWITCHES,
): string | undefined {
  for (const [object, where] of [
    [desired, ''],
    [live, ' on the live object'],
  ] as const) {
    if (hasSwitch(object, 'reconcile', 'disabled', allowed)) return `${PREFIX}reconcile: disabled${where}`
    if (hasSwitch(object, 'ssa', 'Ignore', allowed)) return `${PREFIX}ssa: Ignore${where}`
  }
  if (live !== undefined && hasSwitch(desired, 'ssa', 'IfNotPresent', allowed))
    return `${PREFIX}ssa: IfNotPresent, and it is there`
  return undefined
}

/** Why Flux would not prune the live object; undefined: it would. */
export function keepReason(live: Json): string | undefined {
  if (hasSwitch(live, 'prune', 'disabled')) return `${PREFIX}prune: disabled`
  return skipReason(live, undefined)
}

/** Whether a switch is set to a value on an object; never where it is not allowed. */
export function hasSwitch(
  object: Json | undefined,
  key: FluxSwitch,
  value: string,
  allowed: readonly FluxSwitch[] = FLUX_SWITCHES,
): boolean {
  if (object === undefined || !allowed.includes(key)) return false
  return ['labels', 'annotations'].some(part => {
    const set = mapAt(object, 'metadata', part)[`${PREFIX}${key}`]
    return typeof set === 'string' && set.toLowerCase() === value.toLowerCase()
  })
}
