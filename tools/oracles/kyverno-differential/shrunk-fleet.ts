import type { Json } from '../../../src/kube/node.ts'
import type { PolicyFleet } from './policy-fleet.ts'

/** The smallest fleet found that still differs in one answer. `key`: `<policy>/<rule> <kind> <namespace>/<name>`. */
export function shrunkFleet(fleet: PolicyFleet, key: string, differs: (fleet: PolicyFleet) => boolean): PolicyFleet {
  const [rule = '', , object = ''] = key.split(' ')
  const [policy] = rule.split('/')
  const nameOf = (one: { [key: string]: Json }) => String((one.metadata as { [key: string]: Json }).name)
  let small: PolicyFleet = {
    ...fleet,
    policies: fleet.policies.filter(one => nameOf(one) === policy),
    objects: fleet.objects.filter(one => nameOf(one) === object.split('/')[1]),
  }
  if (!differs(small)) return fleet
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of candidates(small as unknown as Json)) {
      const next = candidate as unknown as PolicyFleet
      if (!isFleet(next) || !tried(next, differs)) continue
      small = next
      isSmaller = true
      break
    }
  }
  return small
}

const isFleet = ({ policies, objects, exceptions, namespaces }: PolicyFleet) =>
  policies?.length > 0 && objects?.length > 0 && exceptions !== undefined && namespaces !== undefined

function tried(fleet: PolicyFleet, differs: (fleet: PolicyFleet) => boolean): boolean {
  try {
    return differs(fleet)
  } catch {
    // a part is missing without which it is no fleet
    return false
  }
}

const KEPT = ['apiVersion', 'kind', 'name', 'operation', 'metadata']

/** Every value with one part left out, the largest first. */
function* candidates(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  for (const [key] of entries) {
    if (KEPT.includes(key)) continue
    yield isList
      ? value.filter((_, at) => String(at) !== key)
      : Object.fromEntries(entries.filter(([one]) => one !== key))
  }
  for (const [key, item] of entries) {
    for (const made of candidates(item)) {
      yield isList
        ? value.map((one, at) => (String(at) === key ? made : one))
        : Object.fromEntries(entries.map(([one, old]) => [one, one === key ? made : old]))
    }
  }
}
