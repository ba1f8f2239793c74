import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { findProgram } from '../../test/repository/runner/programs.ts'
import { eachParallel } from './each-parallel.ts'
import { Chance } from './generate/chance.ts'
import { fluxTrials } from './generate/flux.ts'
import { hostileFluxTrials, hostileTrials } from './generate/hostile.ts'
import { mutate } from './generate/mutate.ts'
import { FEATURE_NAMES, overlays } from './generate/overlay.ts'
import { LinePrograms } from './line-program.ts'
import { type Outcome, shapeOf } from './outcome.ts'
import { checkVersion, runKustomize } from './run-kustomize.ts'
import { saveTrial } from './save-trial.ts'
import { shrink } from './shrink.ts'
import { hold, type Programs, type Trial } from './trial.ts'

const USAGE = `usage: npm run differential -- [--kustomize|--flux] [--hostile] [--cases N] [--seed S] [--only FEATURE,...] [--show N] [--failures] [--save NAME]
  features: ${FEATURE_NAMES.join(' ')}`
const BAILIWICK = [process.execPath, join(import.meta.dirname, '../../src/surface/cli/run.ts'), 'render', '--stdin']
const LANES = 2
/** Every so many cases the files of one are damaged. */
const MUTATE_EVERY = 4

interface Counted {
  readonly trial: Trial
  readonly outcome: Outcome
  readonly mutated: boolean
}

/** `npm run differential`: generated inputs through our engine and the real programs. Fails where an answer is wrong. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kustomize: { type: 'boolean' },
      flux: { type: 'boolean' },
      hostile: { type: 'boolean' },
      cases: { type: 'string', default: '2000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      show: { type: 'string', default: '5' },
      save: { type: 'string' },
      failures: { type: 'boolean' },
    },
  })
  const [kustomize, fluxRender] = [findProgram('kustomize'), findProgram('flux-render')]
  const only = values.only?.split(',')
  if (!kustomize || !fluxRender || only?.some(name => !FEATURE_NAMES.includes(name))) {
    console.error(`${USAGE}\n  needs kustomize and flux-render, see .ci/run`)
    return 2
  }
  checkVersion(kustomize)
  const both = !values.kustomize && !values.flux
  const kinds: readonly [string, fc.Arbitrary<Trial>][] = [
    ...(both || values.kustomize ? [['kustomize', values.hostile ? hostileTrials() : overlays(only)] as const] : []),
    ...(both || values.flux ? [['flux-render', values.hostile ? hostileFluxTrials() : fluxTrials(only)] as const] : []),
  ].map(([name, trials]) => [name, trials as fc.Arbitrary<Trial>])
  const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'differential-'))
  const [ours, real] = [new LinePrograms(BAILIWICK, 1), new LinePrograms([fluxRender], LANES)]
  const programs: Programs = {
    ours: request => ours.ask(request),
    kustomize: directory => runKustomize(kustomize, directory),
    fluxRender: request => real.ask(request),
  }
  let wrong = 0
  try {
    for (const [name, trials] of kinds) {
      const started = performance.now()
      const counted = await run(trials, Number(values.cases), Number(values.seed), trial =>
        hold(trial, programs, scratch),
      )
      const seconds = ((performance.now() - started) / 1000).toFixed(0)
      console.log(`\n${name}, seed ${values.seed}, ${seconds} s`)
      wrong += report(counted, values.failures ?? false)
      await showWrong(counted, Number(values.show), trial => hold(trial, programs, scratch), values.save)
    }
  } finally {
    ours.close()
    real.close()
    rmSync(scratch, { recursive: true })
  }
  return wrong > 0 ? 1 : 0
}

async function run(
  trials: fc.Arbitrary<Trial>,
  cases: number,
  seed: number,
  held: (trial: Trial) => Promise<Outcome>,
): Promise<Counted[]> {
  const one = fc.tuple(trials, fc.gen()).map(([trial, g]) => [trial, new Chance(g)] as const)
  const made = fc.sample(one, { seed, numRuns: cases, unbiased: true })
  return eachParallel(made, LANES, async ([whole, chance], index) => {
    const mutated = index % MUTATE_EVERY === MUTATE_EVERY - 1
    const trial = mutated ? damaged(whole, chance) : whole
    return { trial, mutated, outcome: await held(trial) }
  })
}

function damaged(trial: Trial, chance: Chance): Trial {
  const path = chance.pick(Object.keys(trial.files))
  const content = trial.files[path]
  return typeof content === 'string' ? { ...trial, files: { ...trial.files, [path]: mutate(content, chance) } } : trial
}

/** Prints the counts and returns how many are wrong. */
function report(counted: readonly Counted[], failures: boolean): number {
  for (const mutated of [false, true]) {
    const group = counted.filter(one => one.mutated === mutated)
    if (group.length === 0) continue
    const count = (verdict: Outcome['verdict']) => group.filter(({ outcome }) => outcome.verdict === verdict).length
    const builds = group.length - count('both fail')
    const share = ((100 * count('refused')) / Math.max(1, builds)).toFixed(1)
    console.log(
      `${group.length} ${mutated ? 'damaged inputs' : 'inputs'}: ${count('equal')} equal, ${count('both fail')} both fail, ` +
        `${count('refused')} refused (${share} % of what builds), ${count('wrong')} wrong`,
    )
    if (failures) printShapes('both fail', group, mutated ? 10 : 60)
    printShapes('refused', group, mutated ? 10 : 40)
  }
  return counted.filter(({ outcome }) => outcome.verdict === 'wrong').length
}

function printShapes(verdict: 'both fail' | 'refused', counted: readonly Counted[], limit: number): void {
  const shapes = counted.flatMap(({ outcome }) => (outcome.verdict === verdict ? [shapeOf(outcome.why)] : []))
  const groups = [...Map.groupBy(shapes, shape => shape)].sort(([, a], [, b]) => b.length - a.length)
  for (const [shape, members] of groups.slice(0, limit))
    console.log(`  ${verdict} ${members.length}: ${shortened(shape.trim())}`)
}

const shortened = (text: string): string => (text.length <= 300 ? text : `${text.slice(0, 120)} … ${text.slice(-180)}`)

/** The smallest inputs of the first few differences of each kind, as files. */
async function showWrong(
  counted: readonly Counted[],
  limit: number,
  held: (trial: Trial) => Promise<Outcome>,
  save: string | undefined,
): Promise<void> {
  const wrong = counted.flatMap(({ trial, outcome }) => (outcome.verdict === 'wrong' ? [{ trial, outcome }] : []))
  const kinds = [...Map.groupBy(wrong, ({ outcome }) => kindOf(outcome.difference))].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  for (const [kind, members] of kinds.slice(0, limit)) {
    console.log(`\nwrong ${members.length}: ${kind}`)
    const smallest = members.toSorted((a, b) => JSON.stringify(a.trial).length - JSON.stringify(b.trial).length)[0]!
    const fails = async (trial: Trial): Promise<boolean> => {
      const outcome = await held(trial)
      return outcome.verdict === 'wrong' && kindOf(outcome.difference) === kind
    }
    const shrunk = await shrink(smallest.trial, fails)
    const outcome = await held(shrunk)
    console.log(outcome.verdict === 'wrong' ? outcome.difference : '(not wrong any more)')
    for (const [path, content] of Object.entries(shrunk.files)) console.log(`--- ${path}\n${show(content)}`)
    if (shrunk.flux) console.log(`--- flux.json\n${JSON.stringify(shrunk.flux)}`)
    if (save === undefined) continue
    console.log(`saved as ${saveTrial(shrunk, save)}; now: npm run goldens -- ${save}`)
    return
  }
  for (const [kind, members] of kinds.slice(limit)) console.log(`\nwrong ${members.length}: ${kind}`)
}

/** Differences of the same kind: in the same field, or by the same message. */
function kindOf(difference: string): string {
  const [line = ''] = difference.split('\n')
  const field = / at (\/.*)$/.exec(line)?.[1]
  return field === undefined ? shapeOf(line).slice(0, 160) : `at ${field.replaceAll(/\d+/g, 'N')}`
}

const show = (content: string | Uint8Array): string =>
  typeof content === 'string' ? content : JSON.stringify(Buffer.from(content).toString('latin1'))

process.exitCode = await main()
