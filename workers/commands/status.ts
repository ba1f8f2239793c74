import { statusText } from '../../src/command/status-text.ts'
import { CHECK_NAME, checkNameOf } from '../../src/gate/check-names.ts'
import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { readDecisions } from '../evaluate/read-circumstances.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayAsk } from './may.ts'
import { subjectOf } from './present-pull.ts'
import { shownVerdict } from './shown-verdict.ts'

/** The run of the check of a base: under its own name where the repository has several. */
function checkOf(runs: readonly OurCheckRun[], base: string): OurCheckRun | undefined {
  return [checkNameOf(base), CHECK_NAME].flatMap(name => runs.find(run => run.name === name) ?? [])[0]
}

/** Shows the status of a pull request. */
export const status: BailiwickCommand = {
  name: 'status',
  decision: 'none',
  usage: 'status',
  summary: 'status: verdict, clusters, findings, and what is waived, held or overridden',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { context, place, data } = command
    const { pull, evaluated, verdict } = await shownVerdict(command)
    const runs = await listOurCheckRuns(place.octokit, place.app, data, pull.head.sha)
    const run = checkOf(runs, pull.base.ref)
    const decisions = await readDecisions(context, subjectOf(command), pull, evaluated, runs)
    const { title } = checkRunOf(evaluated.outcome, { ...evaluated.context, decisions })
    const reply = statusText({
      ...{ head: pull.head.sha, base: pull.base.ref, title, circumstances: decisions },
      ...(run ? { run } : {}),
      ...(verdict ? { verdict } : {}),
    })
    return { reaction: '+1', reply }
  },
}
