import type { Json } from '../../../src/kube/node.ts'
import { type Act, act, map, type SameCase, type SameStep } from './step.ts'

/** A random history of a tenant, and the steps after which the two must agree. */
export interface History {
  readonly seed: number
  readonly scenario: SameCase
  /** What was done at each step, for a message. */
  readonly told: readonly string[]
  readonly settled: ReadonlySet<number>
  /** Names of objects that moved up to each step. */
  readonly moved: readonly ReadonlySet<string>[]
}

interface Node {
  readonly name: string
  readonly objects: Map<string, string>
  spec: { [field: string]: Json }
  /** Names of what it may have left on the cluster. */
  readonly used: Set<string>
  isThere: boolean
}

const NAMES = ['app', 'web', 'ops'] as const
const STEPS = 6

/** The same seed is the same history. */
export function historyOf(seed: number): History {
  const random = numbers(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const oneOf = <T>(items: readonly T[]): T | undefined => items[below(items.length)]
  const nodes: Node[] = NAMES.map(name => ({ name, objects: new Map(), spec: {}, used: new Set(), isThere: true }))
  let count = 0
  const steps: SameStep[] = []
  const told: string[] = []
  const settled = new Set<number>()
  const moved: Set<string>[] = []
  const create = (node: Node) => {
    // what one Kustomization left is never another one's
    const name = below(4) === 0 ? oneOf([...node.used]) : undefined
    const fresh = name ?? `m${count++}`
    node.used.add(fresh)
    node.objects.set(fresh, `v${below(9)}`)
    return `${node.name} creates ${fresh}`
  }
  for (const node of nodes) create(node)
  for (let index = 0; index < STEPS; index++) {
    const before: Act[] = []
    const gone: string[] = []
    const texts: string[] = []
    const first = new Set<string>()
    const objects = new Set(moved.at(-1))
    for (let left = index === 0 ? 2 : 1 + below(3); left > 0; left--) {
      const node = oneOf(nodes.filter(({ isThere }) => isThere))
      if (!node || gone.includes(node.name)) continue
      const object = oneOf([...node.objects.keys()])
      switch (below(14)) {
        case 0:
        case 1:
          texts.push(create(node))
          break
        case 2:
        case 3:
          if (object) node.objects.set(object, `v${below(9)}-${index}`)
          texts.push(`${node.name} changes ${object}`)
          break
        case 4:
          if (object) node.objects.delete(object)
          texts.push(`${node.name} removes ${object}`)
          break
        case 5:
          if (object) node.objects.delete(object)
          texts.push(`${node.name} renames ${object}: ${create(node)}`)
          break
        case 6: {
          const to = oneOf(nodes.filter(one => one !== node && one.isThere && one.spec.suspend !== true))
          const isPruned = node.spec.prune !== false && node.spec.suspend !== true && node.spec.dependsOn === undefined
          if (!object || !to || !isPruned || to.spec.targetNamespace !== node.spec.targetNamespace) break
          to.objects.set(object, node.objects.get(object)!)
          to.used.add(object)
          node.objects.delete(object)
          node.used.delete(object)
          first.add(to.name)
          objects.add(object)
          texts.push(`${object} moves from ${node.name} to ${to.name}`)
          break
        }
        case 7: {
          const field = oneOf(['suspend', 'wait', 'force'])!
          node.spec = { ...node.spec, [field]: node.spec[field] !== true }
          texts.push(`${node.name} ${field} ${node.spec[field]}`)
          break
        }
        case 8:
          node.spec = { ...node.spec, prune: node.spec.prune === false }
          texts.push(`${node.name} prune ${node.spec.prune}`)
          break
        case 9: {
          const on = oneOf([...NAMES.slice(0, NAMES.indexOf(node.name as 'app')), 'absent', undefined])
          const { dependsOn: _, ...rest } = node.spec
          node.spec = on === undefined ? rest : { ...rest, dependsOn: [{ name: on }] }
          texts.push(`${node.name} depends on ${on}`)
          break
        }
        case 10:
        case 11: {
          const drift = object && index > 0 ? driftOf(object, below(4)) : undefined
          if (drift && node.spec.targetNamespace === undefined) before.push(drift)
          texts.push(`somebody changes ${object}`)
          break
        }
        case 12: {
          if (index === 0) break
          node.isThere = false
          gone.push(node.name)
          texts.push(`${node.name} is deleted`)
          break
        }
        default: {
          const { targetNamespace, ...rest } = node.spec
          node.spec = targetNamespace === undefined ? { ...rest, targetNamespace: 'NS-two' } : rest
          texts.push(`${node.name} targets ${node.spec.targetNamespace ?? 'NS'}`)
        }
      }
    }
    const back = index > 0 && below(3) === 0 ? nodes.find(one => !one.isThere && !gone.includes(one.name)) : undefined
    if (back) {
      Object.assign(back, { isThere: true, spec: {} })
      back.objects.clear()
      texts.push(`${back.name} is made again: ${create(back)}`)
    }
    steps.push({ ...stepOf(nodes, gone, before), first: [...first] })
    told.push(texts.join(', '))
    moved.push(objects)
    settled.add(steps.length - 1)
  }
  return { seed, scenario: { steps, hasSecond: true }, told, settled, moved }
}

function driftOf(name: string, how: number): Act {
  if (how === 0) return maybe(act.remove('ConfigMap', name))
  if (how === 1) return maybe(act.patch('ConfigMap', name, { data: { key: 'drift' } }))
  if (how === 2) return maybe(act.patch('ConfigMap', name, { data: { more: 'x' } }))
  return maybe(act.patch('ConfigMap', name, { metadata: { labels: { hand: 'made' } } }, 'robot'))
}

const maybe = (one: Act): Act => ({ ...one, isOptional: true })

function stepOf(nodes: readonly Node[], gone: readonly string[], before: readonly Act[]): SameStep {
  const more: { [name: string]: NonNullable<SameStep['more']>[string] } = {}
  for (const { name, objects, spec, isThere } of nodes) {
    if (gone.includes(name)) more[name] = { isDeleted: true }
    else if (isThere) more[name] = { files: filesOf(objects), spec: { ...spec } }
  }
  return { more, before }
}

function filesOf(objects: ReadonlyMap<string, string>): Record<string, string> {
  if (objects.size === 0) return { 'kustomization.yaml': 'resources: []\n' }
  return Object.fromEntries([...objects].map(([name, value]) => [`${name}.yaml`, map(name, `key: ${value}`)]))
}

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
