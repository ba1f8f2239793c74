import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { revisionSetOf } from '../../fleet/model/input.ts'
import { BASELINE_FILE, type Baseline, baselineOf, isAccepted } from '../../rules/model/baseline.ts'
import type { Finding, Verdict } from '../../rules/model/finding.ts'
import { baselineText, isAcceptable, legacyViolations } from '../../verdict/baseline.ts'
import { isHeavier } from '../../verdict/findings.ts'
import { type Command, today } from './command.ts'
import { FLEET, readFleet } from './read-fleet.ts'
import { errorLine, printLines } from './terminal.ts'
import { writeInside } from './write-inside.ts'

/** `bailiwick baseline`: records the existing violations of a fleet, so that only new or worse ones block. */
export const baseline: Command = {
  name: 'baseline',
  usage: [['[--check]', 'write nothing; exit 1 if the file would grow'], ...FLEET],
  async run(given, io) {
    const { fleet, input, dir, tree, here } = await readFleet(given, io.cwd)
    const { verdict, violations } = legacyViolations(fleet, { revisionSet: revisionSetOf(input), today: today() })
    if (verdict.clusters.length === 0) {
      const fix = 'Run it in a clone of the fleet, or name that folder: bailiwick baseline DIR.'
      throw new BailiwickError('path-not-found', verdict.errors[0]?.message ?? '', { fix })
    }
    const before = baselineOf(tree, here)
    const change = changeOf(verdict, violations, before)
    const undecided = verdict.errors.find(one => !isAccepted(before, one))
    if (undecided) io.stderr(`${errorLine(undecided)}\n`)
    printLines(io, change.lines)
    if (given.has('check')) return change.grows ? 1 : undecided ? 2 : 0
    if (violations.length + verdict.errors.length === 0 && !tree.entry(BASELINE_FILE)) {
      printLines(io, ['nothing to list, so no file was written'])
      return 0
    }
    const text = baselineText({ violations, errors: verdict.errors }, before, verdict.errors.length > 0)
    await writeInside(dir, BASELINE_FILE, text)
    return 0
  },
}

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

interface Change {
  readonly grows: boolean
  readonly lines: readonly string[]
}

function changeOf(verdict: Verdict, violations: readonly Finding[], before: Baseline): Change {
  const now = new Map(violations.map(one => [one.fingerprint, one]))
  const added = [...now.values()].filter(({ fingerprint, severity }) => {
    const known = before.get(fingerprint)
    const at = (of: typeof severity) => ({ level: 'violation' as const, severity: of })
    return !known || (known.severity !== undefined && isHeavier(at(severity), at(known.severity)))
  })
  const gone = [...before.keys()].filter(fingerprint => !now.has(fingerprint)).length
  const lines = [
    ...added.map(({ rule, node, message }) => `+ ${rule} (${visible(node)}): ${visible(message, 300)}`),
    `${BASELINE_FILE}: ${now.size} existing, ${added.length} more than before, ${gone} no longer needed`,
  ]
  if (verdict.errors.length > 0) {
    const accepted = new Set(verdict.errors.filter(isAcceptable).map(one => one.fingerprint)).size
    lines.push(
      `${counted(accepted, 'evaluation error')} accepted with their current content: other content is an error again, and the worker applies nothing of their Kustomizations`,
      'listed violations stay listed, because they may be in the part that was not evaluated',
    )
  }
  return { grows: added.length > 0, lines }
}
