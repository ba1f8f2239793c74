import type { Origin } from '../../base/origin.ts'
import { programVersion } from '../../base/version.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { refKey } from '../../fleet/model/source-ref.ts'
import type { Tree } from '../../git/tree.ts'
import { changesLines } from '../../report/changes.ts'
import { elsewhereText } from '../../report/formats/format-context.ts'
import { formats } from '../../report/formats/formats.ts'
import { count, isNew } from '../../report/text/findings.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import { rules } from '../../rules/registry.ts'
import { CHECK, type CheckOptions, copyOptions, copyUsage, MAX_LINES } from './check-options.ts'
import type { Command, Io } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { type Checked, evaluateCopy, type OwnPart } from './evaluate-copy.ts'
import { errorLine } from './terminal.ts'

/** `bailiwick check`: evaluates a working copy of a fleet, or of a tenant's repository together with its fleet. */
export const check: Command = {
  name: 'check',
  usage: CHECK,
  async run(given, io) {
    return checkOnce(copyOptions(given, io.cwd), io)
  },
}

async function checkOnce(options: CheckOptions, io: Io): Promise<number> {
  const env = io.env ?? process.env
  io.progress?.('reading and rendering the fleet')
  const checked = await evaluateCopy(options, await ageIdentities(options.sopsAgeKeyFile, env), env)
  const { verdict, own } = checked
  const context = contextOf(checked, options, io)
  const print = formats.get(options.output)!
  // programs that read JSON filter by node themselves, so JSON lists everything
  if (own === undefined || options.output === 'json') io.stdout(print(verdict, context))
  else io.stdout(print(own.verdict, { ...context, elsewhere: own.elsewhere }))
  noteOutside(verdict, io)
  // once: the text has it, with its place and fix
  const isPrinted = options.output === 'text' && (own?.verdict ?? verdict).errors.some(isNew)
  if (verdict.result === 'error' && !isPrinted) io.stderr(`${undecidedLine(verdict, own)}\n`)
  const waits = options.failOnRequiredApproval && verdict.requiredApprovals.length > 0
  return { pass: waits ? 1 : 0, fail: 1, error: 2 }[verdict.result]
}

/** A program that reads only the exit code must not take a part for the whole. */
function noteOutside({ filter }: Verdict, io: Io): void {
  if (!filter || filter.outside.violations + filter.outside.errors === 0) return
  const { violations, errors } = filter.outside
  const what = [
    ...(violations > 0 ? [count(violations, 'violation')] : []),
    ...(errors > 0 ? [count(errors, 'evaluation error')] : []),
  ]
  io.stderr(`note: ${what.join(' and ')} outside of --cluster and --tenant; the exit code does not count this\n`)
}

/** What a format needs besides the verdict. Source lines are included only in output for people. */
function contextOf({ evaluatedAs, changes, fleet, tree, dir }: Checked, options: CheckOptions, io: Io) {
  const here = evaluatedAs.repository
  const written = writtenIn(fleet, tree, here)
  const isShown = io.isTerminal === true || options.verbose
  return {
    ...{ here, rules, version: programVersion(), evaluatedAs },
    ...(changes ? { changes } : {}),
    ...{ verbose: options.verbose, quiet: io.quiet === true, color: io.color === true },
    branchOf: written.branchOf,
    ...(isShown ? { excerpt: written.excerpt } : {}),
    ...(io.columns === undefined ? {} : { columns: io.columns }),
    // a pipe or a log can be searched
    ...(io.isTerminal === true && !options.verbose ? { lines: MAX_LINES } : {}),
    ...(io.hasLinks === true ? { folder: dir } : {}),
  }
}

/** The line on stderr that explains exit code 2. */
function undecidedLine({ errors, clusters }: Verdict, own: OwnPart | undefined): string {
  const fresh = (list: Verdict['errors']) => list.find(failure => failure.state === 'new')
  const decisive = fresh(errors)
  const others = own && elsewhereText(own.elsewhere)
  const first = fresh(own?.verdict.errors ?? errors) ?? errors[0]
  if (decisive && others !== undefined && !fresh(own?.verdict.errors ?? [])) {
    return errorLine({ code: decisive.code, message: others })
  }
  if (!first) return 'error[internal]: the verdict is "error" without one. This is a bug in bailiwick, please report it'
  const fix = 'Name a fleet repository; for the repository of a tenant add --fleet DIR.'
  return errorLine(clusters.length === 0 ? { ...first, fix } : first)
}

/** `bailiwick diff`: shows how a change alters the objects that the clusters get. */
export const diff: Command = {
  name: 'diff',
  usage: copyUsage(['[--base REF]', 'compare with this commit (default: HEAD, which shows uncommitted changes)']),
  notes: `Secret values are not shown. Exit code 0: done; 2: something could not be rendered, so the list may be incomplete.`,
  async run(given, io) {
    const options = { ...copyOptions(given, io.cwd), base: given.one('base') ?? 'HEAD' }
    const env = io.env ?? process.env
    io.progress?.('reading and rendering the fleet')
    const { changes, verdict } = await evaluateCopy(options, await ageIdentities(options.sopsAgeKeyFile, env), env)
    if (!changes) throw new Error('nothing was compared')
    if (given.format === 'json') io.stdout(`${JSON.stringify(changes, null, 2)}\n`)
    else
      io.stdout(
        `${changesLines(changes, true)
          .map(line => (io.color ? colored(line) : line))
          .join('\n')}\n`,
      )
    const { errors } = verdict
    for (const error of errors.filter(({ state }) => state === 'new')) io.stderr(`${errorLine(error)}\n`)
    return errors.length > 0 ? 2 : 0
  },
}

/** SGR codes by the first character of a line. */
const COLORS = new Map([
  ['+', '32'],
  ['-', '31'],
  ['~', '33'],
])

function colored(line: string): string {
  const sgr = COLORS.get(line.trimStart().slice(0, 1))
  return sgr === undefined ? line : `\u001b[${sgr}m${line}\u001b[0m`
}

/** No excerpt is shown from a larger file. */
const LARGEST = 1024 * 1024

/** Where in the fetched revisions a value was written. */
interface WrittenIn {
  /** The line that wrote it; undefined where several revisions differ. */
  readonly excerpt: (origin: Origin) => string | undefined
  /** The local branch that has the file, if the local revision does not. `node`: key of the node concerned. */
  readonly branchOf: (origin: Origin, node: string) => string | undefined
}

/** Finds the files of origins: in the local revision, or in the fetched ones of their repository. */
export function writtenIn(fleet: Fleet, own: Tree, here: string): WrittenIn {
  const files = new Map<string, readonly string[]>()
  const isHere = (repository: string) => repository === '' || repository === here
  const having = (repository: string, file: string) => {
    const others = fleet.repositories.filter(({ url, tree }) => url === (repository || here) && tree !== own)
    const all = [...(isHere(repository) ? [{ tree: own, ref: undefined }] : []), ...others]
    return all.filter(({ tree }) => tree.entry(file)?.type === 'file')
  }
  const linesOf = (repository: string, file: string): readonly string[] => {
    const key = JSON.stringify([repository, file])
    const known = files.get(key)
    if (known) return known
    const found = having(repository, file)
    const isOne = new Set(found.map(({ tree }) => tree.entry(file)!.id)).size === 1
    const bytes = isOne ? found[0]!.tree.read(file) : undefined
    const lines = bytes && bytes.length <= LARGEST ? new TextDecoder().decode(bytes).split('\n') : []
    files.set(key, lines)
    return lines
  }
  return {
    excerpt: ({ repository, file, line }) =>
      file === '' || line < 1 ? undefined : linesOf(repository, file)[line - 1],
    branchOf: ({ repository, file }, key) => {
      const found = file !== '' && isHere(repository) ? having(repository, file) : []
      if (found.some(({ ref }) => ref === undefined)) return undefined
      const node = fleet.nodes.find(one => one.key === key)
      const ofNode = node && found.find(({ ref }) => ref && refKey(ref) === refKey(node.source.ref))
      return (ofNode ?? (found.length === 1 ? found[0] : undefined))?.ref?.branch
    },
  }
}
