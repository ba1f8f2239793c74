import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { additionsOnly, openCommit, resolveRef } from '../../git/commits.ts'
import type { Tree } from '../../git/tree.ts'
import {
  anchorOf,
  TRAIL_BRANCH,
  TRAIL_FOLDER,
  type TrailAnchor,
  type TrailEntry,
  type TrailFile,
} from '../../verdict/trail-entry.ts'
import { type ReadTrail, type TrailProblem, verifyTrail } from '../../verdict/verify-trail.ts'
import type { Command, Io } from './command.ts'
import { printLines, table } from './terminal.ts'
import { TEXT_OR_JSON } from './usage.ts'

const MAX_LISTED = 20

/** `bailiwick trail`: lists the decisions of a fleet, and verifies that none was changed or removed. */
export const trail: Command = {
  name: 'trail',
  usage: [
    ['verify|show', 'check that no entry was changed, removed, added or moved, or list the entries'],
    ['[DIR]', 'a clone of the fleet repository (default: the current folder)'],
    ['[--ref REF]', `branch or commit with the trail (default: ${TRAIL_BRANCH})`],
    [
      '[--anchors FILE|-]',
      'external ids of check runs, one for each line (-: standard input). They show whether entries were cut off at the end, or rewritten',
    ],
    TEXT_OR_JSON,
  ],
  notes: `Exit code 0: the trail is complete; 1: it was changed; 2: it could not be read.
Who wrote its commits cannot be verified in a clone: GitHub shows it for each commit, and the first report lists those that the
App did not write.`,
  async run(given, io) {
    const [verb, dir = '.'] = given.positionals
    const noted = await readAnchors(given.one('anchors'), io)
    const at = resolve(io.cwd, dir)
    const read = await readTrail(at, given.one('ref') ?? TRAIL_BRANCH, noted.anchors)
    const { entries, head, fleet, problems: found } = read
    const answer = { entries, head: head ?? null, fleet: fleet ?? null, problems: found, ...noted }
    if (given.format === 'json') io.stdout(`${JSON.stringify(answer, null, 2)}\n`)
    else printLines(io, verb === 'show' ? shown(answer, io.columns) : verified(answer))
    return found.length > 0 ? 1 : 0
  },
}

interface Noted {
  readonly anchors: readonly TrailAnchor[]
  /** Lines without a place in the trail. */
  readonly without: number
}

async function readAnchors(file: string | undefined, io: Io): Promise<Noted> {
  if (file === undefined) return { anchors: [], without: 0 }
  const lines = (file === '-' ? await readAll(io.stdin) : await readText(resolve(io.cwd, file))).split('\n')
  const present = lines.map(line => line.trim()).filter(line => line !== '')
  const anchors = present.map(anchorOf).filter(anchor => anchor !== undefined)
  return { anchors, without: present.length - anchors.length }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BailiwickError('usage', `--anchors: ${why}`, { fix: 'Name a file that exists.', cause })
  }
}

async function readAll(stream: Io['stdin']): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}

type Answer = { readonly entries: readonly TrailEntry[]; readonly problems: readonly TrailProblem[] } & Noted & {
    readonly head: TrailAnchor | null
    readonly fleet: number | null
  }

function verified({ entries, head, fleet, problems, anchors, without }: Answer): string[] {
  const last = head ? `entry ${head.seq}, hash ${head.hash}` : 'no entry'
  return [
    problems.length === 0 ? `The trail is complete: ${last}.` : `The trail was changed. Its end: ${last}.`,
    ...problemLines(problems),
    `${entries.length} entries, ${anchors.length} published places compared.`,
    ...(fleet === null
      ? []
      : [`They are of the fleet whose repository has the id ${fleet} (gh api repos/OWNER/REPO --jq .id).`]),
    ...(without > 0 ? [`${without} lines of --anchors name no place in the trail.`] : []),
    'Who wrote the commits is not verifiable in a clone. The first report of the fleet shows it.',
    ...(anchors.length === 0 ? ['Entries that were cut off at the end are only found with --anchors.'] : []),
  ]
}

function problemLines(problems: readonly TrailProblem[]): string[] {
  const lines = problems.slice(0, MAX_LISTED).map(({ file, line, message }) => {
    const place = file === '' ? '' : `${file}${line > 0 ? `:${line}` : ''}: `
    return `  ${visible(`${place}${message}`, 500)}`
  })
  const left = problems.length - lines.length
  return left > 0 ? [...lines, `  and ${left} more (-o json lists all)`] : lines
}

const TITLES = ['ENTRY', 'TIME', 'DECISION', 'RESULT', 'BY', 'ABOUT']

function shown({ entries, problems }: Answer, width?: number): string[] {
  const rows = entries.map(({ seq, at, kind, result, who, repository, commit, pull, cluster }) =>
    [
      String(seq),
      at.slice(0, 19),
      kind,
      result,
      who,
      `${repository}${pull === undefined ? '' : `#${pull}`} ${(commit ?? '').slice(0, 10)}${cluster === undefined ? '' : ` on ${cluster}`}`,
    ].map(cell => visible(cell, 300)),
  )
  return [
    ...(rows.length > 0 ? table(TITLES, rows, width) : ['The trail has no entry.']),
    ...(problems.length > 0 ? ['', 'The trail was changed:', ...problemLines(problems)] : []),
  ]
}

/** The trail at a ref of a clone, and every difference from the one that was written. */
async function readTrail(dir: string, ref: string, anchors: readonly TrailAnchor[] = []): Promise<ReadTrail> {
  const { commit } = await resolveRef(dir, ref)
  const { files, problems } = filesOf(await openCommit(dir, commit))
  const { entries, head, fleet, problems: found } = verifyTrail(files, anchors)
  return {
    entries,
    head,
    fleet,
    problems: [...problems, ...(await additionsOnly(dir, commit)).map(inHistory), ...found],
  }
}

/** The files of the trail; any other file on the branch is a problem, because nothing else is written there. */
function filesOf(tree: Tree): { files: readonly TrailFile[]; problems: readonly TrailProblem[] } {
  const files: TrailFile[] = []
  const problems: TrailProblem[] = []
  const all = tree.list('').flatMap(entry => (entry.path === TRAIL_FOLDER ? tree.list(entry.path) : [entry]))
  for (const { path, type } of all) {
    if (type === 'file' && path.startsWith(`${TRAIL_FOLDER}/`)) files.push({ path, bytes: tree.read(path) })
    else problems.push({ file: path, line: 0, message: 'not a file of the trail' })
  }
  return { files, problems }
}

const inHistory = (message: string): TrailProblem => ({ file: '', line: 0, message })
