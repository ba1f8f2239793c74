import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { BailiwickError } from '../../base/errors.ts'

/** Writes files of a working copy, or deletes those without content; Ctrl-C waits for all. Throws as `writeInside`. */
export function writeAllInside(
  root: string,
  files: readonly { readonly path: string; readonly content: string | null }[],
): Promise<void> {
  return uninterrupted(async () => {
    for (const { path, content } of files) {
      if (content === null) await deleteInside(root, path)
      else await writeInside(root, path, content)
    }
  })
}

/** Writes a file of a working copy, never through a link, which could lead out. Throws `onboard-layout` for a link. */
export async function writeInside(root: string, path: string, content: string): Promise<void> {
  await refuseLinks(root, path)
  await mkdir(dirname(join(root, path)), { recursive: true })
  replaceFile(join(root, path), content)
}

/** Replaces a file atomically, so that an interrupted command never leaves a partial file. Keeps the file's mode. */
function replaceFile(path: string, content: string): void {
  const part = `${path}.bailiwick-part`
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  rmSync(part, { force: true })
  writeFileSync(part, content, { flag: 'wx', ...(mode === undefined ? {} : { mode }) })
  renameSync(part, path)
}

/** Deletes a file and the directories left empty, never through a link. Throws `onboard-layout` for a link. */
async function deleteInside(root: string, path: string): Promise<void> {
  await refuseLinks(root, path)
  await rm(join(root, path), { force: true })
  for (let here = dirname(path); here !== '.'; here = dirname(here)) {
    // git keeps no empty directories either; one with content stays
    if (
      !(await rmdir(join(root, here)).then(
        () => true,
        () => false,
      ))
    )
      return
  }
}

async function refuseLinks(root: string, path: string): Promise<void> {
  const names = path.split('/')
  for (let depth = 1; depth <= names.length; depth++) {
    const part = names.slice(0, depth).join('/')
    const stats = await lstat(join(root, part)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (!stats?.isSymbolicLink()) continue
    throw new BailiwickError('onboard-layout', `${part} is a symbolic link`, { fix: 'Replace it by a real directory.' })
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs work to its end before Ctrl-C or another signal ends the process, so that files that belong together are all
 * written. The signal then has its usual effect.
 */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  const caught: NodeJS.Signals[] = []
  const hold = (signal: NodeJS.Signals): void => void caught.push(signal)
  for (const signal of SIGNALS) process.on(signal, hold)
  try {
    return await work()
  } finally {
    // one that came during the last step is delivered first
    await setImmediate()
    for (const signal of SIGNALS) process.off(signal, hold)
    const [first] = caught
    if (first) process.kill(process.pid, first)
  }
}
