import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from './fleet-of.ts'
import { directoryFiles } from './fleets/read-fleet.ts'

/** Fleets that lie beside the project on some machines. */
const SHARED = join(import.meta.dirname, '../../../shared/fleets')

/** Whether those fleets are there; says so once per file where not, because tests are then left out. */
export function sharedFleetsPresent(): boolean {
  if (existsSync(SHARED)) return true
  console.log('skipped: ../shared/fleets is not here')
  return false
}

/** The files of one of those fleets by path. */
export function readFolder(name: string): Files {
  return directoryFiles(join(SHARED, name))
}
