import { hash } from 'node:crypto'
import { commandError } from '../../src/command/command-error.ts'
import { withApprovedSources } from '../../src/command/with-approved-sources.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { code } from '../../src/message/markdown.ts'
import { visible } from '../../src/message/visible.ts'
import type { SourceUse } from '../../src/rules/model/finding.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { answersOf } from '../evaluate/answers-of.ts'
import { readFleetFileText } from '../fleets/fleet-text.ts'
import { narrowerSources } from '../fleets/narrower-sources.ts'
import { openWriteClient } from '../publish/open-write-client.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { mayDecideForFleet } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'

/** Lists the tenant's own sources of a pull request in the fleet's file, by a pull request; merging it is the approval. */
export const approveSource: BailiwickCommand = {
  name: 'approve-source',
  decision: 'approval',
  usage: 'approve-source',
  summary:
    "approve the tenant's own sources that this pull request adds, by a pull request on the fleet (fleet admins)",
  where: 'pull-request',
  slow: true,
  may: mayDecideForFleet,
  refusal: 'The sources cannot be approved',
  run: async command => {
    const { context, repository, installation } = command
    const pull = await presentPull(command)
    const mine = (await command.fleetsOf()).map(keyOf)
    const answers = await answersOf(context, subjectOf(command), pull)
    const asked = answers.flatMap(({ place, evaluation }) => {
      const uses = evaluation.verdict.requiredApprovals.flatMap(({ source }) => source ?? [])
      return uses.length > 0 && mine.includes(keyOf(place)) ? [{ place, uses }] : []
    })
    if (asked.length === 0) {
      throw commandError(
        'this pull request adds no source that needs an approval of yours',
        '`/bailiwick status` lists the approvals that it needs.',
      )
    }
    for (const { place, uses } of asked) {
      if ((await narrowerSources(installation, place.repository.url, [repository.url])).length > 0) {
        throw commandError(
          "more people can see the fleet's repository than this one",
          'Approve the pull request in a review.',
        )
      }
      await open(command, place, uses)
    }
    return { reaction: 'rocket' }
  },
}

const keyOf = ({ repository, branch }: FleetPlace) => JSON.stringify([repository.url, branch])

async function open(
  { context, installation, repository, comment }: CommandContext,
  fleet: FleetPlace,
  uses: readonly SourceUse[],
) {
  const { id, url, owner, name: repo } = fleet.repository
  const { commit, text } = await readFleetFileText(installation, fleet)
  const content = withApprovedSources(text, uses)
  // the fleet's repository alone may be written to with this
  const { octokit, app } = await openWriteClient(context, installation.id, id)
  const of = `${repository.owner}/${repository.name}#${comment.issue.number}`
  const title = visible(`Approve sources of ${of}`, 200)
  const lines = uses.map(
    use =>
      `- tenant ${code(use.tenant, 80)}: ${code(use.url, 300)} ${code(JSON.stringify(use.ref), 300)} as ${code(use.account, 300)}`,
  )
  const body = [
    `${code(comment.author.login, 60)} asks to approve on ${of}:`,
    lines.join('\n'),
    'Once this is merged, pushes there are deployed without another approval, with the rights of that account.',
  ].join('\n\n')
  await openRecordedPull(
    { context, app, fleet: { installation: installation.id, url } },
    octokit,
    { owner, repo },
    {
      base: fleet.branch,
      // a merged branch may still exist, so every fleet commit gets a branch of its own
      branch: `bailiwick/approve-source-${hash('sha256', JSON.stringify([commit, uses])).slice(0, 10)}`,
      files: [{ path: FLEET_FILE, content }],
      ...{ title, body, message: title },
    },
  )
}
