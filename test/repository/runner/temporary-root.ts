import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
/** Clones, caches and the data of API servers of one run take less than half of it. */
const ENOUGH_BYTES = 4 * 1024 ** 3

/**
 * Where tests write: in memory if there is room and programs may be run from there, because a disk takes fifty times as long to
 * remove a small repository. TMPDIR of the caller comes first.
 */
export function temporaryRoot(): string {
  return process.env.TMPDIR === undefined && isUsable(IN_MEMORY) ? IN_MEMORY : tmpdir()
}

function isUsable(folder: string): boolean {
  const probe = join(folder, `bailiwick-probe-${process.pid}`)
  try {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < ENOUGH_BYTES) return false
    writeFileSync(probe, '', { mode: 0o700 })
    accessSync(probe, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(probe, { force: true })
  }
}
