import { describe, expect, test } from 'vitest'
import { type GeneratedFleet, generatedFleet, inputOf, withTree } from '../../../../bench/fleet/generated-fleet.ts'
import { FLEET_URL } from '../../../../bench/fleet/platform-files.ts'
import { type Work, work, workSince } from '../../../../src/base/work.ts'
import { type FleetInput, revisionSetOf } from '../../../../src/fleet/model/input.ts'
import { EvaluateSession } from '../../../../src/verdict/evaluate-sides.ts'
import { inputOf as filesInput } from '../../../fleet/fleet-of.ts'

const TEAM = 'https://github.com/acme/team-0001'

/** What each change costs a session that has seen one like it, and what the first verdict costs. */
class Measured {
  readonly cold: Work
  readonly #session = new EvaluateSession()
  readonly #generated: GeneratedFleet
  readonly #base: FleetInput

  constructor(generated: GeneratedFleet, violations: number) {
    this.#generated = generated
    this.#base = inputOf(generated)
    const { verdict, cost } = this.#evaluate(this.#base)
    expect(verdict.violations).toHaveLength(violations)
    this.cold = cost
  }

  /** A line of a file of a repository: what the second change of it costs. */
  change(url: string, path: string, line: string, changed = (run: number) => `${line}${run}`): Work {
    const files = url === FLEET_URL ? this.#generated.fleet : this.#generated.tenants.get(url)!
    expect(files.get(path)).toContain(line)
    const change = (run: number) =>
      withTree(this.#base, url, new Map([...files, [path, files.get(path)!.replace(line, changed(run))]]))
    this.#evaluate(change(1))
    const { verdict, cost } = this.#evaluate(change(2))
    expect(verdict.result).toBe('pass')
    return cost
  }

  #evaluate(head: FleetInput) {
    const start = { ...work }
    const before = this.#session.build(this.#base)
    const built = this.#session.build({ ...head, config: this.#base.fleet.tree })
    const base = head === this.#base ? {} : { base: before }
    const { verdict } = this.#session.evaluateFleet(built, { ...base, revisionSet: revisionSetOf(head) })
    return { verdict, cost: workSince(start) }
  }
}

/** Every tenth tenant runs a privileged Pod on staging. */
function withFindings(generated: GeneratedFleet): GeneratedFleet {
  const tenants = [...generated.tenants].map(([url, files], index) => {
    const base = files.get('base/web.yaml')!
    const bad = base.replace('allowPrivilegeEscalation: false', 'privileged: true')
    expect(bad).not.toBe(base)
    return [url, index % 10 === 0 ? new Map([...files, ['base/web.yaml', bad]]) : files] as const
  })
  return { ...generated, tenants: new Map(tenants) }
}

describe.each([
  ['without findings', 50, (fleet: GeneratedFleet) => fleet, 0],
  ['with a finding of every tenth tenant on each cluster', 20, withFindings, 0.2],
])('a fleet %s', { timeout: 120_000 }, (_name, size, made, violations) => {
  const more = 4
  const [small, large] = [size, more * size].map(each => new Measured(made(generatedFleet(each)), each * violations))

  test('the first verdict grows with the fleet, and no faster', () => {
    for (const [name, count] of Object.entries(small!.cold) as [keyof Work, number][]) {
      const most = Math.max(1, count * more * 1.05)
      expect(large!.cold[name], `${name}: ${count} for ${size} tenants`).toBeLessThanOrEqual(most)
    }
    expect(small!.cold).toMatchObject({ walked: 1, rendered: 2 * size + 8 })
  })

  test('one changed file of a tenant costs the same in a fleet of any size', () => {
    const cost = small!.change(TEAM, 'staging/replicas.yaml', 'replicas: 3')
    // its Kustomization on one cluster; what reads its repository
    expect(cost).toMatchObject({ rendered: 1, walked: 0, asked: 2, parsed: 2, objects: 7 })
    expect(cost.rules).toBeLessThan(400)
    expect(large!.change(TEAM, 'staging/replicas.yaml', 'replicas: 3')).toEqual(cost)
  })

  test('one changed file of the platform costs what reads it', () => {
    const cost = small!.change(FLEET_URL, 'infrastructure/classes.yaml', 'value: 1000')
    expect(cost).toMatchObject({ rendered: 2, walked: 0 })
    expect(cost.asked).toBeLessThan(6)
    expect(large!.change(FLEET_URL, 'infrastructure/classes.yaml', 'value: 1000')).toEqual(cost)
  })

  test("one tenant's file of an overlay of all asks rules about what it changes, in a fleet of any size", () => {
    const change = (fleet: Measured) =>
      fleet.change(FLEET_URL, 'tenants/base/team-0001/rbac.yaml', 'gotk-reconciler', run => `gotk-reconciler${run}`)
    const [few, many] = [change(small!), change(large!)]
    // the objects of a tenant in the overlay, on two clusters
    expect(few).toMatchObject({ rendered: 2, walked: 0, objects: 10 })
    expect([many.objects, many.rules, many.admitted]).toEqual([few.objects, few.rules, few.admitted])
  })

  test('a file that every overlay reads costs what it changes in each of them', () => {
    const change = (fleet: Measured) =>
      fleet.change(
        FLEET_URL,
        'tenants/staging/kustomization.yaml',
        'resources:',
        run => `commonAnnotations:\n  run: r${run}\nresources:`,
      )
    const [few, many] = [change(small!), change(large!)]
    for (const name of Object.keys(few) as (keyof Work)[])
      expect(many[name], `${name}: ${few[name]} for ${size} tenants`).toBeLessThanOrEqual(more * 1.05 * few[name] + 2)
    // of one of two clusters
    expect(few.rules).toBeLessThan(0.6 * small!.cold.rules)
  })
})

test('what bootstrap leaves out of a cluster is read once, not for each change', () => {
  const placeholder = (name: string) => [`clusters/one/flux-system/${name}`, '# flux bootstrap writes it\n'] as const
  const files = (text: string) =>
    Object.fromEntries([
      ...['gotk-components.yaml', 'gotk-sync.yaml'].map(placeholder),
      ['clusters/one/flux-system/kustomization.yaml', 'resources: [gotk-components.yaml, gotk-sync.yaml]\n'],
      [
        'clusters/one/a.yaml',
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {a: ${text}}\n`,
      ],
    ])
  const session = new EvaluateSession()
  const cost = (text: string) => {
    const start = { ...work }
    session.build(filesInput({ fleet: files(text) }))
    return workSince(start)
  }
  expect(cost('b').characters).toBeGreaterThan(5_000)
  const again = cost('c')
  expect(again.walked).toBe(1)
  expect(again.characters).toBeLessThan(1_000)
})
