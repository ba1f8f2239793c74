import type { CredentialReport } from '../../src/credentials/credential-report.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import { fixOf, typedMessage } from '../../src/message/said.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/** What the default branch of a fleet says about credentials. Throws `onboard-layout` for an empty repository. */
export async function readCredentials({
  context,
  installation,
  fleet,
}: {
  readonly context: WorkerContext
  readonly installation: Installation
  readonly fleet: ReadableRepository
}): Promise<{
  readonly report: CredentialReport
  readonly snapshot: TreeSnapshot
  readonly commit: string
}> {
  const branch = fleet.defaultBranch
  const commit = await installation.head(fleet, { branch })
  if (!commit) throw new BailiwickError('onboard-layout', 'this repository is empty, so there is no fleet')
  const snapshot = await installation.content(fleet, commit)
  const answer = await context.evaluator.evaluate({ type: 'credentials', tree: snapshot, url: fleet.url, branch })
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type !== 'credentials') {
    throw new TypeError(`the rendering thread answered ${answer.type} to a question for credentials`)
  }
  return { report: answer.report, snapshot, commit }
}
