import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { ENGINE_VERSION } from '../fleet/model/engine-version.ts'
import { visible } from '../message/visible.ts'
import { type ReplayedVerdict, replayVerdict } from '../replay/replay-verdict.ts'
import type { TrailEntry } from '../trail/trail-entry.ts'
import { TRAIL_BRANCH } from '../trail/trail-files.ts'
import type { TrailInputs } from '../trail/trail-inputs.ts'
import { clonesIn } from './clones.ts'
import type { Command } from './command.ts'
import { givenRepository } from './given-repository.ts'
import { parseOptions } from './parse-options.ts'
import { printLines } from './print-lines.ts'
import { readTrail } from './read-trail.ts'
import { contentsOf, type RecordedContents } from './recorded-contents.ts'
import { usageError } from './usage-error.ts'

const USAGE = 'replay ENTRY [DIR] [--ref REF] [--repo URL=DIR]... [--repos-dir DIR] [-o text|json]'

/** `bailiwick replay`: makes a verdict of the trail again from the commits that it lists, and compares both. */
export const replay: Command = {
  name: 'replay',
  usage: `${USAGE}

  ENTRY            number of an entry, as \`bailiwick trail show\` lists it
  DIR              a clone of the fleet repository with the branch of the trail (default: the current folder)
  --ref REF        branch or commit with the trail (default: ${TRAIL_BRANCH})
  --repo URL=DIR   a clone of a repository that the verdict read, or the files of an artifact
  --repos-dir DIR  a folder of clones
  -o text|json     text for people

Nothing is fetched: a commit that no clone has is listed with the command that fetches it. Contents are compared with the git
trees of the entry. The answers of GitHub (who may read what, approvals, overrides) are taken from the entry.

Exit code 0: the verdict is the same; 1: it is another; 2: it cannot be made again.`,
  async run(args, io) {
    const options = parseOptions(args, ['ref', 'repo', 'repos-dir', 'output'], USAGE)
    const [number, dir = '.', more] = options.positionals
    const output = options.format(['text', 'json'])
    if (number === undefined || !/^[1-9]\d{0,14}$/.test(number)) throw usage('ENTRY is the number of an entry')
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra DIR`)
    const at = resolve(io.cwd, dir)
    const entry = await entryOf(at, options.one('ref') ?? TRAIL_BRANCH, Number(number))
    const inputs = inputsOf(entry)
    const given = options.all('repo').map(text => givenRepository(text, io.cwd).dir)
    const folder = options.one('repos-dir')
    const clones = folder === undefined ? [] : await clonesIn(resolve(io.cwd, folder))
    const contents = await contentsOf(entry, inputs, [at, ...given, ...clones.map(clone => clone.dir)])
    const found = compared(entry, inputs, replayVerdict(inputs, contents.treeOf))
    if (output === 'json') io.stdout(`${JSON.stringify(found, null, 2)}\n`)
    else printLines(io, linesOf(entry, found, contents))
    return found.same ? 0 : 1
  },
}

/** Nothing of a trail that was changed is believed. */
async function entryOf(dir: string, ref: string, number: number): Promise<TrailEntry> {
  const { entries, problems } = await readTrail(dir, ref)
  const [problem] = problems
  if (problem) {
    throw new BailiwickError('git-corrupt', `the trail was changed: ${visible(problem.message, 500)}`, {
      fix: 'Run `bailiwick trail verify` for all differences, and restore the branch.',
    })
  }
  const entry = entries[number - 1]
  if (entry) return entry
  throw usage(`entry ${number} does not exist: the trail has ${entries.length} entries`)
}

/** Throws where the verdict cannot be made again by this program, and says which one can. */
function inputsOf({ seq, kind, engine, inputs, inputsOmitted }: TrailEntry): TrailInputs {
  const refuse = (why: string, fix: string) =>
    new BailiwickError('replay', `entry ${seq} cannot be replayed: ${visible(why, 300)}`, { fix })
  if (kind !== 'verdict')
    throw refuse(`it is "${kind}". Only verdicts can be made again`, 'Name an entry of a verdict.')
  if (engine !== ENGINE_VERSION) {
    const why = `engine ${engine} made it, and this program has engine ${ENGINE_VERSION}`
    throw refuse(why, `Run a release of bailiwick with engine ${visible(engine, 100)}.`)
  }
  if (inputsOmitted) throw refuse('what it was made from was too long for the trail', 'Compare its commits by hand.')
  if (!inputs) {
    throw refuse('it was made before entries listed what a verdict depends on', 'Replay an entry of a later release.')
  }
  if (inputs.fleets.length > 0) return inputs
  throw refuse('the evaluation ended with an error before a fleet was evaluated', 'The check run shows the error.')
}

interface Compared {
  readonly entry: number
  readonly same: boolean
  readonly recorded: { readonly result: string; readonly verdict: string; readonly fleets: readonly string[] }
  readonly replayed: { readonly result: string; readonly verdict: string; readonly fleets: readonly string[] }
}

function compared({ seq, result }: TrailEntry, { verdict, fleets }: TrailInputs, again: ReplayedVerdict): Compared {
  const recorded = { result, verdict, fleets: fleets.map(fleet => fleet.verdict) }
  const { result: now, verdict: hash, fleets: hashes } = again
  const replayed = { result: now, verdict: hash, fleets: hashes }
  return { entry: seq, same: JSON.stringify(recorded) === JSON.stringify(replayed), recorded, replayed }
}

function linesOf(
  { seq, repository, pull, commit = '', at, engine }: TrailEntry,
  { same, recorded, replayed }: Compared,
  { read }: RecordedContents,
): string[] {
  const about = `${repository}${pull === undefined ? '' : `#${pull}`} at ${commit.slice(0, 10)}`
  const line = ({ result, verdict }: Compared['recorded']) => `${result}, hash ${verdict}`
  return [
    same ? `Entry ${seq}: the verdict is the same.` : `Entry ${seq}: the verdict is another.`,
    `  about     ${visible(about, 300)}, ${at}, engine ${visible(engine, 100)}`,
    `  recorded  ${visible(line(recorded), 300)}`,
    `  replayed  ${line(replayed)}`,
    `${read} contents were read and compared with their git trees. Facts of GitHub are those of the entry.`,
  ]
}

const usage = (message: string) => usageError(USAGE, message)
