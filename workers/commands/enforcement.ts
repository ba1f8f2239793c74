import { commandError } from '../../src/command/command-error.ts'
import { enforcementText } from '../../src/command/enforcement-text.ts'
import { withEnforcement } from '../../src/command/with-enforcement.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { codeWord, message } from '../../src/message/message.ts'
import { readFleetFileText } from '../fleets/fleet-text.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'
import type { BailiwickCommand } from './command-context.ts'
import { decidesHere, fleetsHere } from './fleets-here.ts'

const USAGE = 'enforcement report|block'

/** Switches between reporting and blocking violations, by a pull request; merging it is the decision. */
export const enforcement: BailiwickCommand = {
  name: 'enforcement',
  decision: 'enforcement',
  usage: USAGE,
  summary:
    'on the fleet: open a pull request that reports violations without blocking, or blocks them again (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The enforcement cannot be changed',
  run: async command => {
    const { line, place, installation, comment } = command
    const [wanted, more] = line.words
    if (more !== undefined || (wanted !== 'report' && wanted !== 'block')) {
      throw commandError(
        'the argument is neither report nor block',
        message`Write: ${codeWord('/bailiwick enforcement report')} or ${codeWord('/bailiwick enforcement block')}`,
      )
    }
    const name = { owner: place.owner, repo: place.repo }
    const text = enforcementText(wanted, comment.author.login, comment.issue.number)
    for (const fleet of await fleetsHere(command)) {
      const { commit, text: before } = await readFleetFileText(installation, fleet)
      await openRecordedPull(
        {
          context: command.context,
          app: place.app,
          fleet: { installation: installation.id, url: fleet.repository.url },
        },
        place.octokit,
        name,
        {
          base: fleet.branch,
          // a merged branch may still exist, so every fleet commit gets a branch of its own
          branch: `bailiwick/enforcement-${wanted}-${commit.slice(0, 10)}`,
          files: [{ path: FLEET_FILE, content: withEnforcement(before, wanted) }],
          ...text,
          message: text.title,
        },
      )
    }
    return { reaction: 'rocket' }
  },
}
