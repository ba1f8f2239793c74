import { basename, dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { BailiwickError } from '../../src/base/errors.ts'
import { askGit } from '../../src/git/run-git.ts'
import { remoteUrl } from '../../src/git/working-copy.ts'
import { cloneReader, clonesIn, directoryReader, type FromClones } from '../../src/surface/cli/working-sources.ts'
import { type Plant, plantAttacks, printGreens, printPlantTable } from './fleet-plants.ts'
import { FleetReplay } from './fleet-replay.ts'
import { printSummary } from './fleet-summary.ts'
import {
  type Evaluated,
  firstResult,
  NO_FLEET,
  printBlocks,
  printRule,
  printTable,
  printViolations,
  type Surveyed,
} from './fleet-table.ts'

const USAGE =
  'usage: npm run fleets -- [--history N] [--plant N] [--repos-dir DIR] [--rule ID] [--branch NAME] [--verbose] [URL=]DIR...'

/**
 * `npm run fleets`: what a first look at real fleets gives, zero configuration, one row for each repository; with
 * `--history N` its last N commits are evaluated as pull requests onto their first parents, and every block is listed. With
 * `--plant N`, ten attacks are planted in N folders of each sort; `--rule ID` lists every finding of a rule. `--repos-dir`
 * names the folder of the clones of other repositories. It ends with what all come to.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      history: { type: 'string' },
      plant: { type: 'string' },
      branch: { type: 'string' },
      'repos-dir': { type: 'string' },
      rule: { type: 'string' },
      verbose: { type: 'boolean' },
    },
  })
  const [history, plant] = [Number(values.history ?? '0'), Number(values.plant ?? '0')]
  if (positionals.length === 0 || ![history, plant].every(one => Number.isInteger(one) && one >= 0)) {
    console.error(USAGE)
    return 2
  }
  const clones =
    values['repos-dir'] === undefined ? [] : [cloneReader(await clonesIn(values['repos-dir']), directoryReader())]
  const surveyed: Awaited<ReturnType<typeof survey>>[] = []
  const unread: string[] = []
  for (const given of positionals) {
    const one = await survey(given, { ...values, history, plant, clones }).catch(error => unreadable(error))
    if (typeof one === 'string') {
      unread.push(`${given} (${one})`)
      continue
    }
    surveyed.push(one)
    printTable([one], surveyed.length === 1)
    if (values.verbose) printViolations(one)
    printBlocks(one)
    if (values.rule !== undefined) printRule(one, values.rule)
    printGreens(one.plants)
  }
  if (positionals.length > 1) {
    console.log('\nall repositories')
    printTable(surveyed, true)
    printSummary(surveyed, unread)
  }
  if (plant > 0) printPlantTable(surveyed.flatMap(({ plants }) => plants))
  return unread.length === 0 ? 0 : 1
}

/** Why a repository is not evaluated: a clone of which parts are missing ends no survey of others. */
function unreadable(error: unknown, before = ''): string {
  if (!(error instanceof BailiwickError)) throw error
  console.error(`${before}${error.message}`)
  return error.code
}

interface SurveyOptions {
  readonly branch?: string
  readonly history: number
  readonly plant: number
  readonly clones: readonly FromClones[]
}

async function survey(
  given: string,
  { branch, history, plant, clones }: SurveyOptions,
): Promise<Surveyed & { readonly plants: readonly Plant[] }> {
  const equals = given.indexOf('=')
  const dir = resolve(given.slice(equals + 1))
  const url = equals > 0 ? given.slice(0, equals) : ((await remoteUrl(dir)) ?? '')
  const name = url.replace(/^.*?([^/:]+\/[^/]+?)(?:\.git)?$/, '$1') || basename(dir) || dirname(dir)
  const replay = new FleetReplay(dir, url, branch ?? (await defaultBranch(dir)), clones)
  const started = process.cpuUsage()
  const { verdict } = await replay.evaluate('HEAD')
  const first = firstResult(verdict)
  const { user, system } = process.cpuUsage(started)
  const changes: Evaluated[] = []
  for (const commit of await lastCommits(dir, history)) {
    const change = await replay.change(commit).catch(error => unreadable(error, `${commit} is not counted: `))
    if (typeof change !== 'string') changes.push(change)
  }
  const plants = plant > 0 && first.result !== NO_FLEET ? await plantAttacks(name, await replay.open(), plant) : []
  return { name, seconds: (user + system) / 1e6, verdict, first, changes, plants }
}

async function defaultBranch(dir: string): Promise<string> {
  const head = await askGit(dir, ['symbolic-ref', '--short', 'HEAD'])
  return head?.toString().trim() || 'main'
}

/** Commits of the first-parent history that have a parent, latest first. */
async function lastCommits(dir: string, count: number): Promise<string[]> {
  if (count === 0) return []
  const lines = await askGit(dir, ['rev-list', '--first-parent', '--min-parents=1', `--max-count=${count}`, 'HEAD'])
  return lines?.toString().split('\n').filter(Boolean) ?? []
}

process.exitCode = await main()
