import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyInLanes } from '../../workers/apply/node-turns.ts'

type Ordered = Pick<ApprovedNode, 'key' | 'name' | 'parent' | 'dependsOn' | 'suspend'>

function node(name: string, more: Partial<Ordered> = {}): Ordered {
  return { key: `staging/flux-system/${name}`, name, parent: null, dependsOn: [], suspend: false, ...more }
}

const key = (name: string) => `staging/flux-system/${name}`

/** One lane: the order in which nodes have their turn. */
async function walk(nodes: readonly Ordered[], failing: readonly string[] = []): Promise<string[]> {
  const steps: string[] = []
  await applyInLanes(nodes, {
    lanes: 1,
    held: ({ name }, reason) => steps.push(`${name}: ${reason}`),
    apply: async ({ name }) => {
      steps.push(name)
      return !failing.includes(name)
    },
  })
  return steps
}

/** Turns that end when they are told to. */
function stage(nodes: readonly Ordered[], { lanes, slowMs }: { lanes?: number; slowMs?: number } = {}) {
  const turns = new Map<string, PromiseWithResolvers<boolean>>()
  const begun: string[] = []
  const held: string[] = []
  const over = applyInLanes(nodes, {
    ...(lanes === undefined ? {} : { lanes }),
    ...(slowMs === undefined ? {} : { slowMs }),
    held: ({ name }, reason) => held.push(`${name}: ${reason}`),
    apply: ({ name }) => {
      begun.push(name)
      turns.set(name, Promise.withResolvers())
      return turns.get(name)!.promise
    },
  })
  const end = async (name: string, complete = true) => {
    turns.get(name)!.resolve(complete)
    await sleep(0)
  }
  return { over, begun, held, end, turns }
}

test('a node waits for its parent and for what it depends on', async () => {
  const nodes = [
    node('flux-system'),
    node('tenants', { parent: 'staging/flux-system/flux-system', dependsOn: ['staging/flux-system/infrastructure'] }),
    node('infrastructure', { parent: 'staging/flux-system/flux-system' }),
  ]
  expect(await walk(nodes)).toEqual(['flux-system', 'infrastructure', 'tenants'])
})

test('what depends on a node that was not applied completely is held, its neighbours are not', async () => {
  const nodes = [node('a'), node('b', { dependsOn: ['staging/flux-system/a'] }), node('c')]
  expect(await walk(nodes, ['a'])).toEqual(['a', 'c', 'b: its dependency staging/flux-system/a is not ready'])
})

test('a circle of dependencies ends, and says so', async () => {
  const nodes = [
    node('a', { dependsOn: ['staging/flux-system/b'] }),
    node('b', { dependsOn: ['staging/flux-system/a'] }),
  ]
  expect(await walk(nodes)).toEqual([
    'a: its dependency staging/flux-system/b is not ready',
    'b: its dependency staging/flux-system/a is not ready',
  ])
})

test('a suspended node is skipped, and what depends on it waits', async () => {
  const nodes = [node('a', { suspend: true }), node('b', { dependsOn: ['staging/flux-system/a'] })]
  expect(await walk(nodes)).toEqual(['a: it is suspended', 'b: its dependency staging/flux-system/a is not ready'])
})

test('what a suspended node renders is not to be applied now: its children are held with it', async () => {
  const nodes = [
    node('a', { suspend: true }),
    node('b', { parent: key('a') }),
    node('c', { parent: key('b'), dependsOn: [key('missing')] }),
  ]
  expect(await walk(nodes)).toEqual([
    'a: it is suspended',
    `b: ${key('a')} is suspended`,
    `c: ${key('a')} is suspended`,
  ])
})

test('nodes that do not wait for each other have their turn at once, as many as there are lanes', async () => {
  const nodes = ['a', 'b', 'c', 'd'].map(name => node(name))
  const { over, begun, end } = stage(nodes, { lanes: 3 })
  await sleep(0)
  expect(begun).toEqual(['a', 'b', 'c'])
  await end('b')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  for (const name of ['a', 'c', 'd']) await end(name)
  await over
})

test('a node that is slow delays only what waits for it', async () => {
  const nodes = [
    node('slow'),
    node('behind', { dependsOn: [key('slow')] }),
    node('child', { parent: key('slow') }),
    node('b'),
    node('c', { dependsOn: [key('b')] }),
  ]
  const { over, begun, end } = stage(nodes)
  await sleep(0)
  await end('b')
  await end('c')
  expect(begun).toEqual(['slow', 'b', 'c'])
  await end('slow')
  expect(begun.slice(3)).toEqual(['behind', 'child'])
  for (const name of ['behind', 'child']) await end(name)
  await over
})

test('who takes too long leaves the lane to the others', async () => {
  const { over, begun, end } = stage([node('hangs'), node('b')], { lanes: 1, slowMs: 1 })
  while (begun.length < 2) await sleep(1)
  await end('b')
  await end('hangs')
  await over
})

test('a parent that fails gives its turn to its children, and not to what depends on it', async () => {
  const nodes = [node('a'), node('child', { parent: key('a') }), node('after', { dependsOn: [key('a')] })]
  expect(await walk(nodes, ['a'])).toEqual(['a', 'child', `after: its dependency ${key('a')} is not ready`])
})

test('an error ends the run: nobody else begins, and what runs is waited for', async () => {
  const { over, begun, end, turns } = stage(
    ['a', 'b', 'c'].map(name => node(name)),
    { lanes: 2 },
  )
  await sleep(0)
  turns.get('a')!.reject(new Error('fenced'))
  let isOver = false
  void over
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  await sleep(5)
  expect(isOver).toBe(false)
  await end('b')
  await expect(over).rejects.toThrow('fenced')
  expect(begun).toEqual(['a', 'b'])
})

test('no nodes are no work, and ten thousand in a row end', async () => {
  await applyInLanes([], { held: () => {}, apply: async () => true })
  const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`)
  const chain = names.map((name, index) => node(name, { dependsOn: index === 0 ? [] : [key(names[index - 1]!)] }))
  expect(await walk(chain.reverse())).toEqual(names)
})

test('what depends on a suspended node goes on where the cluster says that it is ready', async () => {
  const nodes = [
    node('app', { suspend: true }),
    node('child', { parent: key('app') }),
    node('after', { dependsOn: [key('app')] }),
    node('afterChild', { dependsOn: [key('child')] }),
  ]
  const steps = async (ready: readonly string[]) => {
    const seen: string[] = []
    await applyInLanes(nodes, {
      lanes: 1,
      isReady: ({ name }) => ready.includes(name),
      held: ({ name }, reason) => seen.push(`${name}: ${reason}`),
      apply: async ({ name }) => seen.push(name) > 0,
    })
    return seen
  }
  const held = ['app: it is suspended', `child: ${key('app')} is suspended`]
  expect(await steps(['app', 'child'])).toEqual([...held, 'after', 'afterChild'])
  expect(await steps(['app'])).toEqual([...held, 'after', `afterChild: its dependency ${key('child')} is not ready`])
  expect(await steps([])).toContain(`after: its dependency ${key('app')} is not ready`)
})
