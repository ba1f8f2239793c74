import { addLabel, removeLabel } from '../../src/github/issues/labels.ts'
import { HOLD_LABEL, isLabeledHold, readHold } from '../evaluate/read-hold.ts'
import type { BailiwickCommand } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { mayWrite } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'

/** The label is what holds: anybody who may label can put it on or take it off without us. */
const LABEL = {
  name: HOLD_LABEL,
  color: 'b60205',
  description: 'On hold: the Bailiwick check fails until someone removes the hold',
}

/** Blocks a pull request, independent of the verdict. */
export const hold: BailiwickCommand = {
  name: 'hold',
  decision: 'hold',
  usage: 'hold',
  summary: 'block this pull request, independent of the verdict, until someone runs unhold',
  where: 'pull-request',
  slow: false,
  may: mayWrite,
  run: async command => {
    const { octokit, owner, repo } = command.place
    await addLabel(octokit, { owner, repo }, command.data.issue, LABEL)
    await evaluateAgain(command)
    return { reaction: '+1' }
  },
}

/** Removes the hold, so that the verdict decides again. */
export const unhold: BailiwickCommand = {
  name: 'unhold',
  decision: 'unhold',
  usage: 'unhold',
  summary: 'remove the hold',
  where: 'pull-request',
  slow: false,
  may: mayWrite,
  run: async command => {
    const { octokit, owner, repo } = command.place
    const pull = await presentPull(command)
    const held = isLabeledHold(pull) || (await readHold(command.context, subjectOf(command), pull)) !== undefined
    // that our App took it off is what clears the hold: where someone else did, it is put on once more
    if (held) await addLabel(octokit, { owner, repo }, command.data.issue, LABEL)
    await removeLabel(octokit, { owner, repo }, command.data.issue, HOLD_LABEL)
    await evaluateAgain(command)
    return { reaction: '+1' }
  },
}
