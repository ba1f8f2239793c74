import { firstNames } from '../../base/name-list.ts'
import { redactLines, visible } from '../../base/visible.ts'
import type { Tree } from '../../git/tree.ts'
import { display } from '../../kube/object.ts'
import { NOTHING_ELSEWHERE } from '../../report/formats/format-context.ts'
import { resultLine } from '../../report/text/findings.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import { applyFixes, type Fix, fixesOf } from '../../verdict/fixes.ts'
import { type CheckOptions, copyOptions, copyUsage } from './check-options.ts'
import type { Command, Io } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { type Checked, evaluateCopy } from './evaluate-copy.ts'
import { printLines } from './terminal.ts'
import { uninterrupted, writeAllInside } from './write-inside.ts'

/** Overlapping edits are applied in separate rounds; each round leaves fewer findings. */
const MAX_ROUNDS = 10
const MAX_CAUSES = 5

/** `bailiwick fix`: shows or writes the edits that are certain to fix findings. */
export const fix: Command = {
  name: 'fix',
  usage: copyUsage(
    ['[--apply]', 'write the edits into the files, and evaluate again; without it they are only shown'],
    ['[--base REF]', 'only findings that are new since this commit'],
  ),
  notes: `Only edits of files of DIR are made, and only where the edit is certain: the other findings need a person. Exit code, after the edits: 0 pass, 1 violations, 2 could not be evaluated.`,
  async run(given, io) {
    const options = copyOptions(given, io.cwd)
    const isApplied = given.has('apply')
    const { made, left, checked } = isApplied ? await applied(options, io) : await proposed(options, io)
    const { result } = checked.verdict
    if (given.format === 'json')
      io.stdout(
        `${JSON.stringify({ applied: isApplied, fixes: made.map(plain), notWritten: left.map(({ fix, causes }) => ({ ...plain(fix), causes })), result }, null, 2)}\n`,
      )
    else {
      io.stdout(
        made
          .flatMap(fixLines)
          .map(line => `${line}\n`)
          .join(''),
      )
      printLines(io, [...left.map(leftLine), ...totals({ made, left, checked }, isApplied)])
    }
    return { pass: 0, fail: 1, error: 2 }[result]
  },
}

interface Made {
  readonly made: readonly Fix[]
  /** Edits that are not written, each with the findings that it would cause. */
  readonly left: readonly { readonly fix: Fix; readonly causes: readonly string[] }[]
  readonly checked: Checked
}

async function evaluated(options: CheckOptions, io: Io): Promise<Checked> {
  const env = io.env ?? process.env
  io.progress?.('reading and rendering the fleet')
  return evaluateCopy(options, await ageIdentities(options.sopsAgeKeyFile, env), env)
}

async function proposed(options: CheckOptions, io: Io): Promise<Made> {
  const checked = await evaluated(options, io)
  return { made: certainFixes(checked), left: [], checked }
}

/** Writes the edits that cause no other finding, in rounds: an edit that was left out may be right after the others. */
async function applied(options: CheckOptions, io: Io): Promise<Made> {
  let all: Made = { made: [], left: [], checked: await evaluated(options, io) }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fixes = certainFixes(all.checked)
    const { made, left, checked } = await writeGood(all.checked, fixes, () => evaluated(options, io))
    all = { made: [...all.made, ...made], left, checked }
    if (made.length === 0) break
  }
  return all
}

/** Writes edits together if that causes no other finding, else in halves, to leave out only the one that does. */
async function writeGood(start: Checked, fixes: readonly Fix[], evaluate: () => Promise<Checked>): Promise<Made> {
  const byPath = [...Map.groupBy(fixes, ({ path }) => path).keys()]
  const write = (edits: readonly Fix[]) => {
    const own = (path: string) => edits.filter(edit => edit.path === path)
    const files = byPath.map(path => ({ path, content: applyFixes(textOf(start.tree, path) ?? '', own(path)) }))
    return writeAllInside(start.dir, files)
  }
  let good: Made = { made: [], left: [], checked: start }
  const attempt = async (edits: readonly Fix[]): Promise<void> => {
    const { made, left, checked } = good
    // Ctrl-C waits until the edits are evaluated, so that bad ones are not left in the files
    const { after, causes } = await uninterrupted(async () => {
      await write([...made, ...edits])
      const after = await evaluate()
      const causes = causedBy(checked, after)
      if (causes.length > 0) await write(made)
      return { after, causes }
    })
    const [fix] = edits
    if (causes.length === 0) good = { made: [...made, ...edits], left, checked: after }
    else if (edits.length === 1 && fix) good = { made, left: [...left, { fix, causes }], checked }
    else {
      const half = edits.length >> 1
      await attempt(edits.slice(0, half))
      await attempt(edits.slice(half))
    }
  }
  if (fixes.length > 0) await attempt(fixes)
  return good
}

/** New findings that became more, ignoring namespace, value and list position, which an edit may have changed. */
function causedBy({ verdict: before }: Checked, { verdict: after }: Checked): string[] {
  const alike = (finding: Finding | NodeFailure) =>
    JSON.stringify(
      'rule' in finding
        ? [
            finding.rule,
            finding.cluster,
            finding.tenant,
            finding.object.kind,
            finding.object.name,
            inAnyItem(finding.field),
          ]
        : [finding.code, finding.cluster, finding.tenant, finding.origin.repository, finding.origin.file],
    )
  const known = Map.groupBy([...before.violations, ...before.errors], alike)
  const found = [...after.violations, ...after.errors].filter(({ state }) => state === 'new')
  return [...Map.groupBy(found, alike)].flatMap(([key, all]) =>
    all.slice(known.get(key)?.length ?? 0).map(shownFinding),
  )
}

const inAnyItem = (field: string) => field.replace(/\/\d+(?=\/|$)/g, '/*')

function shownFinding(finding: Finding | NodeFailure): string {
  const { file, line } = finding.origin
  return `${'rule' in finding ? `violation[${finding.rule}]` : `error[${finding.code}]`} ${visible(file)}:${line}`
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

function totals({ made, left, checked: { verdict, own } }: Made, isApplied: boolean): string[] {
  const fixes = `${made.length} safe ${made.length === 1 ? 'fix' : 'fixes'}`
  const others = left.length > 0 ? `, ${left.length} not applied` : ''
  return [
    isApplied
      ? `${fixes} applied${others}`
      : `${fixes}${made.length > 0 ? '. Run the command again with --apply to write the files.' : ''}`,
    resultLine({ verdict, hidden: own?.elsewhere ?? NOTHING_ELSEWHERE }),
  ]
}

const rulesOf = ({ findings }: Fix) => [...new Set(findings.map(({ rule }) => rule))].join(', ')

function leftLine({ fix, causes }: Made['left'][number]): string {
  const others = firstNames(causes, MAX_CAUSES)
  return `${visible(fix.path)}:${fix.first}: ${rulesOf(fix)}: not written, it would cause ${others}`
}

function fixLines(fix: Fix): string[] {
  const { path, first, before, lines } = fix
  return [
    `${visible(path)}:${first}: ${rulesOf(fix)}`,
    ...redactLines(before).map(line => `- ${visible(line, 200)}`),
    ...redactLines(lines).map(line => `+ ${visible(line, 200)}`),
    '',
  ]
}

const plain = ({ path, first, last, before, lines, findings }: Fix) => ({
  ...{ path, first, last, before, lines },
  findings: findings.map(({ rule, object, message }) => ({ rule, object: display(object), message })),
})
