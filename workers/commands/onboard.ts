import { ONBOARD_USAGE, parseOnboardCommand, removedOption } from '../../src/onboard/parse-command.ts'
import { openWithAccess } from '../onboarding/open-with-access.ts'
import { prepareOnboarding } from '../onboarding/prepare-onboarding.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayMaintain } from './may.ts'
import { refuseForeignRepository, refuseKnownRepository } from './refuse-foreign-repository.ts'

/**
 * Runs `/bailiwick onboard ...`, which opens a pull request; merging it is the approval. A request that fails gets a
 * reply with the reason.
 */
export const onboardVerb: BailiwickCommand = {
  name: 'onboard',
  decision: 'onboarding',
  usage: ONBOARD_USAGE,
  summary: 'open a pull request that adds a tenant to this fleet',
  where: 'anywhere',
  slow: false,
  may: mayMaintain,
  refusal: 'This tenant cannot be onboarded',
  run: async ({ context, place, reader, installation, repository, comment }) => {
    const asked = parseOnboardCommand(comment.body)
    if (!asked) throw new TypeError('a comment that is no command came here')
    const { login } = comment.author
    const question = { octokit: reader, installation, login, url: asked.url, fleetUrl: repository.url }
    await refuseForeignRepository(question)
    const prepared = await prepareOnboarding(context, installation, repository, asked, login)
    await refuseKnownRepository(question, prepared.plan.sources)
    const access = { context, place, reader, installation, fleet: repository, prepared, by: login }
    await openWithAccess(access, `Requested in #${comment.issue.number}.`)
    const warning = removedOption(comment.body.split(/\r?\n/, 1)[0]!)
    return { reaction: 'rocket', ...(warning === undefined ? {} : { reply: warning }) }
  },
}
