import { combinationOf } from '../fleet/combination.ts'
import { FleetSession } from '../fleet/session/fleet-session.ts'
import { formats } from '../report/formats/formats.ts'
import type { Verdict } from '../rules/finding.ts'
import { rules } from '../rules/registry.ts'
import { acceptedBy, baselineOf } from '../rules/verdict/baseline.ts'
import { judge } from '../rules/verdict/judge.ts'
import { CHECK_USAGE, type CheckOptions, checkOptions } from './check-options.ts'
import { checkSides } from './check-sides.ts'
import type { Command } from './command.ts'
import { ageIdentities, withSeals } from './encrypted-seals.ts'
import { errorLine } from './error-line.ts'
import { programVersion } from './program-version.ts'
import { today } from './today.ts'
import { buildCompleteFleet, directoryReader } from './working-sources.ts'

/** `bailiwick check`: judges a working copy of a fleet, or of a tenant's repository together with its fleet. */
export const check: Command = {
  name: 'check',
  summary: 'Judge a fleet, or what a tenant would change in it',
  usage: `${CHECK_USAGE}

  DIR            a git working copy or a plain folder (default: .)
  --base REF     compare with this commit: only new violations give exit 1
  --url URL      address of DIR as Flux sources name it (default: remote origin)
  --branch NAME  branch that DIR stands for (default: the checked-out one, main for a folder)
  --fleet DIR    the fleet, when DIR is the repository of a tenant
  --repo URL[#REF]=DIR   where the content of another source lies
  --sops-age-key-file FILE   check the MAC of encrypted files with these age keys (default: SOPS_AGE_KEY_FILE)
  -o FORMAT      text for people; json, sarif, junit and github (workflow commands) for programs`,
  async run(args, io) {
    const options = checkOptions(args, io.cwd)
    const { verdict, here } = await verdictOf(options, await ageIdentities(options.sopsAgeKeyFile))
    io.stdout(formats.get(options.output)!(verdict, { here, rules, version: programVersion() }))
    if (verdict.result === 'error') io.stderr(`${undecidedLine(verdict)}\n`)
    return { pass: 0, fail: 1, error: 2 }[verdict.result]
  },
}

async function verdictOf(
  options: CheckOptions,
  identities: readonly string[],
): Promise<{ verdict: Verdict; here: string }> {
  const read = directoryReader()
  const sides = await checkSides(options, read)
  const { home, given } = sides.head
  const session = new FleetSession()
  const head = await buildCompleteFleet(home, given, options.repositories, read, sides.base?.home.tree, session)
  const combination = combinationOf(head.input)
  const changed = options.fleet === undefined ? {} : { changed: sides.here }
  const when = { combination, today: today(), ...changed }
  if (!sides.base) {
    const baseline = baselineOf(home.tree, home.url)
    return { verdict: judge(await withSeals(head.fleet, identities), { baseline, ...when }).verdict, here: sides.here }
  }
  const base = await buildCompleteFleet(
    sides.base.home,
    sides.base.given,
    options.repositories,
    read,
    undefined,
    session,
  )
  const [now, before] = [await withSeals(head.fleet, identities), await withSeals(base.fleet, identities)]
  return {
    verdict: judge(now, { base: before, baseline: acceptedBy(home.tree, home.url), ...when }).verdict,
    here: sides.here,
  }
}

/** What stands on stderr beside the report: why the exit code is 2. */
function undecidedLine({ errors, clusters }: Verdict): string {
  const first = errors.find(failure => failure.state === 'new') ?? errors[0]
  if (!first) return 'error[internal]: the verdict is "error" without one: this is a bug of bailiwick, please report it'
  const fix = 'Name a fleet repository; for the repository of a tenant add --fleet DIR.'
  return errorLine(clusters.length === 0 ? { ...first, fix } : first)
}
