import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FleetIndex } from '../../../../src/fleet/facts/fleet-index.ts'
import { type Asker, type Question, questionsOf, RecordedIndex } from '../../../../src/verdict/recorded-index.ts'
import { fleetOf } from '../../../fleet/fleet-of.ts'
import { miniFleet } from '../../../fleet/mini-fleet.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const sources = ['fleet-index', 'rights-index', 'object-index'].map(name =>
  readFileSync(join(ROOT, `src/fleet/facts/${name}.ts`), 'utf8'),
)

test('every public question of an index is recorded', () => {
  const index = new RecordedIndex(fleetOf(miniFleet()))
  const lines = sources.flatMap(source => [...source.matchAll(/^ {2}(?:get )?([a-zA-Z]\w*)\(.*\{$/gm)])
  const written = lines.map(([, name]) => name!)
  const questions = written.filter(name => name !== 'constructor')
  expect(questions.length).toBeGreaterThan(10)
  expect(questionsOf().sort()).toEqual([...new Set(questions)].sort())
  for (const name of questions) expect(Object.hasOwn(index.view, name), name).toBe(true)
})

test('an index keeps nothing but its facts, so no answer outlives them', () => {
  for (const source of sources) {
    const [body = ''] = /^export (?:abstract )?class[\s\S]*?^\}/m.exec(source) ?? []
    const fields = [...body.matchAll(/^ {2}(?:readonly |private |static )*#?\w+\s*(?::.*|=.*)?$/gm)].map(([line]) =>
      line.trim(),
    )
    expect(fields).toEqual(['readonly #facts: Facts'])
  }
  expect(Object.keys(new FleetIndex(fleetOf(miniFleet())))).toEqual([])
})

test('who got an answer that is another one after a change is stale, and nobody else', () => {
  const before = fleetOf(miniFleet())
  const index = new RecordedIndex(before)
  const ask = (question: () => unknown): Asker & { readonly stale: boolean } => {
    const asker = {
      questions: new Set<Question>(),
      stale: false,
      spoil() {
        this.stale = true
      },
    }
    index.asker = asker
    question()
    index.asker = undefined
    return asker
  }
  const owner = ask(() => index.view.ownerOf('staging', 'apps'))
  const other = ask(() => index.view.ownerOf('staging', 'nobody'))
  const both = ask(() => index.view.clusters())
  expect(owner.questions.size).toBe(1)
  index.move({
    ...before,
    clusters: before.clusters.map(cluster => ({ ...cluster, owners: new Map([['apps', 'somebody']]) })),
  })
  expect([owner.stale, other.stale, both.stale]).toEqual([true, false, false])
  expect(index.view.ownerOf('staging', 'apps')).toBe('somebody')
})

const COMMIT = /\bsource\.commit\b/g

test('rules ask the index for what other nodes render, and nobody for a commit', () => {
  const rules = globSync('src/rules/**/*.ts', { cwd: ROOT })
  expect(rules.length).toBeGreaterThan(30)
  const own: string[] = []
  for (const path of rules) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    // `node` is the one that the rule is asked about: another one of it is asked again
    const others = [...text.matchAll(/([\w)\]!?]+)\.objects\b/g)].map(([, whose]) => whose)
    own.push(...others.filter(whose => whose === 'node'))
    expect([path, ...others.filter(whose => whose !== 'node')]).toEqual([path])
    expect([path, ...text.matchAll(COMMIT)]).toEqual([path])
  }
  expect(own).not.toEqual([])
  expect('node.source.commit').toMatch(COMMIT)
})
