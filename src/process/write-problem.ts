import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Why no file can be written into a folder, as the code of the system's error; undefined if one can. Creates the folder. It is tried,
 * because permission bits tell nothing of read-only and full disks.
 */
export function writeProblem(folder: string): string | undefined {
  const file = join(folder, `.probe-${randomUUID()}`)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, 'x', { flag: 'wx' })
    rmSync(file)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error'
  }
}
