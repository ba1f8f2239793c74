import { addLabel, removeLabel } from '../../src/github/issues/labels.ts'
import { HOLD_LABEL, isLabeledHold, readHold } from '../evaluate/read-hold.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { mayWrite } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import type { Verb } from './verb.ts'

/** The label is what holds: anybody who may label can put it on or take it off without us. */
const LABEL = {
  name: HOLD_LABEL,
  color: 'b60205',
  description: 'On hold: the Bailiwick check fails until someone removes the hold',
}

/** Blocks a pull request, independent of the verdict. */
export const hold: Verb = {
  name: 'hold',
  decision: 'hold',
  usage: 'hold',
  summary: 'block this pull request, independent of the verdict, until someone runs unhold',
  where: 'pull-request',
  slow: false,
  may: mayWrite,
  run: async asking => {
    const { octokit, owner, repo } = asking.place
    await addLabel(octokit, { owner, repo }, asking.data.issue, LABEL)
    await evaluateAgain(asking)
    return { reaction: '+1' }
  },
}

/** Removes the hold, so that the verdict decides again. */
export const unhold: Verb = {
  name: 'unhold',
  decision: 'unhold',
  usage: 'unhold',
  summary: 'remove the hold',
  where: 'pull-request',
  slow: false,
  may: mayWrite,
  run: async asking => {
    const { octokit, owner, repo } = asking.place
    const pull = await presentPull(asking)
    const held = isLabeledHold(pull) || (await readHold(asking.context, subjectOf(asking), pull)) !== undefined
    // that our App took it off is what clears the hold: where someone else did, it is put on once more
    if (held) await addLabel(octokit, { owner, repo }, asking.data.issue, LABEL)
    await removeLabel(octokit, { owner, repo }, asking.data.issue, HOLD_LABEL)
    await evaluateAgain(asking)
    return { reaction: '+1' }
  },
}
