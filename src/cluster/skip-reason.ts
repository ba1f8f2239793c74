import type { Json } from '../kube/node.ts'
import { mapAt } from './json-at.ts'

const PREFIX = 'kustomize.toolkit.fluxcd.io/'

/**
 * Why Flux would leave the object alone; undefined: it would not. Its switches are labels or annotations, in git or
 * on the live object, and their values ignore case (fluxcd/pkg ssa/utils AnyInMetadata).
 */
export function skipReason(desired: Json, live: Json | undefined): string | undefined {
  for (const [object, where] of [
    [desired, ''],
    [live, ' on the live object'],
  ] as const) {
    if (object !== undefined && hasSwitch(object, 'reconcile', 'disabled'))
      return `${PREFIX}reconcile: disabled${where}`
    if (object !== undefined && hasSwitch(object, 'ssa', 'ignore')) return `${PREFIX}ssa: Ignore${where}`
  }
  if (live !== undefined && hasSwitch(desired, 'ssa', 'ifnotpresent'))
    return `${PREFIX}ssa: IfNotPresent, and it is there`
  return undefined
}

/** Why Flux would not prune the live object; undefined: it would. */
export function keepReason(live: Json): string | undefined {
  if (hasSwitch(live, 'prune', 'disabled')) return `${PREFIX}prune: disabled`
  return skipReason(live, undefined)
}

function hasSwitch(object: Json, key: string, value: string): boolean {
  return ['labels', 'annotations'].some(part => {
    const set = mapAt(object, 'metadata', part)[`${PREFIX}${key}`]
    return typeof set === 'string' && set.toLowerCase() === value
  })
}
