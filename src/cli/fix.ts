import { BailiwickError } from '../errors.ts'
import { applyFixes, type Fix, fixesOf } from '../fix/fixes-of.ts'
import type { Tree } from '../git/tree.ts'
import { display } from '../kube/object.ts'
import { redactLines } from '../message/redact.ts'
import { visible } from '../message/visible.ts'
import { NOTHING_ELSEWHERE } from '../report/formats/elsewhere.ts'
import { count, headlineOf } from '../report/text/headline.ts'
import { type CheckOptions, COPY_HELP, copyOptions } from './check-options.ts'
import type { Command, Io } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { type Checked, evaluateCopy } from './evaluate-copy.ts'
import { printLines } from './print-lines.ts'
import { uninterrupted } from './uninterrupted.ts'
import { writeAllInside } from './write-inside.ts'

const USAGE = 'fix [DIR] [--apply] [--base REF] [-o text|json] [OPTION]...'
/** Overlapping edits are applied in separate rounds; each round leaves fewer findings. */
const MAX_ROUNDS = 10

/** `bailiwick fix`: shows or writes the edits that are certain to fix findings. */
export const fix: Command = {
  name: 'fix',
  usage: `${USAGE}

  --apply        write the edits into the files, and evaluate again; without it they are only shown
  --base REF     only findings that are new since this commit
  -o text|json   text for people
${COPY_HELP}

Only edits of files of DIR are made, and only where the edit is certain: the other findings need a person. Exit code, after the edits: 0 pass, 1 violations, 2 could not be evaluated.`,
  async run(args, io) {
    const options = copyOptions(args, io.cwd, USAGE, ['apply'])
    const { output, apply: isApplied = false } = options
    const { made, checked } = isApplied ? await applied(options, io) : await proposed(options, io)
    const { result } = checked.verdict
    if (output === 'json')
      io.stdout(`${JSON.stringify({ applied: isApplied, fixes: made.map(plain), result }, null, 2)}\n`)
    else {
      io.stdout(
        made
          .flatMap(fixLines)
          .map(line => `${line}\n`)
          .join(''),
      )
      printLines(io, totals(made, isApplied, checked))
    }
    return { pass: 0, fail: 1, error: 2 }[result]
  },
}

interface Made {
  readonly made: readonly Fix[]
  readonly checked: Checked
}

async function evaluated(options: CheckOptions, io: Io): Promise<Checked> {
  const env = io.env ?? process.env
  io.progress?.('reading and rendering the fleet')
  return evaluateCopy(options, await ageIdentities(options.sopsAgeKeyFile, env), env)
}

async function proposed(options: CheckOptions, io: Io): Promise<Made> {
  const checked = await evaluated(options, io)
  return { made: certainFixes(checked), checked }
}

/** Writes the edits, and reverts a round that causes a new violation. */
async function applied(options: CheckOptions, io: Io): Promise<Made> {
  const made: Fix[] = []
  let checked = await evaluated(options, io)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fixes = certainFixes(checked)
    if (fixes.length === 0) break
    const { tree, dir } = checked
    const byPath = [...Map.groupBy(fixes, ({ path }) => path)]
    const before = byPath.map(([path]) => ({ path, content: textOf(tree, path) ?? '' }))
    const edited = byPath.map(([path, own]) => ({ path, content: applyFixes(textOf(tree, path) ?? '', own) }))
    const current = checked
    // a round is over when its edits are evaluated: those that are worse do not stay because of Ctrl-C
    const after = await uninterrupted(async () => {
      await writeAllInside(dir, edited)
      const next = await evaluated(options, io)
      if (isWorse(current, next)) await writeAllInside(dir, before)
      return next
    })
    if (isWorse(checked, after)) {
      throw new BailiwickError('usage', `${count(fixes.length, 'edit')} would cause other findings and were reverted`, {
        fix: 'Run bailiwick fix without --apply, and make the edits by hand.',
      })
    }
    made.push(...fixes)
    checked = after
  }
  return { made, checked }
}

function isWorse({ verdict: before }: Checked, { verdict: after }: Checked): boolean {
  const known = new Set([...before.violations, ...before.errors].map(({ fingerprint }) => fingerprint))
  return [...after.violations, ...after.errors].some(
    ({ state, fingerprint }) => state === 'new' && !known.has(fingerprint),
  )
}

const certainFixes = ({ verdict, own, evaluatedAs, tree }: Checked): Fix[] =>
  fixesOf(own?.verdict ?? verdict, evaluatedAs.repository, path => textOf(tree, path))

/** Undefined unless the path is a UTF-8 file: rewriting other bytes would corrupt them. */
function textOf(tree: Tree, path: string): string | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(tree.read(path))
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function totals(made: readonly Fix[], isApplied: boolean, { verdict, own }: Checked): string[] {
  const edits = count(made.length, 'certain edit')
  return [
    isApplied ? `${edits} written` : `${edits}${made.length > 0 ? '; run again with --apply to write' : ''}`,
    `${verdict.result}: ${headlineOf({ verdict, hidden: own?.elsewhere ?? NOTHING_ELSEWHERE })}`,
  ]
}

function fixLines({ path, first, before, lines, findings }: Fix): string[] {
  const rules = [...new Set(findings.map(({ rule }) => rule))].join(', ')
  return [
    `${visible(path)}:${first}: ${rules}`,
    ...redactLines(before).map(line => `- ${visible(line, 200)}`),
    ...redactLines(lines).map(line => `+ ${visible(line, 200)}`),
    '',
  ]
}

const plain = ({ path, first, last, before, lines, findings }: Fix) => ({
  ...{ path, first, last, before, lines },
  findings: findings.map(({ rule, object, message }) => ({ rule, object: display(object), message })),
})
