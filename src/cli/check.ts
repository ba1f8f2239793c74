import { elsewhereText } from '../report/formats/elsewhere.ts'
import { formats } from '../report/formats/formats.ts'
import { count } from '../report/text/headline.ts'
import type { Verdict } from '../rules/model/finding.ts'
import { rules } from '../rules/registry.ts'
import { CHECK_HELP, CHECK_USAGE, type CheckOptions, checkOptions } from './check-options.ts'
import type { Command, Io } from './command.ts'
import { ageIdentities } from './encrypted-seals.ts'
import { errorLine } from './error-line.ts'
import { type Checked, evaluateCopy } from './evaluate-copy.ts'
import type { OwnPart } from './own-part.ts'
import { programVersion } from './program-version.ts'
import { writtenIn } from './written-in.ts'

/** `bailiwick check`: evaluates a working copy of a fleet, or of a tenant's repository together with its fleet. */
export const check: Command = {
  name: 'check',
  usage: `${CHECK_USAGE}\n\n${CHECK_HELP}`,
  async run(args, io) {
    const options = checkOptions(args, io.cwd)
    if (!options.watch) return checkOnce(options, io)
    const { watchCopy } = await import('./watch-copy.ts')
    return watchCopy(options, io, () => checkOnce(options, io))
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
  if (verdict.result === 'error') io.stderr(`${undecidedLine(verdict, own)}\n`)
  const waits = options.failOnRequiredApproval && verdict.requiredApprovals.length > 0
  return { pass: waits ? 1 : 0, fail: 1, error: 2 }[verdict.result]
}

/** A program that reads the exit code alone must not take a part for the whole. */
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
  const isShown = io.isTerminal === true || options.verbose === true
  return {
    ...{ here, rules, version: programVersion(), evaluatedAs },
    ...(changes ? { changes } : {}),
    ...{ verbose: options.verbose === true, quiet: io.quiet === true, color: io.color === true },
    branchOf: written.branchOf,
    ...(isShown ? { excerpt: written.excerpt } : {}),
    ...(io.columns === undefined ? {} : { columns: io.columns }),
    ...(io.hasLinks === true ? { folder: dir } : {}),
  }
}

/** What stands on stderr beside the report: why the exit code is 2. */
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
