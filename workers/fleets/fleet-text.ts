import { BailiwickError } from '../../src/errors.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'

/** The fleet's own file as its branch has it now, and the commit that it is of; `text` undefined: there is none. */
export async function readFleetFileText(
  installation: Installation,
  { repository, branch }: FleetPlace,
): Promise<{ readonly commit: string; readonly text: string | undefined }> {
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) throw new BailiwickError('git-missing', `${repository.url} has no ${branch}`)
  const tree = openSnapshot(await installation.content(repository, commit))
  if (tree.entry(FLEET_FILE)?.type !== 'file') return { commit, text: undefined }
  return { commit, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(FLEET_FILE)) }
}
