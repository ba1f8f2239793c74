import { statusText } from '../../src/command/status-text.ts'
import { listOurCheckRuns } from '../../src/github/list-check-runs.ts'
import { CHECK_NAME, checkRunOf } from '../../src/report/check-run.ts'
import { readCircumstances } from '../verdict/read-circumstances.ts'
import { mayAsk } from './may.ts'
import { subjectOf } from './present-pull.ts'
import { shownVerdict } from './shown-verdict.ts'
import type { Verb } from './verb.ts'

/** Says how things stand with a pull request. */
export const status: Verb = {
  name: 'status',
  usage: 'status',
  summary: 'how things stand: verdict, clusters, findings, and what is waived, held or overridden',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async asking => {
    const { context, place, data } = asking
    const { pull, said, verdict } = await shownVerdict(asking)
    const runs = await listOurCheckRuns(place.octokit, place.app, data, pull.head.sha)
    const run = runs.find(({ name }) => name === CHECK_NAME)
    const circumstances = await readCircumstances(context, subjectOf(asking), pull, said, runs)
    const { title } = checkRunOf(said.outcome, { ...said.context, circumstances })
    const reply = statusText({
      ...{ head: pull.head.sha, base: pull.base.ref, title, circumstances },
      ...(run ? { run } : {}),
      ...(verdict ? { verdict } : {}),
    })
    return { reaction: '+1', reply }
  },
}
