import { type GateSetting, gateAnswer } from '../../src/command/gate-answer.ts'
import { BailiwickError } from '../../src/errors.ts'
import { CHECK_NAME } from '../../src/gate/check-names.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { releaseBranches, setRuleset } from '../../src/github/protection/rulesets.ts'
import { RULESET_NAME, wantedRuleset } from '../../src/protection/wanted-ruleset.ts'
import type { BranchGate } from '../../src/report/first-report/facts.ts'
import { evaluateRevisionSet } from '../fleets/evaluate-combination.ts'
import { findRepository } from '../fleets/find-repository.ts'
import { SourceReader } from '../fleets/source-reader.ts'
import { openWriteClient } from '../publish/open-write-client.ts'
import { readGates } from '../survey/read-gates.ts'
import { surveyOf } from '../survey/survey-place.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { decidesHere, fleetsHere } from './fleets-here.ts'

/** Requires the check on every branch that clusters follow, in the repositories that the person administers. */
export const gate: BailiwickCommand = {
  name: 'gate',
  decision: 'gate',
  usage: 'gate',
  summary: `on the fleet: require ${CHECK_NAME} of this App on every branch that clusters follow, where you are an admin`,
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The gate cannot be set',
  run: async command => {
    const settings: GateSetting[] = []
    for (const [url, gates] of Map.groupBy(await gatesOf(command), one => one.url)) {
      settings.push(await set(command, url, gates))
    }
    await command.context.queue.add('survey', { installation: command.data.installation })
    const reply = gateAnswer(settings)
    return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
  },
}

/** Every branch that must be gated for the fleets of this repository, as GitHub protects it now. */
async function gatesOf(command: CommandContext): Promise<BranchGate[]> {
  const { context, installation, place, reader } = command
  const { evaluator, disabledRules } = context
  const desk = {
    app: place.app,
    reader,
    rulesets: await context.app.client(installation.id),
  }
  const all: BranchGate[] = []
  for (const fleet of await fleetsHere(command)) {
    const evaluated = await evaluateRevisionSet(evaluator, new SourceReader(installation), { fleet, disabledRules })
    const { gated } = await surveyOf(context, installation, { fleet, evaluated })
    const known = new Set(all.map(({ url, branch }) => JSON.stringify([url, branch])))
    const more = gated.filter(({ url, branch }) => !known.has(JSON.stringify([url, branch])))
    all.push(...(await readGates(desk, installation, more)))
  }
  return all
}

/** One ruleset per repository. The rights of the App are not lent: only who could set it on GitHub's own page may have it set. */
async function set(command: CommandContext, url: string, gates: readonly BranchGate[]): Promise<GateSetting> {
  const { context, place, reader, installation, comment } = command
  const open = gates.filter(({ gate }) => gate?.state !== 'real' || gate.asks !== undefined)
  const seen = gates.filter(({ gate }) => gate !== undefined).map(({ branch }) => branch)
  if (open.length === 0) return { url, branches: seen, outcome: 'real' }
  const repository = await findRepository(installation, { url })
  const byCheck = Map.groupBy(
    gates.filter(({ gate }) => gate !== undefined),
    ({ check = CHECK_NAME }) => check,
  )
  const rulesets = [...byCheck].map(([name, of]) =>
    wantedRuleset(
      of.map(({ branch }) => branch),
      { name, app: place.app.id },
    ),
  )
  const [ruleset] = rulesets
  if (!repository || !ruleset || rulesets.includes(undefined) || open.every(({ gate }) => gate === undefined)) {
    return { url, branches: open.map(({ branch }) => branch), outcome: 'unread' }
  }
  const name = { owner: repository.owner, repo: repository.name }
  if ((await readRole(reader, name, comment.author.login)) !== 'admin') {
    return { url, branches: seen, outcome: 'role' }
  }
  try {
    const { octokit } = await openWriteClient(context, installation.id, repository.id)
    for (const one of rulesets) if (one) await setRuleset(octokit, name, one)
    // an earlier version required the plain name of them
    const others = gates.filter(({ check }) => check !== undefined && check !== CHECK_NAME)
    await releaseBranches(
      octokit,
      name,
      RULESET_NAME,
      others.map(({ branch }) => branch),
    )
    return { url, branches: seen, outcome: 'set' }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') throw error
    return { url, branches: seen, outcome: 'refused', ruleset }
  }
}
