import { expect } from 'vitest'
import { FLEET, ONBOARD, openSealedFleet } from '../story/sealed-fleet.ts'
import type { Stage } from '../story/stage.ts'
import { command } from './commands.ts'

/** A fleet that has ops-team on staging, by a comment and a merge, and an issue for more comments. */
export interface OpsTeam {
  readonly stage: Stage
  say(body: string, as?: string): ReturnType<typeof command>
  merge(pull: number): Promise<void>
}

export async function openOpsTeam(): Promise<OpsTeam> {
  const { stage, issue } = await openSealedFleet({ retry: { attempts: 3, backoffMs: 10 } })
  const say = (body: string, as = 'ada') => command(stage, { repo: FLEET, issue, as, body })
  const merge = async (pull: number) => {
    expect(stage.github.merge({ repo: FLEET, pull, as: 'ada' })).toMatchObject({ status: 200 })
    await stage.settle()
  }
  expect((await say(ONBOARD)).reactions).toEqual(['rocket'])
  await merge(stage.github.pullRequestsOf(FLEET).at(-1)!.issue.number)
  return { stage, say, merge }
}
