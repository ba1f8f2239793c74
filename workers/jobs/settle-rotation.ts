import { isSealedBy } from '../../src/credentials/rotation-record.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import { readOwnPull } from '../../src/github/pulls/read-own-pull.ts'
import type { SettleRotation } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { openPlace } from '../publish/open-place.ts'
import { addNewKey, keyRepository, keysOfTenant, removeKeys } from '../rotation/change-keys.ts'
import { finishRotation, isPresent } from '../rotation/finish-rotation.ts'
import { type RotationPull, rotationOf, rotationPulls } from '../rotation/rotation-pulls.ts'
import type { RotationPlace } from '../rotation/rotation-question.ts'

/**
 * Brings the deploy keys of a rotation in line with its pull request, as it is now: the new key is deleted if it was closed
 * without a merge, and the old ones if it was merged and clusters read with the new one. Doing it twice has no further effect.
 */
export async function settleRotation(context: WorkerContext, data: SettleRotation): Promise<void> {
  const reader = await context.app.reader(data.installation)
  const pull = await readOwnPull(reader, await context.app.identity(), data, data.pull)
  const subject = pull && (await openRepository(context, data, reader))
  if (!pull || !subject) return
  const { installation, repository: fleet } = subject
  const place = { context, place: await openPlace(context, data, fleet.id), reader, installation, fleet }
  const record = await rotationOf(place, pull)
  if (!record) return
  await context.queue.withLock(`rotate-key ${fleet.id} ${record.tenant}`, () => settle(place, { pull, record }))
}

/** Whether the branch of a pull request still has the file that its record is about. */
async function isProposed({ installation, fleet }: RotationPlace, { pull, record }: RotationPull): Promise<boolean> {
  const tree = openSnapshot(await installation.content(fleet, pull.head))
  if (tree.entry(record.file)?.type !== 'file') return false
  return isSealedBy(record, Buffer.from(tree.read(record.file)).toString('utf8'))
}

async function settle(place: RotationPlace, rotation: RotationPull): Promise<void> {
  const { pull, record } = rotation
  // somebody may have merged its branch by hand
  if (pull.state === 'merged' || (await isPresent(place, record))) {
    await finishRotation(place, rotation, false)
    return
  }
  const repository = await keyRepository(place, record.repository)
  if (!repository || !(await place.context.app.mayAdminister(place.installation.id))) {
    const { log } = place.context
    log.warn({ repository: record.repository, tenant: record.tenant }, 'a deploy key was not changed: the App may not')
    return
  }
  if (pull.state === 'open') {
    // closed and opened again: the key comes back, unless an admin of the repository took all of them away
    const keys = await keysOfTenant(place, repository, record.tenant)
    if (keys.length > 0 && (await isProposed(place, rotation)))
      await addNewKey(place, repository, record, `rotated in #${pull.number}`)
    return
  }
  const others = await rotationPulls({ ...place, tenant: record.tenant, by: '' })
  if (others.some(one => one.pull.state === 'open' && one.record.key === record.key)) return
  await removeKeys(place, { ...repository, id: record.repository }, [record.key])
}
