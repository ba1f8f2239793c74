import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { BailiwickError } from '../../src/base/errors.ts'
import { type RenderResult, renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { readFolder } from '../../src/git/folder-tree.ts'
import { openSnapshot } from '../../src/git/tree.ts'
import { jsonNode, requestFacts } from '../../src/surface/cli/render-request.ts'
import { exactOf } from '../../src/surface/cli/rendering.ts'
import { findProgram } from '../../test/repository/runner/programs.ts'
import { Chance } from './generate/chance.ts'
import { fluxTrials } from './generate/flux.ts'
import { type Damaged, insertPart } from './generate/insert-part.ts'
import { mutate } from './generate/mutate.ts'
import { FEATURE_NAMES } from './generate/overlay.ts'
import { LineProgram } from './line-program.ts'
import { firstDifference, type Result, shapeOf } from './outcome.ts'
import { type Plain, readJsonExactly } from './read-output.ts'
import type { Trial } from './trial.ts'

const USAGE = 'usage: npm run differential:holes -- [--cases N] [--seed S] [--show N]'

/** What became of one case: `equal` and `skipped` aside, something is wrong. */
interface Case {
  readonly verdict:
    | 'equal'
    | 'skipped'
    | 'other objects'
    | 'refused unforeseen'
    | 'built unforeseen'
    | 'whole'
    | 'not left out'
  readonly part: string
  readonly why: string
  readonly trial?: Trial
}

/**
 * `npm run differential:holes`: generated builds with a part in them that fails. What we give without it must equal
 * Flux's build of the same files without the part, and no hole may be fatal where Flux builds. That Flux refuses more
 * than we foresee is counted, and nothing wrong: what is not fatal is not applied either.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: '500' },
      seed: { type: 'string', default: '1' },
      show: { type: 'string', default: '3' },
    },
  })
  const program = findProgram('flux-render')
  if (!program) {
    console.error(`${USAGE}\n  needs flux-render, see .ci/run`)
    return 2
  }
  const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holes-'))
  const flux = new LineProgram([program])
  const one = fc.tuple(fluxTrials(FEATURE_NAMES), fc.gen()).map(([trial, g]) => [trial, new Chance(g)] as const)
  const cases: Case[] = []
  try {
    for (const [trial, chance] of fc.sample(one, {
      seed: Number(values.seed),
      numRuns: Number(values.cases),
      unbiased: true,
    })) {
      // others ask only for what is packed
      if (!trial.flux?.kustomization) continue
      const damaged = insertPart(trial, chance)
      if (damaged) cases.push(await heldWithout(damaged, flux, scratch))
      cases.push(await heldToRefusal(mutated(trial, chance), flux, scratch))
    }
  } finally {
    flux.close()
    rmSync(scratch, { recursive: true })
  }
  return report(cases, Number(values.show))
}

function mutated(trial: Trial, chance: Chance): Trial {
  const path = chance.pick(Object.keys(trial.files))
  const content = trial.files[path]
  return typeof content === 'string' ? { ...trial, files: { ...trial.files, [path]: mutate(content, chance) } } : trial
}

/** What is left of the damaged build beside what Flux makes of the whole one. */
async function heldWithout({ whole, damaged, part }: Damaged, flux: LineProgram, scratch: string): Promise<Case> {
  const expected = await asked(whole, flux, scratch)
  if (!('objects' in expected)) return { verdict: 'skipped', part, why: 'the whole does not build' }
  const strict = await ours(whole, scratch)
  if (!('holes' in strict) || strict.holes.length > 0)
    return { verdict: 'skipped', part, why: 'we do not build the whole' }
  const left = await ours(damaged, scratch)
  if (left instanceof BailiwickError) return { verdict: 'whole', part, why: left.message, trial: damaged }
  if (left.holes.length === 0) return { verdict: 'skipped', part, why: 'it does not fail' }
  const difference = firstDifference(plainOf(left), expected.objects ?? [])
  if (difference !== undefined) return { verdict: 'other objects', part, why: difference, trial: damaged }
  if (left.holes.some(({ remote }) => remote !== undefined)) return { verdict: 'equal', part, why: '' }
  return heldToRefusal(damaged, flux, scratch, part)
}

/** Whether Flux refuses what we call fatal, and nothing else. */
async function heldToRefusal(trial: Trial, flux: LineProgram, scratch: string, part = 'damaged text'): Promise<Case> {
  const left = await ours(trial, scratch)
  if (left instanceof BailiwickError || left.holes.length === 0) return { verdict: 'skipped', part, why: 'no part' }
  const real = await asked(trial, flux, scratch)
  const isFatal = left.holes.some(hole => hole.fatal)
  const told = left.holes
    .map(({ error, fatal }) => `${fatal ? 'fatal' : 'ours'} ${error.code}: ${error.message}`)
    .join('; ')
  // the API server is not there to refuse the Kustomization itself
  if (left.holes.some(({ error }) => /API server/.test(error.message)))
    return { verdict: 'skipped', part, why: 'the API server' }
  if ('objects' in real && isFatal) return { verdict: 'built unforeseen', part, why: told, trial }
  if ('error' in real && !isFatal) return { verdict: 'refused unforeseen', part, why: `${told} | ${real.error}`, trial }
  return { verdict: 'equal', part, why: '' }
}

async function ours(trial: Trial, scratch: string): Promise<RenderResult | BailiwickError> {
  return inFolder(trial, scratch, async root => {
    const request = jsonNode(JSON.stringify({ root, ...trial.flux }), {
      repository: '',
      file: 'request',
      line: 1,
      column: 1,
    })
    const kustomization = request.type === 'map' ? request.fields.get('kustomization')?.value : undefined
    if (request.type !== 'map' || kustomization?.type !== 'map') throw new Error('a request without Kustomization')
    const tree = openSnapshot(await readFolder(root))
    const { ignore } = trial.flux as { ignore?: string }
    const artifact = { repository: '', tree, ...(ignore === undefined ? {} : { ignore }) }
    try {
      return renderWithHoles(artifact, { root: kustomization, trail: [] }, requestFacts(request, kustomization))
    } catch (error) {
      if (error instanceof BailiwickError) return error
      throw error
    }
  })
}

const plainOf = ({ objects }: RenderResult): Plain[] =>
  objects.map(({ root }) => readJsonExactly(JSON.stringify(exactOf(root))))

const asked = (trial: Trial, flux: LineProgram, scratch: string): Promise<Result> =>
  inFolder(trial, scratch, root => flux.ask({ root, ...trial.flux }))

async function inFolder<T>({ files }: Trial, scratch: string, step: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(scratch, 'case-'))
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
    return await step(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

/** Prints the counts, and says whether anything is wrong. */
function report(cases: readonly Case[], show: number): number {
  const groups = Map.groupBy(cases, ({ verdict, part, why }) => `${verdict} | ${part} | ${shapeOf(why).slice(0, 160)}`)
  const counts = Map.groupBy(cases, ({ verdict }) => verdict)
  console.log([...counts].map(([verdict, members]) => `${members.length} ${verdict}`).join(', '))
  const wrong = [...groups]
    .filter(([key]) => !/^(?:equal|skipped) /.test(key))
    .sort(([, a], [, b]) => b.length - a.length)
  for (const [key, members] of wrong) console.log(`  ${members.length} ${key}`)
  for (const [key, members] of wrong.slice(0, show)) {
    const smallest = members.toSorted((a, b) => JSON.stringify(a.trial).length - JSON.stringify(b.trial).length)[0]!
    console.log(`\n${key}\n${smallest.why}`)
    for (const [path, content] of Object.entries(smallest.trial?.files ?? {}))
      console.log(`--- ${path}\n${String(content)}`)
    console.log(JSON.stringify(smallest.trial?.flux))
  }
  return wrong.length > 0 ? 1 : 0
}

process.exitCode = await main()
